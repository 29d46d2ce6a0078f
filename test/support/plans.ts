import type { Kysely } from 'kysely';
import type { DB } from '#platform/database/schema.ts';
import type { LoggedDatabase } from './logged-database.ts';

/** A step of a statement's plan, as `EXPLAIN (ANALYZE, FORMAT JSON)` tells it. */
export interface PlanNode {
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
}

/** How many rows of tables and indexes a step and those below it have read, whether they were of use or not. */
export function touchedBy(node: PlanNode): number {
  const rows =
    node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  const own = node['Relation Name'] || node['Index Name'] ? rows * node['Actual Loops'] : 0;
  return (node.Plans ?? []).reduce((sum, part) => sum + touchedBy(part), own);
}

/** How many rows the statements of some work touch, as their plans count them, and those plans. */
export async function costsOf(
  logged: LoggedDatabase,
  work: (db: Kysely<DB>) => Promise<unknown>,
): Promise<{ touched: number; plan: string }> {
  logged.forget();
  await work(logged.database);
  const costs = { touched: 0, plan: '' };
  for (const { sql: text, parameters } of logged.queries) {
    const explain = async (options: string) =>
      (await logged.pool.query(`EXPLAIN (ANALYZE${options}) ${text}`, [...parameters])).rows.map(
        (row) => row['QUERY PLAN'],
      );
    const [json] = await explain(', FORMAT JSON');
    costs.touched += touchedBy(json[0].Plan);
    costs.plan += (await explain('')).join('\n');
  }
  return costs;
}
