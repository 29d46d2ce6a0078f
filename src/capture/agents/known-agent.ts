import { z } from 'zod';
import { apiRole } from '#access/roles/api-roles.ts';
import { ROLE_CAPTURE_AGENT } from '#access/roles/roles.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { pathParameter } from '#platform/http/endpoint/schemas.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { AGENT_ID } from './examples.ts';
import { type AgentFacts, findAgentFacts } from './facts.queries.ts';

export const UNKNOWN_AGENT = refusal(404, (id: string) => `The capture agent '${id}' does not exist.`, [AGENT_ID]);

/** The roles that may read agents through the agents' own protocol. */
export const AGENT_READERS = [ROLE_CAPTURE_AGENT, ...apiRole('CAPTURE_AGENTS_VIEW')];
export const agentParams = { agent_id: pathParameter('Name of the capture agent.', AGENT_ID) };
export const XML_ANSWER = { mediaType: 'text/xml; charset=utf-8', body: z.string() } as const;

/** Agent properties in JSON. */
export const Properties = z.object({ item: z.array(z.object({ key: z.string(), value: z.string() })) });

const CAPABILITY = /^capture\.device\./;

export async function requireAgentFacts(db: Queryable, id: string): Promise<AgentFacts> {
  const agent = await findAgentFacts(db, id);
  if (!agent) throw UNKNOWN_AGENT(id);
  return agent;
}

/** Returns the configuration properties that describe the agent's devices. */
export function capabilitiesOf({ configuration }: AgentFacts): Record<string, string> {
  return Object.fromEntries(Object.entries(configuration).filter(([key]) => CAPABILITY.test(key)));
}

/** Converts properties to the JSON form. */
export function propertyItems(properties: Record<string, string>): z.infer<typeof Properties> {
  return { item: Object.entries(properties).map(([key, value]) => ({ key, value })) };
}
