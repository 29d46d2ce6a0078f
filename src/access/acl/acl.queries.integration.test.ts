import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { eventually } from '../../../test/support/eventually.ts';
import type { Transaction } from '../../database/kysely.ts';
import { notFound } from '../../http/errors.ts';
import { anonymous } from '../principal.ts';
import { type Action, aclsOf, mayAccess, replaceAcl, requireAccess } from './acl.queries.ts';

const missing = (id: string) => notFound(`'${id}' is missing`);

let db: TestDatabase;
const withRoles = (...roles: string[]) => anonymous.withRoles(roles);

beforeAll(async () => {
  db = await createTestDatabase();
  const event = (id: string, series_id: string | null = null) => {
    const now = new Date();
    return { id, series_id, start_date: now, created: now, creator: 'x' };
  };
  const grant = (role: string, action: string, position: number, allow = true) => ({
    role,
    action,
    position,
    allow,
  });
  await db.database.insertInto('series').values({ id: 'course' }).execute();
  await db.database
    .insertInto('series_acl')
    .values([
      { series_id: 'course', ...grant('ROLE_STUDENT', 'read', 0) },
      { series_id: 'course', ...grant('ROLE_LECTURER', 'write', 1) },
      { series_id: 'course', ...grant('ROLE_LECTURER', 'read', 2) },
      { series_id: 'course', ...grant('ROLE_BANNED', 'read', 3, false) },
    ])
    .execute();
  await db.database
    .insertInto('events')
    .values([
      event('own'),
      event('inherits', 'course'),
      event('overrides', 'course'),
      event('bare'),
      event('lost', 'gone'),
    ])
    .execute();
  await db.database
    .insertInto('event_acl')
    .values([
      { event_id: 'own', ...grant('ROLE_READER', 'read', 0) },
      { event_id: 'own', ...grant('ROLE_WRITER', 'write', 1) },
      { event_id: 'own', ...grant('ROLE_WRITER', 'read', 2) },
      { event_id: 'own', ...grant('ROLE_WRITE_ONLY', 'write', 3) },
      { event_id: 'own', ...grant('ROLE_BANNED', 'read', 4, false) },
      { event_id: 'overrides', ...grant('ROLE_READER', 'read', 0) },
    ])
    .execute();
});
afterAll(() => db.close());

const CASES: [string[], Action, string[]][] = [
  [['ROLE_ADMIN'], 'write', ['bare', 'inherits', 'lost', 'overrides', 'own']],
  [['ROLE_READER'], 'read', ['overrides', 'own']],
  [['ROLE_READER'], 'write', []],
  [['ROLE_WRITER', 'ROLE_STUDENT'], 'read', ['inherits', 'own']],
  [['ROLE_WRITER', 'ROLE_LECTURER'], 'write', ['inherits', 'own']],
  [['ROLE_STUDENT'], 'read', ['inherits']],
  [['ROLE_BANNED'], 'read', []],
  [["ROLE_READER' OR true --", '{ROLE_READER}', 'ROLE_READER,ROLE_WRITER'], 'read', []],
  [[], 'read', []],
];

test.each(CASES)('%j to %s', async (roles, action, expected) => {
  expect(await eventsOf(roles, action)).toEqual(expected);
});

async function eventsOf(roles: string[], action: Action = 'read'): Promise<string[]> {
  const granted = mayAccess('events', withRoles(...roles), action);
  const events = await db.database.selectFrom('events').select('id').where(granted).orderBy('id').execute();
  return events.map(({ id }) => id);
}

test('a series is accessible by its own ACL', async () => {
  const seriesOf = (role: string, action: Action) =>
    db.database
      .selectFrom('series')
      .select('id')
      .where(mayAccess('series', withRoles(role), action))
      .execute();
  expect(await seriesOf('ROLE_STUDENT', 'read')).toEqual([{ id: 'course' }]);
  expect(await seriesOf('ROLE_STUDENT', 'write')).toEqual([]);
  expect(await seriesOf('ROLE_BANNED', 'read')).toEqual([]);
  await expect(
    requireAccess(db.database, 'series', withRoles('ROLE_STUDENT'), 'course', 'write', missing),
  ).rejects.toMatchObject({ status: 401 });
});

