import { sql } from 'kysely';
import { apiRole } from '#access/roles/api-roles.ts';
import { formatInstant } from '#metadata/date-time.ts';
import type { Database } from '#platform/database/kysely.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { NO_WHOLE_NUMBER, pathParameter } from '#platform/http/endpoint/endpoint-schemas.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { type ListedResource, listHeaders, PageQuery, respondWithList } from '#platform/http/list/index.ts';
import { Agent, type AgentJson, AgentList } from './agent.schemas.ts';
import { AGENT, AGENT_ID } from './agent-examples.ts';
import { type AgentRow, findAgent, shownAgent } from './agents.queries.ts';

/** A fixed filter; clients cannot set filters. */
const KNOWN = { known: 'true' };

/** The list of capture agents by identifier. It has no filters, sort orders or ACLs. */
const AGENT_LIST: ListedResource<AgentRow> = {
  table: 'capture_agents',
  shown: shownAgent,
  sorts: {
    criteria: {},
    identifier: { name: 'agent_id', expression: sql.ref('capture_agents.id'), kind: 'text' },
  },
  filters: { known: { condition: () => ({ test: sql`NOT capture_agents.forgotten` }) } },
};

function agentJson({ id, status, inputs, updated, url }: AgentRow): AgentJson {
  return { agent_id: id, status, inputs, update: formatInstant(updated), url };
}

const AGENT_MISSING = refusal(404, (id: string) => `Cannot find an agent with id '${id}'.`, [AGENT_ID]);

interface Services {
  config: { publicUrl: string };
  database: Database;
}

export const listAgents = defineEndpoint({
  method: 'get',
  path: '/api/agents',
  since: '1.1.0',
  access: apiRole('CAPTURE_AGENTS_VIEW'),
  summary: 'List capture agents',
  description: 'Sorted by identifier. Without `limit`, all capture agents.',
  query: PageQuery,
  answers: {
    200: {
      description: 'A page of capture agents.',
      body: AgentList,
      example: [AGENT],
      headers: listHeaders('/api/agents'),
    },
  },
  refusals: [NO_WHOLE_NUMBER],
  handle: ({ c }, { config, database }: Services) =>
    respondWithList(c, AGENT_LIST, {
      database,
      url: `${config.publicUrl}/api/agents`,
      access: undefined,
      criteria: KNOWN,
      json: async (agents) => agents.map(agentJson),
    }),
});

export const readAgent = defineEndpoint({
  method: 'get',
  path: '/api/agents/{agent_id}',
  since: '1.1.0',
  access: apiRole('CAPTURE_AGENTS_VIEW'),
  summary: 'Read a capture agent',
  description: 'Agents become known by a report or by a scheduled recording.',
  params: { agent_id: pathParameter('Name of the capture agent.', AGENT_ID) },
  answers: { 200: { description: 'The capture agent.', body: Agent, example: AGENT } },
  refusals: [AGENT_MISSING],
  handle: async ({ c, params }, { database }: Services) => {
    const agent = await findAgent(database, params.agent_id);
    if (!agent) throw AGENT_MISSING(params.agent_id);
    return versionedJson(c, agentJson(agent));
  },
});
