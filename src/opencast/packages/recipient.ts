import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { mayAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import { ROLE_CAPTURE_AGENT } from '#access/roles/roles.ts';
import { awaitsDelivery, hasMedia } from '#capture/states/recording-state.ts';
import type { Precedence } from '#ingest/drafts.ts';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { isActive } from '#processing/workflow-states.ts';
import { EXAMPLE_ID } from './package-xml.ts';

export const DELIVERY_FORBIDDEN = refusal(
  403,
  (id: string) =>
    `You cannot deliver a recording to the event '${id}'. It must be scheduled for this capture agent, or you need write access.`,
  [EXAMPLE_ID],
);
export const EVENT_BEING_PROCESSED = refusal(
  409,
  (id: string) => `The event '${id}' is being processed. Try again when processing has finished.`,
  [EXAMPLE_ID],
);

/** The event for which a recording is delivered. */
export interface Recipient {
  id: string;
  /**
   * `awaiting` or `recorded` for an event that the account may deliver to; else `foreign`, if the recording becomes a
   * separate event, or `closed`, if it is rejected.
   */
  kind: 'awaiting' | 'recorded' | 'foreign' | 'closed';
  /** True for an unscheduled event that is being processed. Deliveries to it are rejected. */
  busy: boolean;
}

/**
 * Finds the event for a media package: the event with the identifier of the package, else the scheduled event with the
 * identifier from the calendar. Locks deliveries to the event until the transaction ends.
 * @returns undefined if the package becomes a new event. An agent's package for an event that was moved to another
 * agent, or that the agent created and may not write, becomes a separate event too, because the agent would send it
 * again and again
 */
export async function recipientOf(
  trx: Transaction,
  { packageId, instanceId = '' }: { packageId: string; instanceId?: string | undefined },
  principal: Principal,
): Promise<Recipient | undefined> {
  // Of two concurrent deliveries the second one finds the event of the first.
  await lockDelivery(trx, packageId);
  const { id } = (await nameOf(trx, packageId, instanceId)) ?? {};
  if (id === undefined) return undefined;
  if (id !== packageId) await lockDelivery(trx, id);
  const event = await accessTo(trx, id, principal);
  if (!event) return undefined;
  if (event.standing !== 'deliverer') return { id, kind: event.standing, busy: false };
  if (awaitsDelivery(event, Boolean(event.recorded))) return { id, kind: 'awaiting', busy: false };
  return { id, kind: 'recorded', busy: event.agent_id === '' && isActive(event.processing_state) };
}

/**
 * Requires that the account may deliver to an event, so that nobody can block the identifier. The agent of the
 * scheduled event has precedence.
 * @throws {HttpError} 403
 */
export async function requireRecipient(db: Queryable, id: string, principal: Principal): Promise<Precedence> {
  const event = await accessTo(db, id, principal);
  if (!event) return 'over own accepted';
  const { agent_id, standing, brought } = event;
  if (standing === 'closed') {
    // A client that has lost the answer gets it again.
    if (brought) return 'over own accepted';
    throw DELIVERY_FORBIDDEN(id);
  }
  const isItsAgent = agent_id !== '' && principal.agentId === agent_id;
  return isItsAgent ? 'over all' : 'over accepted';
}

/** Returns the access of an account to an event. */
async function accessTo(db: Queryable, id: string, principal: Principal) {
  const event = await db
    .selectFrom('events')
    .select(['agent_id', 'recording_state', 'processing_state'])
    .select(hasMedia(sql.ref('events.id')).as('recorded'))
    .select(mayAccess('events', principal, 'write').as('writable'))
    .select(broughtBy(sql.ref('events.id'), principal).as('brought'))
    .where('id', '=', id)
    .executeTakeFirst();
  if (!event) return undefined;
  const isScheduled = event.agent_id !== '';
  const isAgent = principal.hasRole(ROLE_CAPTURE_AGENT);
  if (event.writable || (isAgent && isScheduled && isFor(principal, event.agent_id)))
    return { ...event, standing: 'deliverer' } as const;
  const isForeign = isAgent && (isScheduled || event.brought);
  return { ...event, standing: isForeign ? 'foreign' : 'closed' } as const;
}

async function lockDelivery(trx: Transaction, id: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`delivery ${id}`}, 0))`.execute(trx);
}

function nameOf(trx: Transaction, packageId: string, instanceId: string) {
  return trx
    .selectFrom('events')
    .select('id')
    .where((is) => is.or([is('id', '=', packageId), is.and([is('id', '=', instanceId), is('agent_id', '<>', '')])]))
    .orderBy(sql`id = ${packageId}`, 'desc')
    .executeTakeFirst();
}

function isFor({ agentId: own }: Principal, agentId: string): boolean {
  return own === undefined || own === agentId;
}

/** Returns an SQL condition: the account delivered the first recording of the event, whatever its access is now. */
export function broughtBy(eventId: Expression<string>, { username }: Principal): RawBuilder<SqlBool> {
  return sql<SqlBool>`coalesce((SELECT creator FROM workflows AS first WHERE first.event_id = ${eventId} ORDER BY first.id LIMIT 1) = ${username}, false)`;
}
