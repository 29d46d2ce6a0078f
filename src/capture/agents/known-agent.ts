import { sql } from 'kysely';
import { z } from 'zod';
import { apiRole } from '#access/roles/api-roles.ts';
import { ROLE_CAPTURE_AGENT } from '#access/roles/roles.ts';
import type { Database, Queryable } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { pathParameter } from '#platform/http/endpoint/endpoint-schemas.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import type { AgentState } from './agent.schemas.ts';
import { AGENT_ID } from './agent-examples.ts';
import { stateUnlessSilent } from './agents.queries.ts';

export interface AgentFacts {
  id: string;
  state: AgentState;
  url: string;
  silentMs: number;
  configuration: Record<string, string>;
}

/** Displays show `offline` after this time: some agents report every five minutes and not during breaks. */
const OFFLINE_SECONDS = 2 * 3600;
const MOST_AGENTS = 10_000;

async function findAgentFacts(database: Queryable, id: string): Promise<AgentFacts | undefined> {
  return (await selectFacts(database).where('id', '=', id).executeTakeFirst()) as AgentFacts | undefined;
}

export async function listAgentFacts(database: Queryable): Promise<AgentFacts[]> {
  return (await selectFacts(database).orderBy('id').limit(MOST_AGENTS).execute()) as AgentFacts[];
}

/** The values of an agent that never reported. */
const UNREPORTED = {
  ...{ state: 'unknown', state_since: null, seen_at: null, url: '', inputs: [], time_zone: 'UTC' },
  configuration: '{}',
};

/** Removes an agent without future recordings. Its row stays, as past recordings refer to it. */
export function forgetAgent(database: Database, id: string): Promise<'forgotten' | 'missing' | 'in use'> {
  return inTransaction(database, async (trx) => {
    const known = await trx
      .selectFrom('capture_agents')
      .select('id')
      .where('id', '=', id)
      .where('forgotten', '=', false)
      .forUpdate()
      .executeTakeFirst();
    if (!known) return 'missing';
    const planned = await trx
      .selectFrom('schedules')
      .select('event_id')
      .where('agent_id', '=', id)
      .where('end_date', '>', sql<Date>`now()`)
      .limit(1)
      .executeTakeFirst();
    if (planned) return 'in use';
    await trx
      .updateTable('capture_agents')
      .set({ ...UNREPORTED, forgotten: true })
      .where('id', '=', id)
      .execute();
    return 'forgotten';
  });
}

function selectFacts(database: Queryable) {
  return database
    .selectFrom('capture_agents')
    .where('forgotten', '=', false)
    .select(['id', 'url', 'configuration'])
    .select([
      stateUnlessSilent(OFFLINE_SECONDS).as('state'),
      sql<number>`floor(extract(epoch FROM now() - coalesce(seen_at, known_since)) * 1000)::float8`.as('silentMs'),
    ]);
}

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
