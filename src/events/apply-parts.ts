import { isDeepStrictEqual } from 'node:util';
import type { AclEntry } from '../access/acl.ts';
import type { Principal } from '../access/principal.ts';
import type { Transaction } from '../database/kysely.ts';
import { badRequest } from '../http/errors.ts';
import { withoutUntouched } from '../metadata/catalogs.queries.ts';
import type { CatalogSet } from '../metadata/catalogs.ts';
import { requireValues } from '../metadata/parse.ts';
import type { SchedulingChange } from '../recordings/schedules/parse.ts';
import { processingOf } from '../recordings/schedules/schedules.queries.ts';
import { changeProcessing } from '../recordings/schedules/write-schedules.ts';
import { recordingProgress } from '../recordings/state.ts';
import type { Processing } from '../workflows/processing.ts';
import { isActive } from '../workflows/states.ts';
import type { EventParts } from './event-parts.ts';
import type { LockedEvent } from './lock-event.ts';
import { reschedule } from './reschedule.ts';
import { writeAcl } from './write-acl.ts';
import { writeMetadata } from './write-metadata.ts';

/** The parts of an update, with what is to become of the schedule. */
export interface UpdateParts extends Omit<EventParts, 'scheduling'> {
  scheduling: SchedulingChange | undefined;
}

export interface ApplyOptions {
  principal: Principal;
  catalogs: CatalogSet;
  /** What has to lie between two recordings of an agent, in milliseconds. */
  gapMs: number;
}

/**
 * Applies the parts of an update in their order (compatibility 3.6). Metadata may change while a workflow runs, the ACL
 * may not; processing and scheduling only until the recording of a scheduled event begins. Publications stay as they
 * are until a workflow publishes anew.
 *
 * @param event locked together with the series it is to join
 * @returns whether that changed anything
 * @throws {HttpError} 400 for a part that cannot be applied
 * @throws {Overlap} when something else is to be recorded then
 */
export async function applyParts(
  trx: Transaction,
  event: LockedEvent,
  parts: UpdateParts,
  { principal, catalogs, gapMs }: ApplyOptions,
): Promise<boolean> {
  const given = await withoutUntouched(trx, 'events', event.id, parts.catalogs ?? new Map(), catalogs);
  requireValues(given, catalogs);
  const changes = [
    await writeMetadata(trx, event, given, { principal, catalogs }),
    parts.acl !== undefined && (await updateAcl(trx, event, parts.acl)),
  ];
  if (parts.processing) await requireProcessable(trx, event.id, parts.processing);
  // Processing is looked at before and written after: moving a schedule locks its agent first.
  changes.push(
    parts.scheduling !== undefined && (await updateSchedule(trx, event, parts.scheduling, gapMs)),
    parts.processing !== undefined && (await updateProcessing(trx, event.id, parts.processing)),
  );
  return changes.includes(true);
}

async function updateAcl(trx: Transaction, event: LockedEvent, acl: AclEntry[]): Promise<boolean> {
  if (isActive(event.processing_state)) {
    throw badRequest('Unable to update the ACL of this event as it is currently processing.');
  }
  return writeAcl(trx, event.id, acl);
}

async function requireProcessable(trx: Transaction, eventId: string, processing: Processing): Promise<void> {
  if ((await recordingProgress(trx, eventId)) !== 'awaited') {
    throw badRequest("Processing can't be updated for events that are already uploaded.");
  }
  if (!processing.workflow) throw badRequest('No workflow template in metadata');
}

async function updateProcessing(trx: Transaction, eventId: string, processing: Processing): Promise<boolean> {
  if (isDeepStrictEqual(await processingOf(trx, eventId), processing)) return false;
  await changeProcessing(trx, eventId, processing);
  return true;
}

async function updateSchedule(
  trx: Transaction,
  event: LockedEvent,
  change: SchedulingChange,
  gapMs: number,
): Promise<boolean> {
  if (event.agent_id === '')
    throw badRequest("The part 'scheduling' is for events that are scheduled; this one is not.");
  return reschedule(trx, event, change, { gapMs, allowConflict: false });
}
