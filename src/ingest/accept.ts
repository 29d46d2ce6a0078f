import { createEvents } from '#catalogue/events/create-events.ts';
import { insertAttachments, insertDocuments, type NewTrack } from '#catalogue/events/event-files.ts';
import { updateEvent } from '#catalogue/events/update/update-event.ts';
import type { Catalogs } from '#metadata/catalogs.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import type { WorkflowDefinitions } from '#processing/load-definitions.ts';
import type { Processing } from '#processing/processing-request.ts';
import { startProcessing } from '#processing/start-workflow.ts';
import { takeDraft } from './draft-contents.ts';
import { recordOutcome } from './drafts.ts';
import type { Intake } from './intake.ts';
import type { FormParts } from './receive-form.ts';
import { assignUploads, takeUploads } from './tus/finished-uploads.ts';

export interface Accepted {
  /** The created or changed events, in chronological order. */
  ids: readonly string[];
  removed: number;
  workflowId: number | undefined;
}

export interface AcceptParts {
  staging: StagingLedger;
  definitions: WorkflowDefinitions;
}

/** The services of an endpoint that receives a form for an event. */
export interface DoorServices extends FormParts, AcceptParts {
  database: Database;
  catalogs: Pick<Catalogs, 'event'>;
}

/**
 * Creates or completes events, starts their processing if there is something to process, and takes the objects off the
 * staging ledger, all in one transaction. Run it in `withScheduleConflicts`.
 *
 * @throws {HttpError} as `createEvents` and `updateEvent`
 * @throws {HttpError} as `takeDraft` and `takeUploads`
 * @throws {ScheduleOverlap} if another recording is scheduled at that time
 * @throws {StagingExpired} if one of the objects was swept
 */
export async function accept(
  trx: Transaction,
  intake: Intake,
  { staging, definitions }: AcceptParts,
): Promise<Accepted> {
  const { principal, requestId, draft, tracks, uploads = [], documents = [] } = intake;
  const drafted = draft && (await takeDraft(trx, draft));
  const uploaded = await takeUploads(trx, uploads, principal);
  const all = [...(drafted?.tracks ?? []), ...tracks, ...uploaded];
  const { processing: usual, ...accepted } = await write(trx, intake, all);
  const processing = usual && (intake.processing ?? usual);
  const [first] = accepted.ids;
  for (const eventId of accepted.ids) await assignUploads(trx, uploads, eventId);
  const keys = tracks.map(({ objectKey }) => objectKey);
  await staging.commit(trx, keys);
  if (first !== undefined) {
    await insertDocuments(trx, first, documents);
    await insertAttachments(trx, first, drafted?.attachments ?? []);
  }
  const workflows: number[] = [];
  for (const id of accepted.ids) {
    if (processing) workflows.push(await startProcessing(trx, id, processing, { principal, requestId, definitions }));
  }
  const [workflowId] = workflows;
  if (draft && first !== undefined) await recordOutcome(trx, draft.id, { eventId: first, workflowId });
  return { ...accepted, workflowId };
}

async function write(
  trx: Transaction,
  { target, principal, rights }: Intake,
  tracks: readonly NewTrack[],
): Promise<Omit<Accepted, 'workflowId'> & { processing: Processing | undefined }> {
  if (target.kind === 'new') {
    const by = { principal, rights, gapMs: target.gapMs };
    const made = await createEvents(trx, target.events, tracks, by);
    return { ...made, removed: 0 };
  }
  const { id, edits, takes, refusals = {} } = target;
  const bringsNothing = takes.kind === 'recording' && tracks.length === 0;
  const all = bringsNothing ? edits : { ...edits, tracks: { ...takes, tracks } };
  const edited = await updateEvent(trx, id, all, { principal, rights, refusals });
  return { ids: [id], ...edited };
}
