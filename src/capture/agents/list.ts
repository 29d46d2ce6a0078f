import { sql } from 'kysely';
import { formatInstant } from '#metadata/time.ts';
import type { ListedResource } from '#platform/http/list/index.ts';
import type { AgentJson } from './agent.schemas.ts';
import { type AgentRow, shownAgent } from './agents.queries.ts';

/** What stands for all that are known; clients cannot ask for others. */
export const KNOWN = { known: 'true' };

/** The list of capture agents, by identifier: it can neither be filtered nor sorted, and everybody may see all. */
export const AGENT_LIST: ListedResource<AgentRow> = {
  table: 'capture_agents',
  shown: shownAgent,
  sorts: {
    criteria: {},
    identifier: { name: 'agent_id', expression: sql.ref('capture_agents.id'), kind: 'text' },
  },
  filters: { known: { condition: () => ({ test: sql`NOT capture_agents.forgotten` }) } },
};

/** A capture agent as the API shows it. */
export function agentJson({ id, status, inputs, updated, url }: AgentRow): AgentJson {
  return { agent_id: id, status, inputs, update: formatInstant(updated), url };
}
