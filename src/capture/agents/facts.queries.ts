import { sql } from 'kysely';
import type { Database, Queryable } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
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
/** More agents than any site has. */
const MOST_AGENTS = 10_000;

export async function agentFacts(database: Queryable, id: string): Promise<AgentFacts | undefined> {
  return (await selectFacts(database).where('id', '=', id).executeTakeFirst()) as AgentFacts | undefined;
}

/** All agents, by name. */
export async function allAgentFacts(database: Queryable): Promise<AgentFacts[]> {
  return (await selectFacts(database).orderBy('id').limit(MOST_AGENTS).execute()) as AgentFacts[];
}

/** What is known of an agent that nobody has heard of. */
const NOTHING = {
  ...{ state: 'unknown', state_since: null, seen_at: null, url: '', inputs: [], time_zone: 'UTC' },
  configuration: '{}',
};

/** Forgets an agent that has nothing to record any more. Its row stays: what it has recorded refers to it. */
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
      .set({ ...NOTHING, forgotten: true })
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
