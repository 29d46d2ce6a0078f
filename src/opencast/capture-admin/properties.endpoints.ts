import type { Context } from 'hono';
import { z } from 'zod';
import { CONFIGURATION, CONFIGURATION_XML } from '#capture/agents/examples.ts';
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
import { propertiesXml } from '#capture/agents/properties-xml.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';

interface Services {
  database: Database;
}

const PROPERTIES = {
  method: 'get',
  access: AGENT_READERS,
  params: agentParams,
  refusals: [UNKNOWN_AGENT],
} as const;
const JSON_PROPERTIES = {
  200: {
    description: 'Its properties.',
    plain: true,
    body: z.object({ 'properties-response': z.object({ properties: Properties }) }),
    example: propertiesJson(CONFIGURATION),
  },
} as const;
const XML_PROPERTIES = {
  200: { description: 'Its properties.', ...XML_ANSWER, example: CONFIGURATION_XML },
} as const;

export const readCapabilities = defineEndpoint({
  ...PROPERTIES,
  path: '/capture-admin/agents/{agent_id}/capabilities.json',
  summary: 'Read what a capture agent can record',
  description: 'The properties of its configuration that begin with `capture.device.`.',
  answers: JSON_PROPERTIES,
  handle: async ({ c, params }, { database }: Services) =>
    c.json(propertiesJson(capabilitiesOf(await knownAgent(database, params.agent_id)))),
});

export const readCapabilitiesXml = defineEndpoint({
  ...PROPERTIES,
  path: '/capture-admin/agents/{agent_id}/capabilities.xml',
  summary: 'Read what a capture agent can record, as XML',
  description: 'The same as the JSON.',
  answers: XML_PROPERTIES,
  handle: async ({ c, params }, { database }: Services) =>
    answerProperties(c, params.agent_id, capabilitiesOf(await knownAgent(database, params.agent_id))),
});

export const readConfigurationOfAgent = defineEndpoint({
  ...PROPERTIES,
  path: '/capture-admin/agents/{agent_id}/configuration.json',
  summary: 'Read the configuration of a capture agent',
  description: 'As it has told it.',
  answers: JSON_PROPERTIES,
  handle: async ({ c, params }, { database }: Services) =>
    c.json(propertiesJson((await knownAgent(database, params.agent_id)).configuration)),
});

export const readConfigurationXml = defineEndpoint({
  ...PROPERTIES,
  path: '/capture-admin/agents/{agent_id}/configuration.xml',
  summary: 'Read the configuration of a capture agent, as XML',
  description: 'The same as the JSON.',
  answers: XML_PROPERTIES,
  handle: async ({ c, params }, { database }: Services) =>
    answerProperties(c, params.agent_id, (await knownAgent(database, params.agent_id)).configuration),
});

function propertiesJson(properties: Record<string, string>) {
  return { 'properties-response': { properties: itemsOf(properties) } };
}

function answerProperties(c: Context, id: string, properties: Record<string, string>): Response {
  const xml = propertiesXml(new Map(Object.entries(properties)), `Properties of ${id}`);
  return c.body(xml, 200, { 'Content-Type': 'text/xml; charset=utf-8' });
}
