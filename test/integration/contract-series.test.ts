import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { catalogOf, send } from '../support/series.ts';

const VALUES = {
  title: 'Mathematics',
  description: 'On numbers',
  subjects: ['Maths', 'Logic'],
  language: 'deu',
  rightsHolder: 'The university',
  license: 'CC-BY',
  creator: ['Faculty'],
  contributor: ['Ada L.'],
  publisher: ['Press'],
};

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

async function list(version = '1.11.0') {
  const answer = await send(app, 'GET', '/api/series', undefined, { Accept: `application/v${version}+json` });
  expect(answer, answer.text).toMatchObject({ status: 200, type: `application/v${version}+json` });
  return JSON.parse(answer.text);
}

describe('GET /api/series', () => {
  test('is an empty array when there is nothing to see', async () => {
    expect(await list()).toEqual([]);
  });

  test('has every field of the contract, four of them from 1.1.0 on', async () => {
    const { text } = await send(app, 'POST', '/api/series', { metadata: catalogOf(VALUES) });
    const { identifier } = JSON.parse(text);
    const first = {
      identifier,
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      creator: 'admin',
      title: 'Mathematics',
      contributors: ['Ada L.'],
      publishers: ['Press'],
      subjects: ['Maths', 'Logic'],
      organizers: ['Faculty'],
    };
    const later = {
      description: 'On numbers',
      language: 'deu',
      license: 'CC-BY',
      rightsholder: 'The university',
    };
    expect(await list('1.0.0')).toEqual([first]);
    for (const version of ['1.1.0', '1.11.0']) expect(await list(version)).toEqual([{ ...first, ...later }]);
  });
});

describe('GET /api/series/{id}/properties', () => {
  test('is an object whose keys and values are strings, empty to begin with', async () => {
    const { text } = await send(app, 'POST', '/api/series', { metadata: catalogOf({ title: 'x' }) });
    const path = `/api/series/${JSON.parse(text).identifier}/properties`;
    expect((await send(app, 'GET', path)).text).toBe('{}');
    await send(app, 'PUT', path, { properties: '{"live":"true","color":"red"}' });
    await send(app, 'PUT', path, { properties: '{"color":"blue"}' });
    expect(JSON.parse((await send(app, 'GET', path)).text)).toEqual({ live: 'true', color: 'blue' });
  });
});

describe('DELETE /api/series/{id}', () => {
  test('is 204 without a body, and 404 afterwards', async () => {
    const { text } = await send(app, 'POST', '/api/series', { metadata: catalogOf({ title: 'x' }) });
    const path = `/api/series/${JSON.parse(text).identifier}`;
    expect(await send(app, 'DELETE', path)).toMatchObject({ status: 204, text: '' });
    expect((await send(app, 'DELETE', path)).status).toBe(404);
    expect((await send(app, 'GET', path)).status).toBe(404);
  });
});
