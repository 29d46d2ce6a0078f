import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anonymous } from '../../src/access/principal.ts';
import { COUNTED, findPart } from '../../src/database/list/index.ts';
import type { DB } from '../../src/database/schema.ts';
import { accessibleEvents, EVENT_LIST } from '../../src/events/list.ts';
import { listingOf } from '../../src/http/list/index.ts';
import { NEWEST_VERSION } from '../../src/http/version.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type LoggedDatabase, loggedDatabase } from '../support/logged-database.ts';
import { type PlanNode, touchedBy } from '../support/plans.ts';
import { withoutIndexes } from '../support/without-indexes.ts';

const EVENTS = 30_000;
/** More than any page below needs, and far less than there are. */
const MOST = 3_000;
/** Those after them are scheduled, each agent every fifteen hours. */
const UNSCHEDULED = 10_000;
const AGENTS = 15;
/** What an agent's week may touch: eleven recordings, not those of other agents or weeks. */
const FEW = 150;

let db: TestDatabase;
let logged: LoggedDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
  await db.database
    .connection()
    .execute((connection) =>
      withoutIndexes(connection, ['events', 'event_acl', 'schedules'], () => seed(connection)),
    );
  await sql`VACUUM ANALYZE events`.execute(db.database);
  logged = loggedDatabase(db.url);
});
afterAll(async () => {
  await logged?.database.destroy();
  await db?.close();
});

async function seed(connection: Kysely<DB>): Promise<void> {
  await sql`INSERT INTO capture_agents (id) SELECT 'Agent ' || i FROM generate_series(0, ${AGENTS - 1}::integer) AS i`.execute(
    connection,
  );
  await sql`
    INSERT INTO schedules (event_id, agent_id, start_date, end_date, workflow)
    SELECT 'e' || i, 'Agent ' || i % ${AGENTS}::integer, '2020-01-01Z'::timestamptz + i * interval '1 hour',
      '2020-01-01Z'::timestamptz + (i + 1) * interval '1 hour', 'none'
    FROM generate_series(${UNSCHEDULED + 1}::integer, ${EVENTS}::integer) AS i`.execute(connection);
  await sql`
    INSERT INTO events (id, title, description, start_date, created, creator, subjects, location)
    SELECT 'e' || i, 'Lecture ' || i % 500, CASE WHEN i % 3000 = 7 THEN 'zymurgy' ELSE 'common words' END,
      '2020-01-01Z'::timestamptz + i * interval '1 hour', now(), 'Tester',
      ARRAY[CASE WHEN i <= 20 THEN 'oldest' WHEN i % 1500 = 0 THEN 'rare' ELSE 'common' END], 'Hall ' || i % 7
    FROM generate_series(1, ${EVENTS}) AS i`.execute(connection);
  await sql`
    INSERT INTO event_acl (event_id, position, role, action, allow)
    SELECT 'e' || i, 0, CASE WHEN i <= 30 THEN 'ROLE_OLDEST' WHEN i % 1000 = 0 THEN 'ROLE_FEW' ELSE 'ROLE_MANY' END,
      'read', true FROM generate_series(1, ${EVENTS}) AS i`.execute(connection);
}

/** How many rows the statements for a page touch, as their plans count them. */
async function rowsTouched(role: string, filter: string, sort: string): Promise<number> {
  logged.forget();
  const access = accessibleEvents(anonymous.withRoles([role]), 'read');
  const listing = listingOf(EVENT_LIST, { access, filters: [filter], sort }, NEWEST_VERSION);
  const { entries } = await findPart(logged.database, listing, { skip: 0, take: 21 });
  expect(entries.length).toBeGreaterThan(0);
  const asked = logged.queries.filter(({ sql: text }) => !text.trimStart().startsWith('EXPLAIN'));
  const touched = await Promise.all(
    asked.map(async ({ sql: text, parameters }) => {
      const explain = `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`;
      const { rows } = await logged.pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(explain, [
        ...parameters,
      ]);
      return rows.reduce((sum, row) => sum + touchedBy(row['QUERY PLAN'][0].Plan), 0);
    }),
  );
  return touched.reduce((sum, rows) => sum + rows, 0);
}

const WEEK = '2022-01-03T00:00:00Z/2022-01-09T23:59:59Z';
const YEARS = '2020-01-01T00:00:00Z/2024-01-01T00:00:00Z';

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
  ['ROLE_ADMIN', 'status:EVENTS.EVENTS.STATUS.SCHEDULED', ''],
  ['ROLE_ADMIN', 'status:EVENTS.EVENTS.STATUS.PROCESSED', ''],
  ['ROLE_ADMIN', 'agent_id:Agent 3', ''],
  ['ROLE_ADMIN', 'agent_id:Agent 3', 'technical_start:ASC'],
  ['ROLE_ADMIN', '', 'technical_start:DESC'],
  ['ROLE_ADMIN', 'location:Hall 3', 'technical_end:ASC'],
  ['ROLE_ADMIN', `technical_start:${WEEK}`, ''],
  ['ROLE_ADMIN', `technical_start:${WEEK}`, 'title:ASC'],
  ['ROLE_ADMIN', `agent_id:Agent 3,technical_start:${YEARS}`, ''],
  ['ROLE_MANY', `agent_id:Agent 3,technical_start:${YEARS}`, 'technical_start:ASC'],
  ['ROLE_FEW', 'status:EVENTS.EVENTS.STATUS.SCHEDULED', 'technical_start:DESC'],
])('a page for %s of filter=%s, sort=%s does not scan the table', async (role, filter, sort) => {
  expect(await rowsTouched(role, filter, sort)).toBeLessThan(MOST);
});

test.each([
  ['ROLE_ADMIN', ''],
  ['ROLE_ADMIN', 'technical_start:ASC'],
  ['ROLE_MANY', ''],
  ['ROLE_MANY', 'technical_start:DESC'],
])("an agent's week for %s, sort=%s, touches little but its recordings", async (role, sort) => {
  expect(await rowsTouched(role, `agent_id:Agent 3,technical_start:${WEEK}`, sort)).toBeLessThan(FEW);
});

test.each(['SCHEDULED', 'PROCESSED'])(
  'events that are %s are found by their index, whatever the planner thinks of reading here and there',
  async (status) => {
    await logged.pool.query('SET random_page_cost = 40');
    const rows = await rowsTouched('ROLE_ADMIN', `status:EVENTS.EVENTS.STATUS.${status}`, '');
    await logged.pool.query('RESET random_page_cost');
    expect(rows).toBeLessThan(COUNTED + FEW);
  },
);
