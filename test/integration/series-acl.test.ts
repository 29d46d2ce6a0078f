import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { replaceAcl } from '../../src/access/acl/acl.queries.ts';
import type { Transaction } from '../../src/database/kysely.ts';
import { inTransaction } from '../../src/database/retry.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { insertEvent } from '../support/publication.ts';
import { ace, catalogOf, createSeries, type SentAce, send } from '../support/series.ts';

const ROLES = ['ACL_VIEW', 'ACL_EDIT', 'VIEW'].map((right) => `ROLE_API_SERIES_${right}`);

let app: TestApp;
let ada: { Authorization: string };
let bob: { Authorization: string };
let id: string;
let path: string;
beforeAll(async () => {
  app = await createTestApp();
  ada = { Authorization: await app.account('ada', ...ROLES, 'ROLE_ADA') };
  bob = { Authorization: await app.account('bob', ...ROLES, 'ROLE_API_EVENTS_VIEW', 'ROLE_BOB') };
});
afterAll(() => app?.close());
beforeEach(async () => {
  id = await createSeries(app, {}, [ace('ROLE_ADA'), ace('ROLE_ADA', 'write')]);
  path = `/api/series/${id}/acl`;
});

const put = (fields: Record<string, string>, headers = {}) => send(app, 'PUT', path, fields, headers);
const read = async () => JSON.parse((await send(app, 'GET', path)).text) as SentAce[];

/** @param acl of its own, if it has one */
async function addEvent(acl?: SentAce[]): Promise<string> {
  const eventId = await insertEvent(app.database, { series_id: id });
  if (acl) await app.database.transaction().execute((trx) => replaceAcl(trx, 'events', eventId, acl));
  return eventId;
}

const ownEntries = async (eventId: string) =>
  (await app.database.selectFrom('event_acl').select('role').where('event_id', '=', eventId).execute()).map(
    ({ role }) => role,
  );
const eventStatus = async (eventId: string, headers = {}) =>
  (await send(app, 'GET', `/api/events/${eventId}`, undefined, headers)).status;

async function versions(...eventIds: string[]): Promise<number[]> {
  const rows = await app.database
    .selectFrom('events')
    .select(['id', 'archive_version'])
    .where('id', 'in', eventIds)
    .execute();
  return eventIds.map((eventId) => rows.find((row) => row.id === eventId)?.archive_version ?? -1);
}

test('GET acl has the entries in their order', async () => {
  const acl = [ace('ROLE_B'), ace('ROLE_A', 'write'), ace('ROLE_A', 'annotate', false)];
  await put({ acl: JSON.stringify(acl) });
  expect(await send(app, 'GET', path, undefined, { Accept: 'application/v1.0.0+json' })).toMatchObject({
    status: 200,
    type: 'application/v1.0.0+json',
    text: JSON.stringify(acl),
  });
});

test('a series that was created without an ACL has an empty one', async () => {
  const { text } = await send(app, 'POST', '/api/series', { metadata: catalogOf({ title: 'None' }) });
  id = (JSON.parse(text) as { identifier: string }).identifier;
  path = `/api/series/${id}/acl`;
  expect(await send(app, 'GET', path)).toMatchObject({ status: 200, text: '[]' });
});

test('PUT acl replaces the whole list and answers with the text that was sent', async () => {
  const text = '[ {"role":"ROLE_BOB", "action":"read", "allow":"true", "note":1} ]';
  expect(await put({ acl: text })).toMatchObject({
    status: 200,
    type: 'application/v1.11.0+json',
    text,
  });
  expect(await read()).toEqual([ace('ROLE_BOB')]);
  expect((await put({ acl: '[]' })).text).toBe('[]');
  expect(await read()).toEqual([]);
});

test.each([
  ['nothing', {}, "Missing form parameter 'acl'"],
  ['a blank', { acl: ' ' }, "Missing form parameter 'acl'"],
  ['no JSON', { acl: '[{' }, 'Could not parse ACL'],
  ['an object', { acl: '{"ace":[]}' }, 'Could not parse ACL'],
  [
    'an entry without allow',
    { acl: '[{"action":"read","role":"ROLE_A"}]' },
    "One of the access control elements is missing a property. The action was 'read', allow was '' and the role was 'ROLE_A'",
  ],
])('PUT acl refuses %s and changes nothing', async (_, fields, text) => {
  expect(await put({ ...fields, override: 'true' })).toMatchObject({
    status: 400,
    type: 'text/plain; charset=utf-8',
    text,
  });
  expect(await read()).toEqual([ace('ROLE_ADA'), ace('ROLE_ADA', 'write')]);
});

test('the ACL of an unknown series is 404', async () => {
  path = '/api/series/nobody/acl';
  expect(await send(app, 'GET', path)).toMatchObject({
    status: 404,
    text: "Cannot find a series with id 'nobody'.",
  });
  expect(await put({ acl: '[]' })).toMatchObject({
    status: 404,
    text: 'The resource you requested does not exist.',
  });
});

