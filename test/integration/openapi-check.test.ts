import { expect, test } from 'vitest';
import { checkAnswer, DOCUMENT } from '../support/openapi.ts';

const EVENT = DOCUMENT.paths['/api/events/{event_id}']?.get?.responses['200']?.content?.[
  'application/v1.11.0+json'
]?.example as Record<string, unknown>;

/** The check of an answer to `GET /api/events/{id}`. */
function check(
  body: string,
  { status = 200, version = '1.11.0', headers = {} as Record<string, string> } = {},
) {
  const all = { 'Content-Type': `application/v${version}+json`, ETag: '"a"', ...headers };
  return checkAnswer('GET', '/api/events/x', new Response(body, { status, headers: all }));
}

test('an answer that is as documented passes', async () => {
  await check(JSON.stringify(EVENT));
  const { language, rightsholder, license, is_part_of, series, source, status, duration, ...old } = EVENT;
  await check(JSON.stringify(old), { version: '1.0.0' });
});

test.each([
  ['a field that is not documented', () => check(JSON.stringify({ ...EVENT, colour: 'blue' }))],
  ['a field of another type', () => check(JSON.stringify({ ...EVENT, duration: '5' }))],
  ['a missing field', () => check(JSON.stringify({ ...EVENT, title: undefined }))],
  ['a missing field that came later', () => check(JSON.stringify({ ...EVENT, license: undefined }))],
  ['a field that the version does not have', () => check(JSON.stringify(EVENT), { version: '1.0.0' })],
  [
    'another media type',
    () => check(JSON.stringify(EVENT), { headers: { 'Content-Type': 'application/json' } }),
  ],
  ['a missing header', () => checkAnswer('GET', '/api/events/x', new Response(null, { status: 200 }))],
  ['a status that is not documented', () => check('', { status: 418 })],
  ['a refusal as JSON', () => check('{}', { status: 404 })],
  ['a body where there is none', () => checkAnswer('DELETE', '/api/events/x', Response.json({}))],
  ['a path that is not documented', () => checkAnswer('GET', '/api/nothing', Response.json({}))],
])('%s fails', async (_fault, checking) => {
  await expect(checking()).rejects.toThrow('which the OpenAPI document does not allow');
});
