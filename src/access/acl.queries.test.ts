import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { type Action, accessFilter, mayAccess, requireEventAccess } from './acl.queries.ts';
import { anonymous } from './principal.ts';

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

describe.each(CASES)('%j to %s', (roles, action, expected) => {
  test('finds the same events one by one and in a list', async () => {
    const events = db.database.selectFrom('events').select('id').orderBy('id');
    const single = await events.where(mayAccess(withRoles(...roles), action)).execute();
    expect(single.map(({ id }) => id)).toEqual(expected);
    const list = await events.where(await accessFilter(db.database, withRoles(...roles), action)).execute();
    expect(list.map(({ id }) => id)).toEqual(expected);
  });
});

test.each([
  ['ROLE_READER', 'read', undefined],
  ['ROLE_READER', 'write', [401, 'unauthorized']],
  ['ROLE_WRITER', 'write', undefined],
  ['ROLE_WRITE_ONLY', 'write', [404, "Cannot find an event with id 'own'."]],
  ['ROLE_OTHER', 'read', [404, "Cannot find an event with id 'own'."]],
] as [string, Action, [number, string] | undefined][])('%s asking to %s', async (role, action, refusal) => {
  const attempt = requireEventAccess(db.database, withRoles(role), 'own', action);
  if (!refusal) return expect(attempt).resolves.toBeUndefined();
  await expect(attempt).rejects.toMatchObject({ status: refusal[0], message: refusal[1] });
});

test('an event that does not exist is answered like one that may not be read', async () => {
  const attempt = requireEventAccess(db.database, withRoles('ROLE_ADMIN'), 'none', 'read', 'No such event.');
  await expect(attempt).rejects.toMatchObject({ status: 404, message: 'No such event.' });
});

describe('with many events', () => {
  beforeAll(async () => {
    await sql`INSERT INTO events (id, start_date, created, creator)
      SELECT 'm' || i, now() - i * interval '1 hour', now(), 'x' FROM generate_series(1, 20000) i`.execute(
      db.database,
    );
    await sql`INSERT INTO event_acl SELECT 'm' || i, 0, 'ROLE_EVERYBODY', 'read', true FROM generate_series(1, 20000) i`.execute(
      db.database,
    );
    await sql`INSERT INTO event_acl SELECT 'm' || i, 1, 'ROLE_FEW', 'read', true FROM generate_series(1, 20000, 1000) i`.execute(
      db.database,
    );
    await sql`VACUUM ANALYZE events, event_acl, series_acl`.execute(db.database);
  });

  /** How many rows the plan of the first page touched. */
  async function rowsTouched(role: string): Promise<number> {
    const page = db.database
      .selectFrom('events')
      .selectAll()
      .where(await accessFilter(db.database, withRoles(role), 'read'))
      .orderBy('start_date', 'desc')
      .orderBy('id')
      .limit(20);
    expect(await page.execute()).toHaveLength(20);
    const lines = await page.explain('text', sql`ANALYZE`);
    const plan = lines.map((line) => Object.values(line as object)[0]).join('\n');
    return [...plan.matchAll(/rows=([\d.]+) loops=(\d+)/g)].reduce(
      (sum, [, rows, loops]) => sum + Number(rows) * Number(loops),
      0,
    );
  }

  test.each(['ROLE_FEW', 'ROLE_EVERYBODY'])(
    'a page that %s may read costs a page, not a scan',
    async (role) => {
      expect(await rowsTouched(role)).toBeLessThan(1000);
    },
  );
});
