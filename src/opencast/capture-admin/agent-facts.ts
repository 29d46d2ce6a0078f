import { sql } from 'kysely';
import type { AgentState } from '#capture/agents/agent.schemas.ts';
import { AGENT_ID } from '#capture/agents/agent-examples.ts';
import { stateUnlessSilent } from '#capture/agents/agents.queries.ts';
import type { Database, Queryable } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { refusal } from '#platform/http/errors/errors.ts';

export const UNKNOWN_AGENT = refusal(404, (id: string) => `The capture agent '${id}' does not exist.`, [AGENT_ID]);
export const AGENT_IN_USE = refusal(
  409,
  (id: string) => `The capture agent '${id}' has scheduled recordings. Move or delete their events first.`,
  [AGENT_ID],
);

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

/** Reads a known agent. @throws {HttpError} 404 */
export async function requireAgentFacts(db: Queryable, id: string): Promise<AgentFacts> {
  const agent = await selectFacts(db).where('id', '=', id).executeTakeFirst();
  if (!agent) throw UNKNOWN_AGENT(id);
  return agent as AgentFacts;
}

/** Lists the known agents by name. */
export async function listAgentFacts(db: Queryable): Promise<AgentFacts[]> {
  return (await selectFacts(db).orderBy('id').limit(MOST_AGENTS).execute()) as AgentFacts[];
}

/** The values of an agent that never reported. */
const UNREPORTED = {
  ...{ state: 'unknown', state_since: null, seen_at: null, url: '', inputs: [], time_zone: 'UTC' },
  configuration: '{}',
};

/**
 * Removes an agent without future recordings. Its row stays, as past recordings refer to it.
 *
 * @throws {HttpError} 404 for an unknown agent, 409 if recordings are scheduled on it
 */
export function forgetAgent(database: Database, id: string): Promise<void> {
  return inTransaction(database, async (trx) => {
    const known = await trx
      .selectFrom('capture_agents')
      .select('id')
      .where('id', '=', id)
      .where('forgotten', '=', false)
      .forUpdate()
      .executeTakeFirst();
    if (!known) throw UNKNOWN_AGENT(id);
    const planned = await trx
      .selectFrom('schedules')
      .select('event_id')
      .where('agent_id', '=', id)
      .where('end_date', '>', sql<Date>`now()`)
      .limit(1)
      .executeTakeFirst();
    if (planned) throw AGENT_IN_USE(id);
    const agent = trx.updateTable('capture_agents').where('id', '=', id);
    await agent.set({ ...UNREPORTED, forgotten: true }).execute();
  });
}

function selectFacts(db: Queryable) {
  return db
    .selectFrom('capture_agents')
    .where('forgotten', '=', false)
    .select(['id', 'url', 'configuration'])
    .select([
      stateUnlessSilent(OFFLINE_SECONDS).as('state'),
      sql<number>`floor(extract(epoch FROM now() - coalesce(seen_at, known_since)) * 1000)::float8`.as('silentMs'),
    ]);
}
