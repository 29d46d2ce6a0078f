import { type CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import { accessCondition } from '../../../src/access/acl/acl.queries.ts';
import { Principal } from '../../../src/access/principal.ts';
import { EVENT_LIST } from '../../../src/catalogue/events/event-list.ts';
import { SERIES_LIST } from '../../../src/catalogue/series/series-list.ts';
import { findPart, type Listing } from '../../../src/platform/database/list/index.ts';
import { createPool } from '../../../src/platform/database/pool.ts';
import type { DB } from '../../../src/platform/database/schema.ts';
import { NEWEST_VERSION } from '../../../src/platform/http/answer/version.ts';
import { listingOf } from '../../../src/platform/http/list/index.ts';
import { type ListCase, labelOf, PAGE, PEOPLE } from './cases.ts';

/** The plans of the queries that Inlet finds and counts a list with, as text. */
export async function plansOf(databaseUrl: string, list: ListCase): Promise<string> {
  const queries: CompiledQuery[] = [];
  const pool = createPool(databaseUrl, { max: 1, onError: () => undefined });
  const database = new Kysely<DB>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => void queries.push(query),
  });
  try {
    await findPart(database, listingOfCase(list), { skip: 0, take: PAGE + 1 });
    const texts = [`=== ${labelOf(list)}`];
    for (const { sql, parameters } of queries) {
      // The planner's estimate, which is a plan already.
      if (sql.trimStart().startsWith('EXPLAIN')) continue;
      const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE, BUFFERS) ${sql}`, [...parameters]);
      texts.push(sql.replaceAll(/\s+/g, ' '), ...rows.map((row) => `  ${row['QUERY PLAN']}`));
    }
    return texts.join('\n');
  } finally {
    await database.destroy();
  }
}

function listingOfCase({ table, filter, sort, person }: ListCase): Listing {
  const principal = new Principal({
    username: 'bench',
    name: '',
    email: '',
    provider: '',
    roles: new Set(PEOPLE[person] ?? ['ROLE_ADMIN']),
  });
  const request = { filters: [filter], sort };
  if (table === 'series') {
    const access = accessCondition('series', principal, 'read');
    return listingOf(SERIES_LIST, { ...request, access }, NEWEST_VERSION);
  }
  const access = accessCondition('events', principal, 'read');
  return listingOf(EVENT_LIST, { ...request, access }, NEWEST_VERSION);
}
