import { sql } from 'kysely';
import type { AgentState } from '#capture/agents/agent.schemas.ts';
import { stateUnlessSilent } from '#capture/agents/agents.queries.ts';
import { UNKNOWN_AGENT } from '#capture/agents/forget-agent.ts';
import type { Queryable } from '#platform/database/kysely.ts';

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
