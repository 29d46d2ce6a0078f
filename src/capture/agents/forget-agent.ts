import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { AGENT_ID } from './agent-examples.ts';

export const UNKNOWN_AGENT = refusal(404, (id: string) => `The capture agent '${id}' does not exist.`, [AGENT_ID]);
export const AGENT_IN_USE = refusal(
  409,
  (id: string) => `The capture agent '${id}' has scheduled recordings. Move or delete their events first.`,
  [AGENT_ID],
);

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
