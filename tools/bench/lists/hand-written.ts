import type pg from 'pg';
import { type ListCase, PAGE, PEOPLE } from './cases.ts';
import { COLUMNS } from './columns.ts';

/** The place of a row deep in the list. */
export interface DeepRow {
  start_date: Date;
  id: string;
}

/** The ways in which somebody who knows the data would ask for the page. */
export function handWritten(list: ListCase, deep: DeepRow | undefined): pg.QueryConfig[] {
  const { table, person, deep: isDeep, orderBy } = list;
  const roles = PEOPLE[person];
  const values: unknown[] = roles ? [roles] : [];
  const access = roles ? 'read_roles && $1::text[]' : 'true';
  const place =
    isDeep && deep
      ? `(start_date, id) < ($${values.push(deep.start_date)}::timestamptz, $${values.push(deep.id)}::text)`
      : 'true';
  const order = `ORDER BY ${orderBy.join(', ')} LIMIT ${PAGE}`;
  const columns = COLUMNS[table];
  const all = [access, list.where, place].join(' AND ');
  // The planner's choice; all matches, sorted; the matches of the access rights, looked through and sorted.
  return [
    `SELECT ${columns} FROM ${table} WHERE ${all} ${order}`,
    `WITH matches AS MATERIALIZED (SELECT * FROM ${table} WHERE ${all})
     SELECT ${columns} FROM (SELECT * FROM matches ${order}) AS ${table} ${order}`,
    ...(roles
      ? [
          `WITH matches AS MATERIALIZED (SELECT * FROM ${table} WHERE ${access})
           SELECT ${columns} FROM (SELECT * FROM matches WHERE ${list.where} AND ${place} ${order}) AS ${table} ${order}`,
        ]
      : []),
  ].map((text) => ({ text, values }));
}
