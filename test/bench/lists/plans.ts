import { type CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import { Principal } from '../../../src/access/principal.ts';
import type { Queryable } from '../../../src/database/kysely.ts';
import { findPart } from '../../../src/database/list/find.ts';
import type { List } from '../../../src/database/list/list.ts';
import { createPool } from '../../../src/database/pool.ts';
import type { DB } from '../../../src/database/schema.ts';
import { eventList } from '../../../src/events/list/event-list.ts';
import { EVENT_SORTS } from '../../../src/events/list/sorts.ts';
import { orderOf, parseSort } from '../../../src/http/list/sort-grammar.ts';
import { NEWEST_VERSION } from '../../../src/http/version.ts';
import { seriesList } from '../../../src/series/list/series-list.ts';
import { SERIES_SORTS } from '../../../src/series/list/sorts.ts';
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
    const asked = listOfCase(database, list);
    await findPart(database, asked, { skip: 0, take: PAGE + 1 });
    const texts = [`=== ${labelOf(list)}`];
    for (const { sql, parameters } of queries) {
      // The planner's estimate, which is a plan already.
      if (sql.trimStart().startsWith('EXPLAIN')) continue;
      const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE, BUFFERS) ${sql}`, [
        ...parameters,
      ]);
      texts.push(sql.replaceAll(/\s+/g, ' '), ...rows.map((row) => `  ${row['QUERY PLAN']}`));
    }
    return texts.join('\n');
  } finally {
    await database.destroy();
  }
}

function listOfCase(database: Queryable, { table, filter, sort, person }: ListCase): List {
  const principal = new Principal({
    username: 'bench',
    name: '',
    email: '',
    provider: '',
    roles: new Set(PEOPLE[person] ?? ['ROLE_ADMIN']),
  });
  const request = { database, principal, action: 'read', version: NEWEST_VERSION } as const;
  if (table === 'series') {
    return seriesList({ ...request, filter, order: orderOf(parseSort(sort), SERIES_SORTS) });
  }
  return eventList({ ...request, filters: [filter], order: orderOf(parseSort(sort), EVENT_SORTS) });
}
