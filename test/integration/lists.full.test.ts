import { Kysely, PostgresDialect, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessCondition } from '#access/acl/acl.queries.ts';
import { anonymous } from '#access/principal.ts';
import { API_ROLES } from '#access/roles/api-roles.ts';
import { createApp } from '#app/app.ts';
import { EVENT_LIST } from '#catalogue/events/event-list.ts';
import { COUNTED, findPart } from '#platform/database/list/index.ts';
import { createPool } from '#platform/database/pool.ts';
import type { DB } from '#platform/database/schema.ts';
import { NEWEST_VERSION } from '#platform/http/answer/version.ts';
import { listingOf } from '#platform/http/list/index.ts';
import { ADMIN, createTestApp, type TestApp } from '../support/app.ts';
import { bytes } from '../support/bytes.ts';
import { databaseForThisFile } from '../support/database.ts';
import { giveAcl, licenseCatalog } from '../support/event-writes.ts';
import { openPagingBench, testAnyPages } from '../support/list-paging.ts';
import { type LoggedDatabase, loggedDatabase } from '../support/logged-database.ts';
import { type PlanNode, touchedBy } from '../support/plans.ts';
import { insertElement, insertPublication } from '../support/publication.ts';
import { insertScheduled } from '../support/scheduled-event.ts';
import { ace } from '../support/series.ts';
import { withoutIndexes } from '../support/without-indexes.ts';

const paging = await openPagingBench();
describe('pages', () => testAnyPages(paging, 20));

describe('costs', () => {
  const EVENTS = 30_000;
  /** More than any page below needs, and far less than all of them. */
  const MOST = 3_000;
  /** Those after them are scheduled, each agent every fifteen hours. */
  const UNSCHEDULED = 10_000;
  const AGENTS = 15;
  /** What an agent's week may touch: eleven recordings, not those of other agents or weeks. */
  const FEW = 150;

  const db = databaseForThisFile();
  let logged: LoggedDatabase;
  beforeAll(async () => {
    const tables = ['events', 'event_acl', 'schedules'] as const;
    await db.database.connection().execute((connection) => withoutIndexes(connection, tables, () => seed(connection)));
    await sql`VACUUM ANALYZE events`.execute(db.database);
    logged = loggedDatabase(db.url);
  });
  afterAll(() => logged?.database.destroy());

  async function seed(connection: Kysely<DB>): Promise<void> {
    await sql`INSERT INTO capture_agents (id)
      SELECT 'Agent ' || i FROM generate_series(0, ${AGENTS - 1}::integer) AS i`.execute(connection);
    await sql`
      INSERT INTO schedules (event_id, agent_id, start_date, end_date, workflow)
      SELECT 'e' || i, 'Agent ' || i % ${AGENTS}::integer, '2020-01-01Z'::timestamptz + i * interval '1 hour',
        '2020-01-01Z'::timestamptz + (i + 1) * interval '1 hour', 'none'
      FROM generate_series(${UNSCHEDULED + 1}::integer, ${EVENTS}::integer) AS i`.execute(connection);
    // Lists come before the events that show their roles.
    await connection.transaction().execute(async (trx) => {
      await sql`
      INSERT INTO event_acl (event_id, position, role, action, allow)
      SELECT 'e' || i, 0,
        CASE WHEN i <= 30 THEN 'ROLE_OLDEST' WHEN i % 1000 = 0 THEN 'ROLE_FEW' ELSE 'ROLE_MANY' END,
        'read', true FROM generate_series(1, ${EVENTS}) AS i`.execute(trx);
      await sql`
      INSERT INTO events (id, title, description, start_date, created, creator, subjects, location)
      SELECT 'e' || i, 'Lecture ' || i % 500, CASE WHEN i % 3000 = 7 THEN 'zymurgy' ELSE 'common words' END,
        '2020-01-01Z'::timestamptz + i * interval '1 hour', now(), 'Tester',
        ARRAY[CASE WHEN i <= 20 THEN 'oldest' WHEN i % 1500 = 0 THEN 'rare' ELSE 'common' END], 'Hall ' || i % 7
      FROM generate_series(1, ${EVENTS}) AS i`.execute(trx);
    });
  }

  /** How many rows the statements for a page touch, as their plans count them. */
  async function rowsTouched(role: string, filter: string, sort: string): Promise<number> {
    logged.forget();
    const access = accessCondition('events', anonymous.withRoles([role]), 'read');
    const listing = listingOf(EVENT_LIST, { access, filters: [filter], sort }, NEWEST_VERSION);
    const { entries } = await findPart(logged.database, listing, { skip: 0, take: 21 });
    expect(entries.length).toBeGreaterThan(0);
    const asked = logged.queries.filter(({ sql: text }) => !text.trimStart().startsWith('EXPLAIN'));
    let touched = 0;
    for (const { sql: text, parameters } of asked) {
      const explain = `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`;
      const { rows } = await logged.pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(explain, [...parameters]);
      for (const row of rows) touched += touchedBy(row['QUERY PLAN'][0].Plan);
    }
    return touched;
  }

  const WEEK = 'technical_start:2022-01-03T00:00:00Z/2022-01-09T23:59:59Z';
  const YEARS = 'technical_start:2020-01-01T00:00:00Z/2024-01-01T00:00:00Z';

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
    ['ROLE_ADMIN', WEEK, ''],
    ['ROLE_ADMIN', WEEK, 'title:ASC'],
    ['ROLE_ADMIN', `agent_id:Agent 3,${YEARS}`, ''],
    ['ROLE_MANY', `agent_id:Agent 3,${YEARS}`, 'technical_start:ASC'],
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
    expect(await rowsTouched(role, `agent_id:Agent 3,${WEEK}`, sort)).toBeLessThan(FEW);
  });

  test.each(['SCHEDULED', 'PROCESSED'])(
    'events that are %s are found by their index, whatever random page access costs',
    async (status) => {
      await logged.pool.query('SET random_page_cost = 40');
      const rows = await rowsTouched('ROLE_ADMIN', `status:EVENTS.EVENTS.STATUS.${status}`, '');
      await logged.pool.query('RESET random_page_cost');
      expect(rows).toBeLessThan(COUNTED + FEW);
    },
  );
});

