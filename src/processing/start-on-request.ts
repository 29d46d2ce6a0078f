import { sql } from 'kysely';
import { requireAccess } from '#access/acl/acl.queries.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import type { Processing } from './processing-request.ts';
import { type ProcessingSource, startProcessing } from './start-workflow.ts';
import { DEFINITION_MISSING, EVENT_MISSING } from './workflow-refusals.ts';
import { isActive } from './workflow-states.ts';

export const HAS_ACTIVE_WORKFLOW = 'This event has an active workflow; wait for it to finish.';
const AWAITED = 'The recording of this event has not arrived; it is processed when it arrives.';
/** The length of the longest identifier. */
const MAX_SHOWN = 255;

/** The event cannot be processed now. The message is the reason. */
export class EventNotReady extends Error {
  override name = 'EventNotReady';
}

/**
 * Starts a workflow on request. @returns its number
 *
 * @throws {HttpError} 404 for an event that the principal may not read, and for an unknown definition; 401 for an event
 * that it may not write
 * @throws {EventNotReady}
 */
export async function startOnRequest(
  database: Database,
  eventId: string,
  processing: Processing,
  source: ProcessingSource,
): Promise<number> {
  const { principal, definitions } = source;
  const missing = () => EVENT_MISSING(eventId.slice(0, MAX_SHOWN));
  await requireAccess(database, 'events', principal, eventId, 'write', missing);
  const { workflow } = processing;
  if (!definitions.knows(workflow)) throw DEFINITION_MISSING(workflow.slice(0, MAX_SHOWN));
  return inTransaction(database, async (trx) => {
    await requireIdle(trx, eventId);
    await requireAccess(trx, 'events', principal, eventId, 'write', missing);
    return startProcessing(trx, eventId, processing, source);
  });
}

/** Locks the event. @throws {EventNotReady} while it is processed, or awaits a recording */
async function requireIdle(trx: Transaction, eventId: string): Promise<void> {
  const event = await trx
    .selectFrom('events')
    .select(['processing_state', 'agent_id'])
    .select(sql<boolean>`EXISTS (SELECT FROM tracks WHERE event_id = events.id AND is_media)`.as('recorded'))
    .where('id', '=', eventId)
    .forUpdate()
    .executeTakeFirst();
  const reason = event && notReadyReason(event);
  if (reason !== undefined) throw new EventNotReady(reason);
}

/** Returns the reason why an event cannot be processed now; undefined if it can. */
export function notReadyReason(event: {
  processing_state: string;
  agent_id: string;
  recorded: unknown;
}): string | undefined {
  if (isActive(event.processing_state)) return HAS_ACTIVE_WORKFLOW;
  const awaited = event.agent_id !== '' && event.processing_state === '' && !event.recorded;
  return awaited ? AWAITED : undefined;
}
