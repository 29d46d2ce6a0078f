import { type Expression, type SqlBool, sql } from 'kysely';
import { mayAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { type Condition, hasValue } from '#platform/database/list/index.ts';
import { equals, type ListedResource } from '#platform/http/list/index.ts';
import { type WorkflowRow, workflowRows } from './queries.ts';
import { WORKFLOW_MOVES } from './states.ts';
import { INVALID_STATE } from './workflow.schemas.ts';

const STATE = sql.ref('workflows.state');
const CREATED = {
  name: 'created',
  expression: sql.ref('workflows.created_at'),
  kind: 'instant',
} as const;

/** The list of workflows, the latest first: what it can be filtered by, and what it shows. An index has each (sql/0026). */
export const WORKFLOW_LIST: ListedResource<WorkflowRow> = {
  table: 'workflows',
  shown: (database: Queryable, id: Expression<string>) =>
    workflowRows(database).where('id', '=', sql<number>`${id}::bigint`).limit(1),
  sorts: {
    criteria: { created: CREATED },
    standard: { ...CREATED, descending: true },
    identifier: { name: 'identifier', expression: sql.ref('workflows.id'), kind: 'number' },
  },
  filters: {
    state: { repeated: 'any', condition: inStates },
    definition: equals(sql.ref('workflows.definition')),
    event: {
      repeated: 'any',
      condition: (ids) => ({ test: sql`workflows.event_id = ANY(${[...ids]}::text[])`, few: true }),
    },
  },
};

function inStates(values: readonly [string, ...string[]]): Condition {
  const states = values.map(storedState);
  const [first = ''] = states;
  return states.length === 1
    ? hasValue(STATE, first)
    : { test: sql<SqlBool>`${STATE} = ANY(${states}::text[])` };
}

function storedState(value: string): string {
  const state = value.toUpperCase();
  if (!Object.hasOwn(WORKFLOW_MOVES, state)) throw INVALID_STATE(value.slice(0, 100));
  return state;
}

/** Workflows of events that the principal may read, as a condition; undefined for whoever may see all. */
export function accessibleWorkflows(principal: Principal): Expression<SqlBool> | undefined {
  if (principal.isAdmin()) return undefined;
  return sql<SqlBool>`EXISTS (SELECT FROM events
    WHERE events.id = workflows.event_id AND ${mayAccess('events', principal, 'read')})`;
}
