import { sql } from 'kysely';
import { mayAccess } from '../../access/acl/acl.queries.ts';
import { boundAgent } from '../../access/own-agent.ts';
import type { Principal } from '../../access/principal.ts';
import { ROLE_CAPTURE_AGENT } from '../../access/roles/roles.ts';
import type { Transaction } from '../../database/kysely.ts';
import { refusal } from '../../http/endpoint/refusal.ts';
import { awaitsDelivery } from '../../recordings/state.ts';
import { isActive } from '../../workflows/states.ts';
import type { Deliverer } from './deliverer.ts';
import { EXAMPLE_ID } from './examples.ts';

export const NOT_YOURS = refusal(
  403,
  (id: string) =>
    `The event '${id}' is not yours to deliver a recording to: it needs the right to write, or to be scheduled for this capture agent.`,
  [EXAMPLE_ID],
);
export const BEING_PROCESSED = refusal(
  409,
  (id: string) => `The event '${id}' is being processed; try again when that has ended.`,
  [EXAMPLE_ID],
);

/** The event that a recording is for. */
export interface Recipient {
  id: string;
  /** Whether it awaits its recording, or has one already. */
  kind: 'awaiting' | 'recorded';
  /** Whether it was never scheduled and is being processed: what comes then is taken for a mistake. */
  busy: boolean;
}

/**
 * Finds the event that a media package is for: the one of the package's identifier, or else the scheduled one that the
 * calendar called so. Until the transaction ends nothing else is delivered to it.
 *
 * @returns undefined when the package is to be an event of its own: also that of a capture agent from which the scheduled
 *   event was moved away, as it would be refused again and again
 * @throws {HttpError} 403 for an event that is not for this account to deliver to
 */
export async function recipientOf(
  trx: Transaction,
  { packageId, instanceId = '' }: { packageId: string; instanceId?: string | undefined },
  { principal, log }: Pick<Deliverer, 'principal' | 'log'>,
): Promise<Recipient | undefined> {
  // Of two that would make the same event, the second finds what the first has made.
  await lockDelivery(trx, packageId);
  const { id } = (await nameOf(trx, packageId, instanceId)) ?? {};
  if (id === undefined) return undefined;
  if (id !== packageId) await lockDelivery(trx, id);
  const event = await trx
    .selectFrom('events')
    .select(['agent_id', 'processing_state'])
    .select(mayAccess('events', principal, 'write').as('writable'))
    .where('id', '=', id)
    .executeTakeFirst();
  // Deleted meanwhile.
  if (!event) return undefined;
  if (!event.writable && !isAgentOf(principal, event.agent_id)) {
    if (id === packageId || !principal.hasRole(ROLE_CAPTURE_AGENT)) throw NOT_YOURS(id);
    log.warn(
      { eventId: id, agent: event.agent_id },
      'a recording came of an event that another capture agent is to record; it is an event of its own now',
    );
    return undefined;
  }
  if (await awaitsDelivery(trx, id)) return { id, kind: 'awaiting', busy: false };
  return { id, kind: 'recorded', busy: event.agent_id === '' && isActive(event.processing_state) };
}

async function lockDelivery(trx: Transaction, id: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`delivery ${id}`}, 0))`.execute(trx);
}

function nameOf(trx: Transaction, packageId: string, instanceId: string) {
  return trx
    .selectFrom('events')
    .select('id')
    .where((is) =>
      is.or([is('id', '=', packageId), is.and([is('id', '=', instanceId), is('agent_id', '<>', '')])]),
    )
    .orderBy(sql`id = ${packageId}`, 'desc')
    .executeTakeFirst();
}

function isAgentOf(principal: Principal, agentId: string): boolean {
  const own = boundAgent(principal);
  return agentId !== '' && principal.hasRole(ROLE_CAPTURE_AGENT) && (own === undefined || own === agentId);
}
