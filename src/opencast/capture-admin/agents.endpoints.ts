import { z } from 'zod';
import { OTHER_AGENT, requireOwnAgent } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { ROLE_CAPTURE_AGENT } from '#access/roles/roles.ts';
import { propertiesXml } from '#capture/agents/agent-configuration.ts';
import { AGENT_ID, CONFIGURATION, CONFIGURATION_XML } from '#capture/agents/agent-examples.ts';
import { AGENT_IN_USE, forgetAgent, UNKNOWN_AGENT } from '#capture/agents/forget-agent.ts';
import { defineEndpoint, type EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { pathParameter } from '#platform/http/endpoint/endpoint-schemas.ts';
import { TEXT_ANSWER, textResponse, XML_ANSWER, xmlResponse } from '../text-answers.ts';
import { type AgentFacts, listAgentFacts, requireAgentFacts } from './agent-facts.ts';
import { type AgentServices, agentXml, asJsonAndXml, element, elementsOf } from './json-and-xml.ts';

/** The roles that may read agents through the agents' own protocol. */
const AGENT_READERS = [ROLE_CAPTURE_AGENT, ...apiRole('CAPTURE_AGENTS_VIEW')];
const agentParams = { agent_id: pathParameter('Name of the capture agent.', AGENT_ID) };
const CAPABILITY = /^capture\.device\./;

/** Agent properties in JSON. */
const Properties = z.object({ item: z.array(z.object({ key: z.string(), value: z.string() })) });
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

const ALL = 'All known agents, by name.';
const LIST = { method: 'get', access: AGENT_READERS, description: ALL } as const;
const XML_LIST = {
  ...LIST,
  answers: { 200: { description: ALL, ...XML_ANSWER, example: element('agent-state-updates', updateXml(FACTS)) } },
  handle: async ({ c }: EndpointRequest, { database }: AgentServices) => {
    const agents = await listAgentFacts(database);
    return agentXml(c, element('agent-state-updates', agents.map(updateXml).join('')));
  },
} as const;

const AGENT = { access: AGENT_READERS, params: agentParams, refusals: [UNKNOWN_AGENT] };

/** Declares the endpoints for properties of an agent. */
const propertiesOf = (
  name: string,
  read: (agent: AgentFacts) => Record<string, string>,
  of: { summary: string; description: string },
) =>
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
        xmlResponse(c, propertiesXml(new Map(Object.entries(properties)), `Properties of ${id}`)),
      example: CONFIGURATION_XML,
    },
    load: async (database, id) => read(await requireAgentFacts(database, id)),
  });

/** The states and configurations of capture agents, for displays and for other agents. */
export const AGENT_ENDPOINTS = [
  defineEndpoint({
    ...LIST,
    path: '/capture-admin/agents.json',
    operationId: 'getAgentStates',
    summary: 'List capture agents with their states',
    answers: {
      200: {
        description: ALL,
        plain: true,
        body: z.object({ agents: z.object({ agent: z.array(Update.shape['agent-state-update']) }) }),
        example: { agents: { agent: [shown(FACTS)] } },
      },
    },
    handle: async ({ c }, { database }: AgentServices) =>
      c.json({ agents: { agent: (await listAgentFacts(database)).map(shown) } }),
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
    xml: { answer: (c, agent) => agentXml(c, updateXml(agent)), example: element('agent-state-update', '') },
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
        ...TEXT_ANSWER,
        example: `${AGENT_ID} removed`,
      },
    },
    refusals: [UNKNOWN_AGENT, AGENT_IN_USE, OTHER_AGENT],
    handle: async ({ c, params }, { database }: AgentServices) => {
      const id = params.agent_id;
      requireOwnAgent(c.var.principal, id);
      await forgetAgent(database, id);
      return textResponse(c, `${id} removed`);
    },
  }),
];

/** Returns the configuration properties that describe the agent's devices. */
function capabilitiesOf({ configuration }: AgentFacts): Record<string, string> {
  return Object.fromEntries(Object.entries(configuration).filter(([key]) => CAPABILITY.test(key)));
}

function propertyItems(properties: Record<string, string>): z.infer<typeof Properties> {
  return { item: Object.entries(properties).map(([key, value]) => ({ key, value })) };
}

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
