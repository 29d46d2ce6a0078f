import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { replaceAcl } from '#access/acl/acl.queries.ts';
import { API_ROLES } from '#access/roles/api-roles.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { workerApp } from '../support/app.ts';
import { insertEvent } from '../support/publication.ts';
import { type Answer, ace, catalogOf, createSeries, type SentAce, send } from '../support/series.ts';
import { guzzlePart, wireForm } from '../support/wire.ts';

const ADA = [ace('ROLE_ADA'), ace('ROLE_ADA', 'write')];
const METADATA = catalogOf({ title: 'Mathematics' });
const GONE = { status: 404, text: 'The resource you requested does not exist.' };
const TEXT = 'text/plain; charset=utf-8';
const UNAUTHORIZED = { status: 401, text: 'unauthorized' };
const INCOMPLETE =
  "One of the access control elements is missing a property. The action was 'read', allow was '' and the role was 'ROLE_A'";

const app = await workerApp();
/** Two accounts that may use every URL. */
const ada = { Authorization: await app.account('series-ada', ...API_ROLES, 'ROLE_ADA') };
const bob = { Authorization: await app.account('series-bob', ...API_ROLES, 'ROLE_BOB') };
/** One that creates nothing. */
const cy = { Authorization: await app.account('series-cy', 'ROLE_API_SERIES_CREATE') };

const get = (path: string, headers = {}) => send(app, 'GET', path, undefined, headers);
const post = (fields: Record<string, string>, headers = {}) => send(app, 'POST', '/api/series', fields, headers);

async function create(fields: Record<string, string>, headers = {}): Promise<string> {
  const answer = await post(fields, headers);
  expect(answer.status, answer.text).toBe(201);
  return (JSON.parse(answer.text) as { identifier: string }).identifier;
}

async function read(id: string, query = '', headers = {}) {
  const answer = await get(`/api/series/${id}${query}`, headers);
  expect(answer.status, answer.text).toBe(200);
  return JSON.parse(answer.text) as Record<string, unknown>;
}

const version = (number: string) => ({ Accept: `application/v${number}+json` });

function expectRefusal(answer: Answer, message: string | RegExp): void {
  expect(answer).toMatchObject({ status: 400, type: TEXT });
  if (typeof message === 'string') expect(answer.text).toBe(message);
  else expect(answer.text).toMatch(message);
}

const VALUES = {
  ...{ title: 'Mathematics', description: 'On numbers', subjects: ['Maths', 'Logic, formal'] },
  ...{ language: 'deu', rightsHolder: 'The university', license: 'CC-BY', creator: ['Faculty'] },
  ...{ contributor: ['Ada L.', 'Charles B.'], publisher: ['Press'] },
};
const CREATED = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

describe('GET /api/series', () => {
  test('is an empty array when there is nothing to see', async () => {
    const Authorization = await app.account('series-nobody', 'ROLE_API_SERIES_VIEW');
    expect((await get('/api/series', { Authorization })).text).toBe('[]');
  });

  test('has every field of the contract, four of them from 1.1.0 on', async () => {
    const role = `ROLE_${randomUUID()}`;
    const Authorization = await app.account('series-fields', 'ROLE_API_SERIES_VIEW', role);
    const identifier = await create({ metadata: catalogOf(VALUES), acl: JSON.stringify([ace(role)]) });
    const first = {
      ...{ identifier, created: CREATED, creator: 'admin', title: 'Mathematics' },
      ...{ contributors: ['Ada L.', 'Charles B.'], publishers: ['Press'] },
      ...{ subjects: ['Maths', 'Logic, formal'], organizers: ['Faculty'] },
    };
    const later = {
      ...{ description: 'On numbers', language: 'deu', license: 'CC-BY', rightsholder: 'The university' },
    };
    for (const number of ['1.0.0', '1.1.0', '1.11.0']) {
      const answer = await get('/api/series', { Authorization, ...version(number) });
      expect(answer).toMatchObject({ status: 200, type: `application/v${number}+json` });
      expect(JSON.parse(answer.text)).toEqual([number === '1.0.0' ? first : { ...first, ...later }]);
    }
  });
});

