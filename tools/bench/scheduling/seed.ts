import { type Kysely, sql } from 'kysely';
import type { Database } from '../../../src/platform/database/kysely.ts';
import type { DB } from '../../../src/platform/database/schema.ts';
import { withoutIndexesAndTriggers } from '../setup/bulk.ts';

export const AGENTS = 100;
/** Recordings that an agent has a day: each hour from `FIRST_HOUR` on, of so many minutes. */
export const A_DAY = 10;
export const FIRST_HOUR = 8;
export const MINUTES = 45;
/** A Monday in the future, whenever the benchmark runs. */
const FIRST_DAY = '2040-01-02T00:00:00Z';

/** An agent by its number. */
export const agentName = (number: number) => `Hall ${number % AGENTS}`;

/** So many minutes after midnight of a day, counted from the first one with recordings. */
export function timeOf(day: number, minutes: number): Date {
  return new Date(Date.parse(FIRST_DAY) + (day * 1440 + minutes) * 60_000);
}

/** Fills empty tables with so many recordings of each agent, day after day without a free one. */
export async function seedSchedules(database: Database, recordings: number): Promise<void> {
  await database.connection().execute(async (connection) => {
    await sql`SELECT setseed(0.42)`.execute(connection);
    await sql`SET synchronous_commit = off`.execute(connection);
    await sql`SET maintenance_work_mem = '512MB'`.execute(connection);
    await sql`
      INSERT INTO capture_agents (id) SELECT 'Hall ' || n FROM generate_series(0, ${AGENTS - 1}::integer) AS n
    `.execute(connection);
    await withoutIndexesAndTriggers(connection, ['events', 'event_acl', 'schedules'], async () => {
      await insertEvents(connection, recordings);
      await insertSchedules(connection);
      await insertAcls(connection);
    });
  });
  for (const table of ['events', 'event_acl', 'schedules', 'capture_agents']) {
    await sql`VACUUM (ANALYZE) ${sql.table(table)}`.execute(database);
  }
}

/** A term after the other, as they are planned. */
async function insertEvents(database: Kysely<DB>, recordings: number): Promise<void> {
  await sql`
    INSERT INTO events (id, title, presenters, location, publisher, creator, start_date, created, end_date, duration,
      agent_id, technical_start, technical_end, read_roles, write_roles, search_text)
    SELECT id, title, presenters, agent, 'University', 'planner', start_date, start_date, end_date,
      ${MINUTES * 60_000}::bigint, agent, start_date, end_date, ARRAY['ROLE_COURSE_' || course],
      ARRAY['ROLE_COURSE_' || course || '_TEACHER'],
      searchable(id, title, array_to_string(presenters, ' '), agent, 'University', 'planner')
    FROM (
      SELECT gen_random_uuid()::text AS id, 'Course ' || course || ', lecture ' || n AS title, course, agent,
        ARRAY['Professor ' || course % 2000] AS presenters, start_date,
        start_date + make_interval(mins => ${MINUTES}::integer) AS end_date
      FROM (
        SELECT 'Hall ' || number AS agent, n, number * 50 + n % 50 AS course,
          ${FIRST_DAY}::timestamptz + make_interval(days => n / ${A_DAY}::integer,
            hours => ${FIRST_HOUR}::integer + n % ${A_DAY}::integer) AS start_date
        FROM generate_series(0, ${recordings - 1}::integer) AS n,
          generate_series(0, ${AGENTS - 1}::integer) AS number
        ORDER BY n / 1000, number, n) AS planned) AS made`.execute(database);
}

async function insertSchedules(database: Kysely<DB>): Promise<void> {
  await sql`
    INSERT INTO schedules (event_id, agent_id, start_date, end_date, occupied, claimed, workflow)
    SELECT id, agent_id, technical_start, technical_end, occupied, tstzmultirange(occupied), 'schedule-and-upload'
    FROM events, tstzrange(technical_start, technical_end) AS occupied`.execute(database);
}

async function insertAcls(database: Kysely<DB>): Promise<void> {
  await sql`
    INSERT INTO event_acl (event_id, position, role, action, allow)
    SELECT id, 0, read_roles[1], 'read', true FROM events
    UNION ALL SELECT id, 1, write_roles[1], 'write', true FROM events`.execute(database);
}