describe('statements', () => {
  const EVENTS = 50;
  const SHOWN_AS: Record<string, string> = {
    ...{ withacl: 'acl', withpublications: 'publications' },
    ...{ withmetadata: 'metadata', withscheduling: 'scheduling' },
  };
  const WISHES = Object.keys(SHOWN_AS);

  let app: TestApp;
  let counted: Awaited<ReturnType<typeof createApp>>;
  let database: Kysely<DB>;
  let folder: Awaited<ReturnType<typeof licenseCatalog>>;
  let reader: string;
  let sent: string[];
  beforeAll(async () => {
    folder = await licenseCatalog();
    app = await createTestApp(undefined, { METADATA_DIR: folder.dir });
    const pool = createPool(app.context.databaseUrl, { onError: () => undefined });
    database = new Kysely<DB>({
      dialect: new PostgresDialect({ pool }),
      // The account that asks is remembered for a while.
      log: ({ query: { sql: text } }) => void (text.includes('"accounts"') || sent.push(text)),
    });
    counted = await createApp({ ...app.context, database });
    reader = await app.account('reader', ...API_ROLES, 'ROLE_READER');
    for (let number = 0; number < EVENTS; number += 1) {
      await fullEvent(number);
      const id = `series-${number}`;
      const entry = { series_id: id, position: 0, ...ace('ROLE_READER') };
      await app.database.insertInto('series').values({ id }).execute();
      await app.database.insertInto('series_acl').values(entry).execute();
    }
  });
  afterAll(async () => {
    await database?.destroy();
    await app?.close();
    await folder?.remove();
  });

  /** An event that has something of all that a list can show beside it. */
  async function fullEvent(number: number): Promise<void> {
    const agent_id = `Hall ${number}`;
    const period = { start: '2030-01-07T09:00:00Z', end: '2030-01-07T10:00:00Z' };
    const event_id = await insertScheduled(app.database, { agent_id, ...period });
    await giveAcl(app, event_id, [ace('ROLE_READER'), ace('ROLE_WRITER', 'write')]);
    const fields = JSON.stringify({ licensor: agent_id });
    const catalog = { event_id, flavor: 'license/episode', fields };
    await app.database.insertInto('event_catalogs').values(catalog).execute();
    await app.database.updateTable('events').set({ archive_version: 1 }).where('id', '=', event_id).execute();
    const publication_id = await insertPublication(app.database, event_id);
    const element = { event_id, publication_id, kind: 'attachment' } as const;
    await insertElement(app.database, app.storage, bytes(10), element);
  }

  /** @returns the rows of a page, and the statements that it took */
  async function page(path: string, authorization: string) {
    sent = [];
    const answer = await counted.request(path, { headers: { Authorization: authorization } });
    expect(answer.status).toBe(200);
    return { rows: (await answer.json()) as Record<string, unknown>[], statements: sent };
  }

  test.each([
    ['events', []],
    ...WISHES.map((wish) => ['events', [wish]] as const),
    ['events', WISHES],
    ['series', []],
    ['series', ['withacl']],
  ] as const)('a page of %s %j takes as many statements for few as for many', async (list, wishes) => {
    for (const authorization of [ADMIN, reader]) {
      const bare = await page(`/api/${list}?limit=1`, authorization);
      const query = wishes.map((wish) => `&${wish}=true`).join('');
      for (const size of [1, 10, EVENTS]) {
        const { rows, statements } = await page(`/api/${list}?limit=${size}${query}`, authorization);
        expect(rows).toHaveLength(size);
        for (const row of rows) expect(missing(row, wishes)).toEqual([]);
        expect(statements.length, statements.join('\n')).toBe(bare.statements.length + wishes.length);
      }
    }
  });

  /** What was wished for and a row of the list lacks, or has empty. */
  const missing = (row: Record<string, unknown>, wishes: readonly string[]) =>
    wishes.filter((wish) => Object.keys(row[SHOWN_AS[wish] ?? ''] ?? {}).length === 0);
});
