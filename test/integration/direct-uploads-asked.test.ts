import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bytes } from '../support/bytes.ts';
import {
  ask,
  asUpload,
  type DirectServer,
  handOut,
  sendAll,
  startDirect,
  told,
} from '../support/direct-uploads.ts';
import { eventFields, field, form } from '../support/form.ts';

let app: DirectServer;
beforeAll(async () => {
  app = await startDirect();
});
afterAll(() => app?.close());

describe('what is asked for', () => {
  const HOUR_48 = 172_800;
  test.each([
    [
      { maxBytes: 'x' },
      /^The field 'maxBytes' is "x"; allowed is a whole number of bytes from 1 to 107374182400\.$/,
    ],
    [{ maxBytes: '0' }, /allowed is a whole number/],
    [{ maxBytes: '-5' }, /allowed is a whole number/],
    [{ maxBytes: '1e3' }, /allowed is a whole number/],
    [{ maxBytes: '107374182401' }, /allowed is a whole number/],
    [{ maxBytes: '99999999999999999999' }, /allowed is a whole number/],
    [
      { expires: '0' },
      /^The field 'expires' is "0"; allowed is a whole number of seconds from 1 to 172800, or /,
    ],
    [{ expires: String(HOUR_48 + 1) }, /from 1 to 172800/],
    [{ expires: 'tomorrow' }, /from 1 to 172800/],
    [{ expires: '2020-01-01T00:00:00Z' }, /from 1 to 172800/],
    [{ expires: '2999-01-01T00:00:00Z' }, /from 1 to 172800/],
    [{ expires: '2999-01-01' }, /from 1 to 172800/],
    [{ files: 'camera' }, /^The field 'files' cannot be read: "camera" is no form field\. Allowed are /],
    [{ files: 'presenter,' }, /"" is no form field/],
    [{ files: '[' }, /it is not valid JSON/],
    [{ files: '[]' }, /it names no file/],
    [{ files: '[1]' }, /1 is neither a name nor an object/],
    [{ files: '[{}]' }, /\{\} has to have either/],
    [{ files: '[{"field":"presenter","flavor":"a/b"}]' }, /has to have either/],
    [{ files: '[{"field":"__proto__"}]' }, /"__proto__" is no form field/],
    [{ files: '[{"flavor":"presenter"}]' }, /"presenter" is no flavor/],
    [{ files: Array(11).fill('presenter').join(',') }, /it names more than 10 files/],
    [{ scheduling: '{"agent_id":"hall"}' }, /^The part 'scheduling' is not for direct uploads/],
  ])('%j is refused with a sentence', async (fields: Record<string, string>, sentence) => {
    const answer = await ask(app, fields);
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringMatching(sentence)]);
  });

  test.each([
    ['acl', [field('acl', 'x')], 400],
    ['no metadata', eventFields().filter(({ name }) => name !== 'metadata'), 400],
    ['no workflow', [...eventFields().slice(0, 2), field('processing', '{}')], 400],
    ['a series that is not there', eventFields({ metadata: { isPartOf: 'nowhere' } }), 400],
    ['a character that cannot be stored', eventFields({ title: 'a\u0000b' }), 400],
  ] as const)('%s is refused as for an event, before anything is uploaded', async (_what, parts, status) => {
    const direct = await ask(app, {}, { parts });
    expect(direct.status).toBe(status);
    const { type, body } = form(parts);
    const event = await app.request('/api/events', {
      method: 'POST',
      headers: { 'Content-Type': type },
      body,
    });
    expect(await direct.text()).toBe(await event.text());
  });

  test('a list that is nested too deeply to be quoted is refused with a sentence', async () => {
    const answer = await ask(app, { files: `${'['.repeat(9_000)}${']'.repeat(9_000)}` });
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringContaining('something nested deeply is neither a name nor an object'),
    ]);
  });

  test('a chosen identifier that is taken is refused', async () => {
    const parts = eventFields({ metadata: { identifier: 'taken-already' } });
    const { urls } = await handOut(app, {}, { parts });
    expect(await sendAll(bytes(3), asUpload(urls[0] ?? ''))).toBe('taken-already');
    expect((await ask(app, {}, { parts })).status).toBe(409);
  });

  test('nothing of an event that was only rehearsed is left', async () => {
    const before = await app.database.selectFrom('events').select('id').execute();
    await handOut(app);
    expect(await app.database.selectFrom('events').select('id').execute()).toHaveLength(before.length);
  });

  test('a date is taken as well as seconds', async () => {
    const expires = new Date(Date.now() + 3_600_000);
    const { id } = await handOut(app, { expires: expires.toISOString(), files: 'presenter, audio' });
    const state = await told(app, id);
    expect(state.expires).toBe(`${expires.toISOString().slice(0, 19)}Z`);
    expect(state.files.map(({ flavor }: { flavor: string }) => flavor)).toEqual([
      'presenter/source',
      'presenter-audio/source',
    ]);
  });
});
