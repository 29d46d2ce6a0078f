import { type CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anonymous } from '../../src/access/principal.ts';
import { findPart } from '../../src/database/list/find.ts';
import { createPool } from '../../src/database/pool.ts';
import type { DB } from '../../src/database/schema.ts';
import { eventList } from '../../src/events/list/event-list.ts';
import { EVENT_SORTS } from '../../src/events/list/sorts.ts';
import { orderOf, parseSort } from '../../src/http/list/sort-grammar.ts';
import { NEWEST_VERSION } from '../../src/http/version.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const EVENTS = 30_000;
/** More than any page below needs, and far less than there are. */
const MOST = 3_000;

let db: TestDatabase;
let pool: pg.Pool;
let queries: CompiledQuery[];
let database: Kysely<DB>;

beforeAll(async () => {
  db = await createTestDatabase();
  await sql`
    INSERT INTO events (id, title, description, start_date, created, creator, subjects, location)
    SELECT 'e' || i, 'Lecture ' || i % 500, CASE WHEN i % 3000 = 7 THEN 'zymurgy' ELSE 'common words' END,
      '2020-01-01Z'::timestamptz + i * interval '1 hour', now(), 'Tester',
      ARRAY[CASE WHEN i <= 20 THEN 'oldest' WHEN i % 1500 = 0 THEN 'rare' ELSE 'common' END], 'Hall ' || i % 7
    FROM generate_series(1, ${EVENTS}) AS i`.execute(db.database);
  await sql`
    INSERT INTO event_acl (event_id, position, role, action, allow)
    SELECT 'e' || i, 0, CASE WHEN i <= 30 THEN 'ROLE_OLDEST' WHEN i % 1000 = 0 THEN 'ROLE_FEW' ELSE 'ROLE_MANY' END,
      'read', true FROM generate_series(1, ${EVENTS}) AS i`.execute(db.database);
  await sql`VACUUM ANALYZE events`.execute(db.database);
  pool = createPool(db.url, { max: 1, onError: () => undefined });
  database = new Kysely<DB>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => void queries.push(query),
  });
}, 120_000);
afterAll(async () => {
  await database?.destroy();
  await db?.close();
});

/** How many rows the statements for a page touch, as their plans count them. */
async function rowsTouched(role: string, filter: string, sort: string): Promise<number> {
  queries = [];
  const list = eventList({
    database,
    principal: anonymous.withRoles([role]),
    action: 'read',
    filters: [filter],
    order: orderOf(parseSort(sort), EVENT_SORTS),
    version: NEWEST_VERSION,
  });
  const { entries } = await findPart(database, list, { skip: 0, take: 21 });
  expect(entries.length).toBeGreaterThan(0);
  const asked = queries.filter(({ sql: text }) => !text.trimStart().startsWith('EXPLAIN'));
  const scanned = await Promise.all(
    asked.map(async ({ sql: text, parameters }) => {
      const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN ANALYZE ${text}`, [...parameters]);
      const scans = rows
        .map((row) => row['QUERY PLAN'])
        .filter((line) => / Scan (using|on|Backward)/.test(line));
      return scans.map((line) => {
        const [, found = 0, loops = 0] = /actual .*rows=([\d.]+) loops=(\d+)/.exec(line)?.map(Number) ?? [];
        return found * loops;
      });
    }),
  );
  return scanned.flat().reduce((sum, rows) => sum + rows, 0);
}

test.each([
  ['ROLE_ADMIN', '', ''],
  ['ROLE_ADMIN', '', 'title:DESC'],
  ['ROLE_ADMIN', 'location:Hall 3', ''],
  ['ROLE_ADMIN', 'subject:common', 'location:ASC'],
  ['ROLE_ADMIN', 'subject:rare', ''],
  ['ROLE_ADMIN', 'subject:oldest', ''],
  ['ROLE_ADMIN', 'textFilter:zymurgy', 'title:ASC'],
  ['ROLE_ADMIN', 'textFilter:common', ''],
  ['ROLE_MANY', '', ''],
  ['ROLE_MANY', 'subject:rare', ''],
  ['ROLE_FEW', '', 'title:ASC'],
  ['ROLE_FEW', 'location:Hall 3', ''],
  ['ROLE_OLDEST', '', ''],
  ['ROLE_OLDEST', 'textFilter:common', 'location:DESC'],
])('a page for %s of filter=%s, sort=%s does not scan the table', async (role, filter, sort) => {
  expect(await rowsTouched(role, filter, sort)).toBeLessThan(MOST);
});
