import { sql } from 'kysely';
import type { Database, Queryable } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import type { AgentState } from './agent.schemas.ts';
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

export async function findAgentFacts(database: Queryable, id: string): Promise<AgentFacts | undefined> {
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
