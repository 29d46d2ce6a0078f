import { sql } from 'kysely';
import type { Principal } from '#access/principal.ts';
import { deleteEvent } from '#catalogue/events/delete-event.ts';
import type { Database } from '#platform/database/kysely.ts';
import { isConcurrentUpdate } from '#platform/http/app/error-handler.ts';
import { HttpError } from '#platform/http/errors/errors.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import { controlWorkflow } from '#processing/control-workflow.ts';
import type { WorkflowDefinitions } from '#processing/load-definitions.ts';
import { EventNotReady, startOnRequest } from '#processing/start-on-request.ts';

/** An action on several recordings. A definition is started as a workflow. */
export type BulkAction = 'retry' | 'delete' | { definition: string };

/** A recording that was selected. */
export interface SelectedRecording {
  eventId: string;
  /** Undefined if the recording does not exist. */
  title: string | undefined;
  /** Its latest workflow. */
  workflowId: number | null;
}

/** The result of an action for a recording: what was done, or the reason why nothing was. */
export interface Outcome extends SelectedRecording {
  done?: string;
  refused?: string;
}

export interface BulkServices {
  database: Database;
  staging: StagingLedger;
  definitions: WorkflowDefinitions;
}

/** The acting account and its request. */
interface Source {
  principal: Principal;
  requestId: string;
}

/** Reads recordings in the given order, for administrators. */
export async function readSelected(database: Database, ids: readonly string[]): Promise<SelectedRecording[]> {
  const { rows } = await sql<SelectedRecording>`
    SELECT selected.id AS "eventId", events.title,
      (SELECT max(w.id) FROM workflows w WHERE w.event_id = events.id) AS "workflowId"
    FROM unnest(${ids}::text[]) WITH ORDINALITY AS selected (id, place)
    LEFT JOIN events ON events.id = selected.id ORDER BY place`.execute(database);
  return rows.map(({ title, ...row }) => ({ ...row, title: title ?? undefined }));
}

/**
 * Acts on each recording. A refusal or a lock of one recording does not affect other recordings. After an unexpected
 * fault, the remaining ones are left alone.
 *
 * @param onFault gets the fault, and returns its sentence for the account
 */
export async function actOnAll(
  action: BulkAction,
  recordings: readonly SelectedRecording[],
  { source, services, onFault }: { source: Source; services: BulkServices; onFault(error: Error): string },
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let hasFault = false;
  for (const recording of recordings) {
    const outcome = hasFault
      ? { refused: 'Not tried, because an earlier recording failed with an error.' }
      : await actOn(action, recording, source, services).then(
          (done) => ({ done }),
          (error) => {
            if (error instanceof HttpError || error instanceof EventNotReady) return { refused: error.message };
            hasFault = !isConcurrentUpdate(error);
            return { refused: onFault(error) };
          },
        );
    outcomes.push({ ...recording, ...outcome });
  }
  return outcomes;
}

const MISSING = 'The recording does not exist.';

async function actOn(
  action: BulkAction,
  { eventId, title, workflowId }: SelectedRecording,
  { principal, requestId }: Source,
  { database, staging, definitions }: BulkServices,
): Promise<string> {
  if (title === undefined) throw new HttpError(404, MISSING);
  if (action === 'delete') {
    await deleteEvent(eventId, principal, { database, staging });
    return 'Deleted.';
  }
  if (action === 'retry') {
    if (workflowId === null) throw new EventNotReady('No workflow has been started.');
    await controlWorkflow(database, workflowId, { wanted: 'retry', by: principal.username });
    return `Workflow ${workflowId} is retried.`;
  }
  const processing = { workflow: action.definition, configuration: {} };
  const id = await startOnRequest(database, eventId, processing, { principal, requestId, definitions });
  return `Workflow ${id} is started.`;
}
