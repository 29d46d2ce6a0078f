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
    node['Actual Rows'] +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0);
  const own = node['Relation Name'] || node['Index Name'] ? rows * node['Actual Loops'] : 0;
  return (node.Plans ?? []).reduce((sum, part) => sum + touchedBy(part), own);
}