describe('a series', () => {
  test('GET /api/series/{id} has every field of the contract', async () => {
    const identifier = await create({ metadata: catalogOf(VALUES), acl: JSON.stringify(ADA) }, ada);
    const series = await read(identifier, '', ada);
    expect(series).toEqual({
      ...{ identifier, title: 'Mathematics', description: 'On numbers', creator: 'series-ada' },
      ...{ created: CREATED, subjects: ['Maths', 'Logic, formal'], organizers: ['Faculty'] },
      ...{ contributors: ['Ada L.', 'Charles B.'], publishers: ['Press'], language: 'deu' },
      ...{ license: 'CC-BY', rightsholder: 'The university' },
      ...{ organization: 'mh_default_org', opt_out: false },
    });
    expect(Math.abs(Date.now() - Date.parse(String(series.created)))).toBeLessThan(60_000);
  });

  test('GET /api/series/{id} leaves out what its version does not have', async () => {
    const id = await createSeries(app);
    const later = ['language', 'license', 'rightsholder', 'acl'];
    const fields = async (number: string) => Object.keys(await read(id, '?withacl=true', version(number)));
    const first = await fields('1.0.0');
    expect(first).toContain('description');
    expect(later.filter((name) => first.includes(name))).toEqual([]);
    const fourth = await fields('1.4.0');
    expect(later.filter((name) => !fourth.includes(name))).toEqual(['acl']);
    expect(await fields('1.5.0')).toContain('acl');
  });

  test('GET /api/series/{id} answers 304 to a client that has it already', async () => {
    const path = `/api/series/${await createSeries(app)}`;
    const ETag = (await app.request(path)).headers.get('ETag') ?? '';
    expect((await app.request(path, { headers: { 'If-None-Match': ETag } })).status).toBe(304);
  });

  test.each(['GET', 'DELETE'])('%s of an unknown series is 404', async (method) => {
    const text = `Cannot find ${method === 'GET' ? 'an' : 'a'} series with id 'nobody'.`;
    expect(await send(app, method, '/api/series/nobody')).toMatchObject({ status: 404, type: TEXT, text });
  });

  test('events of a deleted series keep its identifier and lose its title and rights', async () => {
    const id = await createSeries(app, {}, ADA);
    const eventId = await insertEvent(app.database, { series_id: id });
    const event = (headers = {}) => get(`/api/events/${eventId}`, headers);
    expect((await event(ada)).status).toBe(200);
    const remove = (headers = {}) => send(app, 'DELETE', `/api/series/${id}`, undefined, headers);
    expect(await remove(ada)).toMatchObject({ status: 204, text: '' });
    expect((await remove()).status).toBe(404);
    expect((await get(`/api/series/${id}`)).status).toBe(404);
    expect(JSON.parse((await event()).text)).toMatchObject({ is_part_of: id, series: '' });
    expect((await event(ada)).status).toBe(404);
  });
});

