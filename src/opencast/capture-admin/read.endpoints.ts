import type { Context } from 'hono';
import { z } from 'zod';
import { OTHER_AGENT, requireOwnAgent } from '#access/principal.ts';
import { ROLE_CAPTURE_AGENT } from '#access/roles/roles.ts';
import { AGENT_ID, CONFIGURATION } from '#capture/agents/examples.ts';
import { type AgentFacts, allAgentFacts, forgetAgent } from '#capture/agents/facts.queries.ts';
import {
  AGENT_READERS,
  agentParams,
  capabilitiesOf,
  itemsOf,
  knownAgent,
  Properties,
  UNKNOWN_AGENT,
  XML_ANSWER,
} from '#capture/agents/known-agent.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { SENTENCE } from '#platform/http/errors/errors.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { element, xmlAnswer } from './legacy-xml.ts';

interface Services {
  database: Database;
}

export const AGENT_IN_USE = refusal(
  409,
  (id: string) => `The capture agent '${id}' has recordings to make; move or delete their events first.`,
  [AGENT_ID],
);

const Update = z.object({
  'agent-state-update': z.object({
    name: z.string(),
    state: z.string().describe('`offline` after two hours of silence.'),
    url: z.string(),
    'time-since-last-update': z.int().describe('In milliseconds.'),
    capabilities: Properties,
  }),
});
const FACTS: AgentFacts = {
  id: AGENT_ID,
  state: 'idle',
  url: 'http://room-1.example.org:8000',
  silentMs: 4711,
  configuration: CONFIGURATION,
};

/** A capture agent as displays in front of halls ask for it. */
export const readAgentState = defineEndpoint({
  method: 'get',
  path: '/capture-admin/agents/{agent_id}.json',
  access: AGENT_READERS,
  summary: 'Read the state of a capture agent',
  description: 'As displays in front of halls ask for it.',
  params: agentParams,
  answers: {
    200: { description: 'The capture agent.', plain: true, body: Update, example: updateJson(FACTS) },
  },
  refusals: [UNKNOWN_AGENT],
  handle: async ({ c, params }, { database }: Services) =>
    c.json(updateJson(await knownAgent(database, params.agent_id))),
});

export const readAgentStateXml = defineEndpoint({
  method: 'get',
  path: '/capture-admin/agents/{agent_id}.xml',
  access: AGENT_READERS,
  summary: 'Read the state of a capture agent, as XML',
  description: 'The same as the JSON.',
  params: agentParams,
  answers: {
    200: { description: 'The capture agent.', ...XML_ANSWER, example: element('agent-state-update', '') },
  },
  refusals: [UNKNOWN_AGENT],
  handle: async ({ c, params }, { database }: Services) =>
    xmlAnswer(c, updateXml(await knownAgent(database, params.agent_id))),
});

const list = async (c: Context, database: Database, suffix: 'json' | 'xml') => {
  const agents = await allAgentFacts(database);
  if (suffix === 'xml') return xmlAnswer(c, element('agent-state-updates', agents.map(updateXml).join('')));
  return c.json({ agents: { agent: agents.map(shown) } });
};

export const listAgentStates = defineEndpoint({
  method: 'get',
  path: '/capture-admin/agents.json',
  access: AGENT_READERS,
  operationId: 'getAgentStates',
  summary: 'List capture agents with their states',
  description: 'All that are known, by name.',
  answers: {
    200: {
      description: 'All that are known, by name.',
      plain: true,
      body: z.object({ agents: z.object({ agent: z.array(Update.shape['agent-state-update']) }) }),
      example: { agents: { agent: [shown(FACTS)] } },
    },
  },
  handle: ({ c }, { database }: Services) => list(c, database, 'json'),
});

const XML_LIST = {
  method: 'get',
  access: AGENT_READERS,
  answers: {
    200: {
      description: 'All that are known, by name.',
      ...XML_ANSWER,
      example: element('agent-state-updates', updateXml(FACTS)),
    },
  },
  handle: ({ c }: { c: Context }, { database }: Services) => list(c, database, 'xml'),
} as const;

export const listAgentStatesXml = defineEndpoint({
  ...XML_LIST,
  path: '/capture-admin/agents.xml',
  summary: 'List capture agents with their states, as XML',
  description: 'The same as the JSON.',
});

export const listAgentStatesPlain = defineEndpoint({
  ...XML_LIST,
  path: '/capture-admin/agents',
  summary: 'List capture agents with their states, as XML as well',
  description: 'The same as the JSON.',
});

export const deleteAgent = defineEndpoint({
  method: 'delete',
  path: '/capture-admin/agents/{agent_id}',
  access: [ROLE_CAPTURE_AGENT],
  summary: 'Forget a capture agent',
  description: 'One that has recordings to make stays. What it has recorded is left as it is.',
  params: agentParams,
  answers: {
    200: {
      description: 'It is gone, until it reports again or something is scheduled on it.',
      mediaType: 'text/plain; charset=utf-8',
      body: z.string(),
      example: `${AGENT_ID} removed`,
    },
  },
  refusals: [UNKNOWN_AGENT, AGENT_IN_USE, OTHER_AGENT],
  handle: async ({ c, params }, { database }: Services) => {
    const id = params.agent_id;
    requireOwnAgent(c.var.principal, id);
    const outcome = await forgetAgent(database, id);
    if (outcome === 'missing') throw UNKNOWN_AGENT(id);
    if (outcome === 'in use') throw AGENT_IN_USE(id);
    return c.body(`${id} removed`, 200, { 'Content-Type': SENTENCE });
  },
});

function shown(agent: AgentFacts) {
  return {
    name: agent.id,
    state: agent.state,
    url: agent.url,
    'time-since-last-update': agent.silentMs,
    capabilities: itemsOf(capabilitiesOf(agent)),
  };
}

function updateJson(agent: AgentFacts) {
  return { 'agent-state-update': shown(agent) };
}

function updateXml(agent: AgentFacts): string {
  const { capabilities, ...facts } = shown(agent);
  const fields = Object.entries(facts).map(([name, value]) => element(name, String(value), 'text'));
  const items = capabilities.item.map(({ key, value }) =>
    element('item', element('key', key, 'text') + element('value', value, 'text')),
  );
  return element('agent-state-update', [...fields, element('capabilities', items.join(''))].join(''));
}
