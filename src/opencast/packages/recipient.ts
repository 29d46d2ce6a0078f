import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { mayAccess } from '#access/acl/acl.queries.ts';
import { boundAgent, type Principal } from '#access/principal.ts';
import { ROLE_CAPTURE_AGENT } from '#access/roles/roles.ts';
import { awaitsDelivery, hasMedia } from '#capture/states/state.ts';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { isActive } from '#processing/states.ts';
import { EXAMPLE_ID } from './package-xml.ts';

export const DELIVERY_FORBIDDEN = refusal(
  403,
  (id: string) =>
    `The event '${id}' is not yours to deliver a recording to: it needs the right to write, or to be scheduled for this capture agent.`,
  [EXAMPLE_ID],
);
export const EVENT_BEING_PROCESSED = refusal(
  409,
  (id: string) => `The event '${id}' is being processed; try again when that has ended.`,
  [EXAMPLE_ID],
);

/** The event that a recording is for. */
export interface Recipient {
  id: string;
  /**
   * Whether it awaits its recording, or has one already. Of one that is not for this account to deliver to: whether what
   * comes is an event of its own, or refused.
   */
  kind: 'awaiting' | 'recorded' | 'foreign' | 'closed';
  /** Whether it was never scheduled and is being processed: what comes then is taken for a mistake. */
  busy: boolean;
}

/**
 * Finds the event that a media package is for: the one of the package's identifier, or else the scheduled one that the
 * calendar called so. Until the transaction ends nothing else is delivered to it.
 *
 * @returns undefined when the package is to be an event of its own. What a capture agent brings of an event that was
 *   moved to another one, or that it has made and may not write, is such a one, too, whatever it is called: it would be
 *   refused again and again
 */
export async function recipientOf(
  trx: Transaction,
  { packageId, instanceId = '' }: { packageId: string; instanceId?: string | undefined },
  principal: Principal,
): Promise<Recipient | undefined> {
  // Of two that would make the same event, the second finds what the first has made.
  await lockDelivery(trx, packageId);
  const { id } = (await nameOf(trx, packageId, instanceId)) ?? {};
  if (id === undefined) return undefined;
  if (id !== packageId) await lockDelivery(trx, id);
  const event = await accessTo(trx, id, principal);
  // Deleted meanwhile.
  if (!event) return undefined;
  if (event.standing !== 'deliverer') return { id, kind: event.standing, busy: false };
  if (awaitsDelivery(event, Boolean(event.recorded))) return { id, kind: 'awaiting', busy: false };
  return { id, kind: 'recorded', busy: event.agent_id === '' && isActive(event.processing_state) };
}

/** Which packages of other accounts give way when an account begins one of the same name. */
export type Precedence = 'over none' | 'over accepted ones' | 'over all';

/**
 * Keeps the name of an event from those who could not deliver under it: its agent could not begin its package meanwhile.
 * The one that the event is scheduled for comes first.
 *
 * @throws {HttpError} 403
 */
export async function requireRecipient(db: Queryable, id: string, principal: Principal): Promise<Precedence> {
  const event = await accessTo(db, id, principal);
  if (!event) return 'over none';
  const { agent_id, standing, brought } = event;
  if (standing === 'closed') {
    // Whoever has lost our answer is told it again.
    if (brought) return 'over none';
    throw DELIVERY_FORBIDDEN(id);
  }
  const isItsAgent = agent_id !== '' && boundAgent(principal) === agent_id;
  return isItsAgent ? 'over all' : 'over accepted ones';
}

/** What an account is to an event. */
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

function isFor(principal: Principal, agentId: string): boolean {
  const own = boundAgent(principal);
  return own === undefined || own === agentId;
}

/** A condition: the account has brought the first recording of the event with this identifier, whoever may change it now. */
export function broughtBy(eventId: Expression<string>, { username }: Principal): RawBuilder<SqlBool> {
  return sql<SqlBool>`coalesce((SELECT creator FROM workflows AS first WHERE first.event_id = ${eventId} ORDER BY first.id LIMIT 1) = ${username}, false)`;
}