describe('creation', () => {
  test('POST /api/series answers 201 with Location and the identifier', async () => {
    const answer = await post({ metadata: METADATA, acl: '[]' }, version('1.5.0'));
    const { identifier } = JSON.parse(answer.text) as { identifier: string };
    expect(answer).toMatchObject({
      status: 201,
      type: 'application/v1.5.0+json',
      location: `http://inlet.test/api/series/${identifier}`,
      text: JSON.stringify({ identifier }),
    });
  });

  test('scripts send new series as multipart forms with a blank theme, Guzzle with the length of every part', async () => {
    const parts = { metadata: METADATA, acl: '[]', theme: '' };
    const { type, body } = wireForm(Object.entries(parts).map(([name, value]) => guzzlePart(name, value)));
    const headers = { 'Content-Type': type };
    const answer = await app.request('/api/series', { method: 'POST', headers, body });
    expect(answer.status).toBe(201);
    const { identifier } = await answer.json();
    expect(await read(identifier, '/properties')).toEqual({});
  });

  test('acl may be left out, and a title too', async () => {
    const id = await create({ metadata: catalogOf({ subject: 'Maths, Logic' }) });
    const series = { title: '', subjects: ['Maths', 'Logic'], acl: [] };
    expect(await read(id, '?withacl=true')).toMatchObject(series);
    expect((await get(`/api/series/${id}/acl`)).text).toBe('[]');
  });

  test('a theme becomes the property theme; a blank one is none', async () => {
    for (const [theme, properties] of [
      [' 01234 ', { theme: '1234' }],
      [' ', {}],
    ] as const)
      expect(await read(await create({ metadata: METADATA, theme }), '/properties')).toEqual(properties);
  });

  const identified = (identifier: string) => ({ metadata: catalogOf({ identifier }) });
  test.each<[string, Record<string, string>, string | RegExp]>([
    ['no metadata', { acl: '[]' }, "Required parameter 'metadata' is missing or invalid"],
    ['blank metadata', { metadata: ' ' }, "Required parameter 'metadata' is missing or invalid"],
    [
      'an empty title',
      { metadata: catalogOf({ title: ' ' }) },
      "The series metadata field with id 'title' and the metadata type 'TEXT' is required and can not be empty!.",
    ],
    ['an ACL that is no JSON', { metadata: METADATA, acl: '[' }, /^Unable to parse acl '\[' because '.+'$/],
    ['an ACL entry without allow', { metadata: METADATA, acl: '[{"action":"read","role":"ROLE_A"}]' }, INCOMPLETE],
    [
      'a theme that is no number',
      { metadata: METADATA, theme: 'dark' },
      "Unable to parse the theme id 'dark' into a number",
    ],
    [
      'an identifier that no path can hold',
      identified('../a'),
      /^Unable to parse metadata because 'the value of 'identifier' is "\.\.\/a"; allowed is 1 to 255 letters/,
    ],
    ['an identifier of dots', identified('..'), /the value of 'identifier' is/],
    ['an identifier that is an endpoint', identified('series.json'), /the value of 'identifier' is/],
  ])('POST /api/series refuses %s and creates nothing', async (_, fields, message) => {
    const answer = await post(fields, cy);
    expectRefusal(answer, message);
    const made = app.database.selectFrom('series').select('id').where('creator', '=', 'series-cy');
    expect(await made.execute()).toEqual([]);
  });

  test('an identifier that is taken is not written to: 409 for its writer, 401 for all others', async () => {
    const identifier = `taken-${randomUUID()}`;
    const acl = [ace('ROLE_ADA', 'write'), ace('ROLE_BOB')];
    expect(await createSeries(app, { identifier, title: 'First' }, acl)).toBe(identifier);
    const again = { metadata: catalogOf({ identifier, title: 'Second' }), acl: '[]' };
    const text = `A series with the identifier '${identifier}' already exists.`;
    expect(await post(again, ada)).toMatchObject({ status: 409, text });
    expect(await post(again, bob)).toMatchObject(UNAUTHORIZED);
    expect(await read(identifier, '?withacl=true')).toMatchObject({ title: 'First', acl });
  });

  test('of several requests for one identifier one gets it', async () => {
    const metadata = catalogOf({ identifier: `race-${randomUUID()}` });
    const answers = await Promise.all(Array.from({ length: 6 }, () => post({ metadata })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
  });

  test('the identifier of a deleted series gives nobody its events', async () => {
    const identifier = await createSeries(app, {}, ADA);
    const eventId = await insertEvent(app.database, { series_id: identifier });
    expect((await send(app, 'DELETE', `/api/series/${identifier}`)).status).toBe(204);
    const acl = JSON.stringify([ace('ROLE_BOB'), ace('ROLE_BOB', 'write')]);
    const again = { metadata: catalogOf({ identifier, title: 'Mine' }), acl };
    expect(await post(again, bob)).toMatchObject(UNAUTHORIZED);
    expect((await get(`/api/series/${identifier}`)).status).toBe(404);
    await create(again);
    const event = JSON.parse((await get(`/api/events/${eventId}`)).text);
    expect(event).toMatchObject({ series: 'Mine', is_part_of: identifier });
  });

  test('who creates a series has the rights its ACL gives, and no others', async () => {
    const path = `/api/series/${await create({ metadata: METADATA, acl: JSON.stringify([ace('ROLE_BOB')]) }, ada)}`;
    expect((await get(path, ada)).status).toBe(404);
    expect((await get(path, bob)).status).toBe(200);
  });
});

test.each<[string, string, Record<string, string> | undefined]>([
  ['DELETE', '', undefined],
  ['PUT', '/acl', { acl: JSON.stringify([ace('ROLE_BOB'), ace('ROLE_BOB', 'write')]) }],
  ['PUT', '/properties', { properties: '{"a":"b"}' }],
])(
  '%s /api/series/{id}%s is 404 without the right to read, 401 without the right to write',
  async (method, part, fields) => {
    const acl = [ace('ROLE_ADA'), ace('ROLE_ADA', 'write', false)];
    const id = await createSeries(app, {}, acl);
    const path = `/api/series/${id}${part}`;
    expect((await get(path, ada)).status).toBe(200);
    expect((await get(path, bob)).status).toBe(404);
    expect(await send(app, method, path, fields, ada)).toMatchObject(UNAUTHORIZED);
    expect((await send(app, method, path, fields, bob)).status).toBe(404);
    expect(await read(id, '?withacl=true')).toMatchObject({ acl });
    expect(await read(id, '/properties')).toEqual({});
  },
);

describe('the access control list', () => {
  let id: string;
  let path: string;
  beforeEach(async () => {
    id = await createSeries(app, {}, ADA);
    path = `/api/series/${id}/acl`;
  });

  const put = (fields: Record<string, string>, headers = {}) => send(app, 'PUT', path, fields, headers);
  const give = (entries: SentAce[], headers = {}, more: Record<string, string> = {}) =>
    put({ acl: JSON.stringify(entries), ...more }, headers);
  const entries = async () => JSON.parse((await get(path)).text) as SentAce[];

  /** As the writer of events does: the row, which shows the roles, comes last. */
  async function writeOwnAcl(trx: Transaction, eventId: string, acl: SentAce[]): Promise<void> {
    await replaceAcl(trx, 'events', eventId, acl);
    await trx.updateTable('events').set({ own_acl: true }).where('id', '=', eventId).execute();
  }

  /** @param acl its own one, if it has one */
  async function addEvent(acl?: SentAce[], series_id: string | null = id): Promise<string> {
    const eventId = await insertEvent(app.database, { series_id });
    if (acl) await inTransaction(app.database, (trx) => writeOwnAcl(trx, eventId, acl));
    return eventId;
  }

  const ownRoles = async (eventId: string) => {
    const own = app.database.selectFrom('event_acl').select('role').where('event_id', '=', eventId);
    return (await own.execute()).map(({ role }) => role);
  };
  const stored = (eventId: string) =>
    app.database
      .selectFrom('events')
      .select(['archive_version', 'read_roles'])
      .where('id', '=', eventId)
      .executeTakeFirstOrThrow();
  const statuses = (eventIds: string[], headers: object) =>
    Promise.all(eventIds.map(async (each) => (await get(`/api/events/${each}`, headers)).status));

  test('GET acl has the entries in their order, and so has the series with withacl=true', async () => {
    const acl = [ace('ROLE_B'), ace('ROLE_A', 'write'), ace('ROLE_A', 'annotate', false)];
    await give(acl);
    const shown = { type: 'application/v1.0.0+json', text: JSON.stringify(acl) };
    expect(await get(path, version('1.0.0'))).toMatchObject({ status: 200, ...shown });
    expect((await read(id, '?withacl=true')).acl).toEqual(acl);
    expect(await read(id)).not.toHaveProperty('acl');
  });

  test('PUT acl replaces the whole list and answers with the text that was sent', async () => {
    const text = '[ {"role":"ROLE_BOB", "action":"read", "allow":"true", "note":1} ]';
    expect(await put({ acl: text })).toMatchObject({ status: 200, type: 'application/v1.11.0+json', text });
    expect(await entries()).toEqual([ace('ROLE_BOB')]);
    expect(await put({ acl: '[]' })).toMatchObject({ status: 200, text: '[]' });
    expect(await entries()).toEqual([]);
  });

  test.each([
    ['nothing', {}, "Missing form parameter 'acl'"],
    ['a blank', { acl: ' ' }, "Missing form parameter 'acl'"],
    ['no JSON', { acl: '[{' }, 'Could not parse ACL'],
    ['an entry without allow', { acl: '[{"action":"read","role":"ROLE_A"}]' }, INCOMPLETE],
  ])('PUT acl refuses %s and changes nothing', async (_, fields, text) => {
    expectRefusal(await put({ ...fields, override: 'true' }), text);
    expect(await entries()).toEqual(ADA);
  });

  test('the ACL of an unknown series is 404', async () => {
    path = '/api/series/nobody/acl';
    const text = "Cannot find a series with id 'nobody'.";
    expect(await get(path)).toMatchObject({ status: 404, text });
    expect(await give([])).toMatchObject(GONE);
  });

  test('events without an ACL of their own follow the series, others do not', async () => {
    const events = [await addEvent(), await addEvent([ace('ROLE_OTHER')]), await addEvent([])];
    await give([ace('ROLE_BOB')]);
    expect(await statuses(events, bob)).toEqual([200, 404, 404]);
  });

  test('override=true lets all events of the series follow it', async () => {
    const own = await addEvent([ace('ROLE_OTHER')]);
    const elsewhere = await addEvent([ace('ROLE_OTHER')], null);
    const events = [own, await addEvent([]), await addEvent()];
    await give([ace('ROLE_BOB')], {}, { override: 'TRUE' });
    expect(await statuses(events, bob)).toEqual([200, 200, 200]);
    const rows = await Promise.all(events.map(stored));
    expect(rows.map(({ archive_version }) => archive_version)).toEqual([1, 1, 0]);
    await give([ace('ROLE_ADA')]);
    expect(await statuses(events, bob)).toEqual([404, 404, 404]);
    expect([await ownRoles(own), await ownRoles(elsewhere)]).toEqual([[], ['ROLE_OTHER']]);
  });

  test('override came with version 1.2.0', async () => {
    const own = await addEvent([ace('ROLE_OTHER')]);
    await give([], version('1.1.0'), { override: 'true' });
    expect(await ownRoles(own)).toEqual(['ROLE_OTHER']);
    await give([], version('1.2.0'), { override: 'true' });
    expect(await ownRoles(own)).toEqual([]);
  });

  test('override takes no event over that the account may not write', async () => {
    const foreign = await addEvent([ace('ROLE_BOB'), ace('ROLE_BOB', 'write')]);
    const own = await addEvent([ace('ROLE_ADA', 'write')]);
    expect((await give(ADA, ada, { override: 'true' })).status).toBe(200);
    expect([await ownRoles(foreign), await ownRoles(own)]).toEqual([['ROLE_BOB', 'ROLE_BOB'], []]);
  });

  test('override and a writer of an event wait for each other, in any order', async () => {
    const events = await Promise.all(Array.from({ length: 4 }, () => addEvent([ace('ROLE_OTHER')])));
    const write = (eventId: string) =>
      inTransaction(app.database, async (trx) => {
        await trx.selectFrom('events').select('id').where('id', '=', eventId).forUpdate().execute();
        await writeOwnAcl(trx, eventId, [ace('ROLE_WRITER')]);
      });
    for (const round of ['ROLE_FIRST', 'ROLE_SECOND', 'ROLE_THIRD']) {
      const [answer] = await Promise.all([give([ace(round)], {}, { override: 'true' }), ...events.map(write)]);
      expect(answer.status, answer.text).toBe(200);
      for (const eventId of events) {
        const isOwn = (await ownRoles(eventId)).length > 0;
        expect((await stored(eventId)).read_roles).toEqual([isOwn ? 'ROLE_WRITER' : round]);
      }
    }
  });

  test('of two lists written concurrently one is stored, whole', async () => {
    const lists = ['ROLE_X', 'ROLE_Y'].map((role) => [ace(role), ace(role, 'write')]);
    const answers = await Promise.all(lists.map((acl) => give(acl)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(lists).toContainEqual(await entries());
  });
});

describe('properties', () => {
  let path: string;
  beforeEach(async () => {
    path = `/api/series/${await createSeries(app, {}, [ace('ROLE_ADA')])}/properties`;
  });

  const put = (properties: string) => send(app, 'PUT', path, { properties });
  async function stored(): Promise<unknown> {
    const answer = await get(path);
    expect(answer).toMatchObject({ status: 200, type: 'application/v1.11.0+json' });
    return JSON.parse(answer.text);
  }

  test('PUT properties adds and changes those given, and answers with them alone', async () => {
    expect(await stored()).toEqual({});
    await put('{"ondemand":"true","live":"false"}');
    const text = '{"live":"true","theme":"1"}';
    expect(await put(text)).toMatchObject({ status: 200, type: 'application/v1.11.0+json', text });
    expect(await stored()).toEqual({ ondemand: 'true', live: 'true', theme: '1' });
  });

  test('values that are no strings are answered as sent and stored as strings', async () => {
    const text = '{"a":true,"b":1.5,"c":[1],"d":{"e":"f"}}';
    expect((await put(text)).text).toBe(text);
    expect(await stored()).toEqual({ a: 'true', b: '1.5', c: '[1]', d: '{"e":"f"}' });
  });

  test('any name is only a name', async () => {
    await put('{"__proto__":"a","constructor":"b","":"c","x\\"\'y":"d"}');
    expect((await put('{"toString":"e"}')).status).toBe(200);
    expect(Object.entries((await stored()) as object).sort()).toEqual([
      ['', 'c'],
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['toString', 'e'],
      ['x"\'y', 'd'],
    ]);
  });

  const many = (count: number, value = 'a') =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`name-${i}`, value])));
  const nested = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  const UNPARSABLE = 'Could not parse series properties';

  const UNPARSABLES = ['{', '[]', '"a"', 'null', '{"a":null}', '{"a\\u0000":"b"}', '{"a":"\\ud800"}'];

  test.each<[string, string, string | RegExp]>([
    ['nothing', '', "Missing form parameter 'acl'"],
    ...UNPARSABLES.map((text) => [text, text, UNPARSABLE] as [string, string, string]),
    ['a value nested too deeply', nested, /^(Could not parse series properties|.* bytes of UTF-8\.)$/],
    ['a long name', JSON.stringify({ ['a'.repeat(256)]: 'b' }), /longer than 255 bytes/],
    ['a long value', JSON.stringify({ a: 'b'.repeat(100_001) }), /longer than 100000 bytes/],
    ['too many', many(1001), 'A series can have up to 1000 properties.'],
  ])('PUT properties refuses %s and changes nothing', async (_, properties, message) => {
    await put('{"kept":"yes"}');
    const answer = await put(properties);
    expectRefusal(answer, message);
    expect(await stored()).toEqual({ kept: 'yes' });
  });

  test('properties are limited together, not by request', async () => {
    expect((await put(many(1000))).status).toBe(200);
    expect((await put('{"one more":"a"}')).status).toBe(400);
    expect((await put('{"name-7":"b"}')).status).toBe(200);
    expect((await put(many(8, 'x'.repeat(90_000)))).status).toBe(200);
    const more = ['name-8', 'name-9', 'name-10', 'name-11'].map((name) => [name, 'x'.repeat(99_000)]);
    const sentence = 'The properties of a series can have up to 1048576 bytes together.';
    expectRefusal(await put(JSON.stringify(Object.fromEntries(more))), sentence);
  });

  test('the properties of an unknown series are 404', async () => {
    path = '/api/series/nobody/properties';
    const text = "Cannot find an series with id 'nobody'.";
    expect(await get(path)).toMatchObject({ status: 404, text });
    expect(await put('{"a":"b"}')).toMatchObject(GONE);
  });

  test('properties written concurrently are all kept', async () => {
    const names = Array.from({ length: 8 }, (_, i) => `name-${i}`);
    await Promise.all(names.map((name) => put(JSON.stringify({ [name]: 'a' }))));
    expect(Object.keys((await stored()) as object).sort()).toEqual(names);
  });
});
