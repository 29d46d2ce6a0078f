import { sql } from 'kysely';
import type { Queryable } from '../../database/kysely.ts';
import type { AgentState } from './agent.schemas.ts';
import { stateUnlessSilent } from './agents.queries.ts';

/** What an agent has told of itself. */
export interface AgentFacts {
  id: string;
  state: AgentState;
  url: string;
  /** Since its last report, in milliseconds. */
  silentMs: number;
  configuration: Record<string, string>;
}

/** After which silence displays are told `offline`: some agents report every five minutes, and they pass over breaks. */
const OFFLINE_SECONDS = 2 * 3600;
/** SQLSTATE of a row that others refer to. */
const REFERENCED = '23503';
/** More agents than any site has. */
const MOST_AGENTS = 10_000;

export async function agentFacts(database: Queryable, id: string): Promise<AgentFacts | undefined> {
  return (await selectFacts(database).where('id', '=', id).executeTakeFirst()) as AgentFacts | undefined;
}

/** All agents, by name. */
export async function allAgentFacts(database: Queryable): Promise<AgentFacts[]> {
  return (await selectFacts(database).orderBy('id').limit(MOST_AGENTS).execute()) as AgentFacts[];
}

/** Forgets an agent that nothing is scheduled on. */
export async function removeAgent(db: Queryable, id: string): Promise<'removed' | 'missing' | 'in use'> {
  try {
    const { numDeletedRows } = await db.deleteFrom('capture_agents').where('id', '=', id).executeTakeFirst();
    return numDeletedRows > 0n ? 'removed' : 'missing';
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === REFERENCED) return 'in use';
    throw error;
  }
}

function selectFacts(database: Queryable) {
  return database
    .selectFrom('capture_agents')
    .select(['id', 'url', 'configuration'])
    .select([
      stateUnlessSilent(OFFLINE_SECONDS).as('state'),
      sql<number>`floor(extract(epoch FROM now() - coalesce(seen_at, known_since)) * 1000)::float8`.as(
        'silentMs',
      ),
    ]);
}