test.each([
  ['ROLE_READER', 'read', undefined],
  ['ROLE_READER', 'write', [401, 'unauthorized']],
  ['ROLE_WRITER', 'write', undefined],
  ['ROLE_WRITE_ONLY', 'write', [404, "'own' is missing"]],
  ['ROLE_OTHER', 'read', [404, "'own' is missing"]],
] as [string, Action, [number, string] | undefined][])('%s asking to %s', async (role, action, refusal) => {
  const attempt = requireAccess(db.database, 'events', withRoles(role), 'own', action, missing);
  if (!refusal) return expect(attempt).resolves.toBeUndefined();
  await expect(attempt).rejects.toMatchObject({ status: refusal[0], message: refusal[1] });
});

test('an event that does not exist is answered like one that may not be read', async () => {
  const attempt = requireAccess(db.database, 'events', withRoles('ROLE_ADMIN'), 'none', 'read', () =>
    notFound('No such event.'),
  );
  await expect(attempt).rejects.toMatchObject({ status: 404, message: 'No such event.' });
});

describe('what follows a change', () => {
  const change = (work: (trx: Transaction) => Promise<unknown>) => db.database.transaction().execute(work);
  const entry = (role: string) => ({ role, action: 'read', allow: true });
  const insert = (id: string, series_id: string) =>
    db.database
      .insertInto('events')
      .values({ id, series_id, start_date: new Date(), created: new Date(), creator: 'x' })
      .execute();

  test('an event takes on the ACL of its series, and drops it for one of its own', async () => {
    await db.database.insertInto('series').values({ id: 'moving' }).execute();
    await insert('guest', 'moving');
    await change((trx) => replaceAcl(trx, 'series', 'moving', [entry('ROLE_M1'), entry('ROLE_M2')]));
    expect(await eventsOf(['ROLE_M1'])).toEqual(['guest']);
    await change((trx) => replaceAcl(trx, 'series', 'moving', [entry('ROLE_M2')]));
    expect(await eventsOf(['ROLE_M1'])).toEqual([]);
    await change((trx) => replaceAcl(trx, 'events', 'guest', [entry('ROLE_M3')]));
    expect(await eventsOf(['ROLE_M2'])).toEqual([]);
    expect(await eventsOf(['ROLE_M3'])).toEqual(['guest']);
    expect((await aclsOf(db.database, 'events', ['guest'])).get('guest')).toEqual([entry('ROLE_M3')]);
    await change((trx) => replaceAcl(trx, 'events', 'guest', []));
    expect(await eventsOf(['ROLE_M2'])).toEqual([]);
  });

  test('an event that moves to another series, or loses its own, has other readers', async () => {
    await db.database
      .insertInto('series')
      .values([{ id: 'left' }, { id: 'right' }])
      .execute();
    await change((trx) => replaceAcl(trx, 'series', 'left', [entry('ROLE_LEFT')]));
    await change((trx) => replaceAcl(trx, 'series', 'right', [entry('ROLE_RIGHT')]));
    await insert('mover', 'left');
    await db.database.updateTable('events').set({ series_id: 'right' }).where('id', '=', 'mover').execute();
    expect(await eventsOf(['ROLE_LEFT'])).toEqual([]);
    expect(await eventsOf(['ROLE_RIGHT'])).toEqual(['mover']);
    await db.database.deleteFrom('series').where('id', '=', 'right').execute();
    expect(await eventsOf(['ROLE_RIGHT'])).toEqual([]);
  });

  test('an event that joins a series while its ACL changes does not keep the old one', async () => {
    await db.database.insertInto('series').values({ id: 'race' }).execute();
    await change((trx) => replaceAcl(trx, 'series', 'race', [entry('ROLE_OLD')]));
    let joined: Promise<unknown> = Promise.resolve();
    await change(async (trx) => {
      await replaceAcl(trx, 'series', 'race', [entry('ROLE_NEW')]);
      joined = insert('late', 'race');
      await waitingForLock();
    });
    await joined;
    expect(await eventsOf(['ROLE_OLD'])).toEqual([]);
    expect(await eventsOf(['ROLE_NEW'])).toEqual(['late']);
  });

  async function waitingForLock(): Promise<void> {
    await eventually(async () => {
      const { rows } = await sql`SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(db.database);
      expect(rows, 'Nobody waits for a lock.').not.toEqual([]);
    });
  }
});
