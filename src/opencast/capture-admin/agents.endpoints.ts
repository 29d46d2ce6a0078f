import type { Context } from 'hono';
import { z } from 'zod';
import { OTHER_AGENT, requireOwnAgent } from '#access/principal.ts';
import { ROLE_CAPTURE_AGENT } from '#access/roles/roles.ts';
import { propertiesXml } from '#capture/agents/agent-configuration.ts';
import { AGENT_ID, CONFIGURATION, CONFIGURATION_XML } from '#capture/agents/agent-examples.ts';
import {
  AGENT_READERS,
  type AgentFacts,
  agentParams,
  capabilitiesOf,
  forgetAgent,
  listAgentFacts,
  Properties,
  propertyItems,
  requireAgentFacts,
  UNKNOWN_AGENT,
  XML_ANSWER,
} from '#capture/agents/known-agent.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { PLAIN_TEXT, refusal } from '#platform/http/errors/errors.ts';
import { asJsonAndXml, element, elementsOf, xmlAnswer } from './json-and-xml.ts';

interface Services {
  database: Database;
}

const AGENT_IN_USE = refusal(
  409,
  (id: string) => `The capture agent '${id}' has scheduled recordings. Move or delete their events first.`,
  [AGENT_ID],
);

const Update = z.object({
  'agent-state-update': z.object({
    name: z.string(),
    state: z.string().describe('`offline` after two hours without a report.'),
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

const list = async (c: Context, database: Database, suffix: 'json' | 'xml') => {
  const agents = await listAgentFacts(database);
  if (suffix === 'xml') return xmlAnswer(c, element('agent-state-updates', agents.map(updateXml).join('')));
  return c.json({ agents: { agent: agents.map(shown) } });
};
const LIST = { method: 'get', access: AGENT_READERS, description: 'All known agents, by name.' } as const;
const XML_LIST = {
  ...LIST,
  answers: {
    200: {
      description: 'All known agents, by name.',
      ...XML_ANSWER,
      example: element('agent-state-updates', updateXml(FACTS)),
    },
  },
  handle: ({ c }: { c: Context }, { database }: Services) => list(c, database, 'xml'),
} as const;

const AGENT = { access: AGENT_READERS, params: agentParams, refusals: [UNKNOWN_AGENT] };

/** Declares the endpoints for properties of an agent. */
const propertiesOf = (name: string, read: (agent: AgentFacts) => Record<string, string>, of: PropertiesText) =>
  asJsonAndXml({
    ...AGENT,
    ...of,
    path: `/capture-admin/agents/{agent_id}/${name}`,
    answer: 'Its properties.',
    json: {
      of: propertiesJson,
      body: z.object({ 'properties-response': z.object({ properties: Properties }) }),
      example: propertiesJson(CONFIGURATION),
    },
    xml: {
      answer: (c, properties, id) =>
        c.body(propertiesXml(new Map(Object.entries(properties)), `Properties of ${id}`), 200, {
          'Content-Type': XML_ANSWER.mediaType,
        }),
      example: CONFIGURATION_XML,
    },
    load: async (database, id) => read(await requireAgentFacts(database, id)),
  });

interface PropertiesText {
  summary: string;
  description: string;
}

/** The states and configurations of capture agents, for displays and for other agents. */
export const AGENT_ENDPOINTS = [
  defineEndpoint({
    ...LIST,
    path: '/capture-admin/agents.json',
    operationId: 'getAgentStates',
    summary: 'List capture agents with their states',
    answers: {
      200: {
        description: 'All known agents, by name.',
        plain: true,
        body: z.object({ agents: z.object({ agent: z.array(Update.shape['agent-state-update']) }) }),
        example: { agents: { agent: [shown(FACTS)] } },
      },
    },
    handle: ({ c }, { database }: Services) => list(c, database, 'json'),
  }),
  defineEndpoint({
    ...XML_LIST,
    path: '/capture-admin/agents.xml',
    summary: 'List capture agents with their states, as XML',
  }),
  defineEndpoint({
    ...XML_LIST,
    path: '/capture-admin/agents',
    summary: 'List capture agents with their states, as XML (no suffix)',
  }),
  ...asJsonAndXml({
    ...AGENT,
    path: '/capture-admin/agents/{agent_id}',
    summary: 'Read the state of a capture agent',
    description: 'For displays outside lecture halls.',
    answer: 'The capture agent.',
    json: { of: updateJson, body: Update, example: updateJson(FACTS) },
    xml: { answer: (c, agent) => xmlAnswer(c, updateXml(agent)), example: element('agent-state-update', '') },
    load: requireAgentFacts,
  }),
  ...propertiesOf('capabilities', capabilitiesOf, {
    summary: 'Read the capabilities of a capture agent',
    description: 'The properties of its configuration that begin with `capture.device.`.',
  }),
  ...propertiesOf('configuration', ({ configuration }) => configuration, {
    summary: 'Read the configuration of a capture agent',
    description: 'As the agent reported it.',
  }),
  defineEndpoint({
    method: 'delete',
    path: '/capture-admin/agents/{agent_id}',
    access: [ROLE_CAPTURE_AGENT],
    summary: 'Delete a capture agent',
    description: 'An agent with scheduled recordings cannot be deleted. Finished recordings are kept.',
    params: agentParams,
    answers: {
      200: {
        description: 'Deleted. The agent is added again when it reports or when a recording is scheduled on it.',
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
      return c.body(`${id} removed`, 200, { 'Content-Type': PLAIN_TEXT });
    },
  }),
];

function propertiesJson(properties: Record<string, string>) {
  return { 'properties-response': { properties: propertyItems(properties) } };
}

function shown(agent: AgentFacts) {
  return {
    name: agent.id,
    state: agent.state,
    url: agent.url,
    'time-since-last-update': agent.silentMs,
    capabilities: propertyItems(capabilitiesOf(agent)),
  };
}

function updateJson(agent: AgentFacts) {
  return { 'agent-state-update': shown(agent) };
}

function updateXml(agent: AgentFacts): string {
  const { capabilities, ...facts } = shown(agent);
  const items = capabilities.item.map((item) => element('item', elementsOf(item)));
  return element('agent-state-update', elementsOf(facts) + element('capabilities', items.join('')));
}