test('the ACL is read with the right to read, written with the right to write', async () => {
  const acl = JSON.stringify([ace('ROLE_BOB'), ace('ROLE_BOB', 'write')]);
  expect((await send(app, 'GET', path, undefined, bob)).status).toBe(404);
  expect((await put({ acl }, bob)).status).toBe(404);
  await put({ acl: JSON.stringify([ace('ROLE_ADA'), ace('ROLE_ADA', 'write'), ace('ROLE_BOB')]) });
  expect((await send(app, 'GET', path, undefined, bob)).status).toBe(200);
  expect(await put({ acl }, bob)).toMatchObject({ status: 401, text: 'unauthorized' });
  expect((await put({ acl }, ada)).status).toBe(200);
  expect(await read()).toEqual([ace('ROLE_BOB'), ace('ROLE_BOB', 'write')]);
});

test('events without an ACL of their own follow the series, others do not', async () => {
  const following = await addEvent();
  const own = await addEvent([ace('ROLE_OTHER')]);
  const closed = await addEvent([]);
  await put({ acl: JSON.stringify([ace('ROLE_BOB')]) });
  expect(await eventStatus(following, bob)).toBe(200);
  expect(await eventStatus(own, bob)).toBe(404);
  expect(await eventStatus(closed, bob)).toBe(404);
});

test('override=true lets all events of the series follow it', async () => {
  const own = await addEvent([ace('ROLE_OTHER')]);
  const elsewhere = await insertEvent(app.database);
  await app.database
    .transaction()
    .execute((trx) => replaceAcl(trx, 'events', elsewhere, [ace('ROLE_OTHER')]));
  const closed = await addEvent([]);
  const following = await addEvent();
  await put({ acl: JSON.stringify([ace('ROLE_BOB')]), override: 'TRUE' });
  expect(await eventStatus(own, bob)).toBe(200);
  expect(await eventStatus(closed, bob)).toBe(200);
  expect(await versions(own, closed, following)).toEqual([1, 1, 0]);
  await put({ acl: JSON.stringify([ace('ROLE_ADA')]) });
  for (const each of [own, closed, following]) expect(await eventStatus(each, bob)).toBe(404);
  expect(await ownEntries(own)).toEqual([]);
  expect(await ownEntries(elsewhere)).toEqual(['ROLE_OTHER']);
});

test('override came with version 1.2.0', async () => {
  const own = await addEvent([ace('ROLE_OTHER')]);
  const fields = { acl: '[]', override: 'true' };
  await put(fields, { Accept: 'application/v1.1.0+json' });
  expect(await ownEntries(own)).toEqual(['ROLE_OTHER']);
  await put(fields, { Accept: 'application/v1.2.0+json' });
  expect(await ownEntries(own)).toEqual([]);
});

test('override takes no event over that the account may not write', async () => {
  const foreign = await addEvent([ace('ROLE_BOB'), ace('ROLE_BOB', 'write')]);
  const own = await addEvent([ace('ROLE_ADA', 'write')]);
  const acl = JSON.stringify([ace('ROLE_ADA'), ace('ROLE_ADA', 'write')]);
  expect((await put({ acl, override: 'true' }, ada)).status).toBe(200);
  expect(await ownEntries(foreign)).toEqual(['ROLE_BOB', 'ROLE_BOB']);
  expect(await ownEntries(own)).toEqual([]);
});

test('override and a writer of an event wait for each other, whoever comes first', async () => {
  const events = await Promise.all(Array.from({ length: 4 }, () => addEvent([ace('ROLE_OTHER')])));
  const write = (eventId: string) =>
    inTransaction(app.database, async (trx: Transaction) => {
      await trx.selectFrom('events').select('id').where('id', '=', eventId).forUpdate().execute();
      await replaceAcl(trx, 'events', eventId, [ace('ROLE_WRITER')]);
    });
  for (let round = 0; round < 3; round += 1) {
    const acl = JSON.stringify([ace(`ROLE_ROUND_${round}`)]);
    const [answer] = await Promise.all([put({ acl, override: 'true' }), ...events.map(write)]);
    expect(answer?.status, answer?.text).toBe(200);
    for (const eventId of events) {
      const { read_roles } = await app.database
        .selectFrom('events')
        .select('read_roles')
        .where('id', '=', eventId)
        .executeTakeFirstOrThrow();
      const own = await ownEntries(eventId);
      expect(read_roles).toEqual(own.length > 0 ? ['ROLE_WRITER'] : [`ROLE_ROUND_${round}`]);
    }
  }
});

test('of two lists written at once one is stored, whole', async () => {
  const lists = ['ROLE_X', 'ROLE_Y'].map((role) => [ace(role), ace(role, 'write')]);
  const answers = await Promise.all(lists.map((acl) => put({ acl: JSON.stringify(acl) })));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(lists).toContainEqual(await read());
});
