import { randomUUID } from 'node:crypto';
import { replaceAcl } from '../access/acl.queries.ts';
import type { Principal } from '../access/principal.ts';
import type { Database, Transaction } from '../database/kysely.ts';
import { chosenIdentifier, newEventColumns } from '../events/columns.ts';
import { badRequest, conflict } from '../http/errors.ts';
import type { StagingLedger } from '../storage/staging.ts';
import type { WorkflowDefinitions } from '../workflows/definitions.ts';
import { startWorkflow } from '../workflows/start.ts';
import type { EventRequest } from './event-request.ts';
import type { ReceivedTrack } from './receive-tracks.ts';

export interface NewEvent {
  request: EventRequest;
  tracks: ReceivedTrack[];
  principal: Principal;
  requestId: string;
}

/**
 * Writes the event, its access control list, its tracks and its workflow in one transaction, which also takes the
 * tracks' objects off the staging ledger. The queue hears of it only through the database.
 *
 * @returns the event's identifier
 * @throws {HttpError} 400 for a series that does not exist, 409 for an identifier that is taken
 */
export async function createEvent(
  { request, tracks, principal, requestId }: NewEvent,
  {
    database,
    staging,
    definitions,
  }: { database: Database; staging: StagingLedger; definitions: WorkflowDefinitions },
): Promise<string> {
  const id = chosenIdentifier(request.metadata) ?? randomUUID();
  const columns = newEventColumns(request.metadata, new Date());
  await database.transaction().execute(async (trx) => {
    if (columns.series_id) await requireSeries(trx, columns.series_id);
    const inserted = await trx
      .insertInto('events')
      .values({ ...columns, id, creator: principal.displayName })
      .onConflict((taken) => taken.column('id').doNothing())
      .returning('id')
      .executeTakeFirst();
    if (!inserted) throw conflict(`An event with the identifier '${id}' exists already.`);
    await replaceAcl(trx, 'events', id, request.acl);
    if (tracks.length > 0) await insertTracks(trx, id, tracks);
    await staging.commit(
      trx,
      tracks.map(({ objectKey }) => objectKey),
    );
    await startWorkflow(trx, {
      eventId: id,
      definition: definitions.resolve(request.processing.workflow),
      configuration: request.processing.configuration,
      creator: principal.username,
      requestId,
    });
  });
  return id;
}

async function requireSeries(trx: Transaction, seriesId: string): Promise<void> {
  const series = await trx.selectFrom('series').select('id').where('id', '=', seriesId).executeTakeFirst();
  if (!series) throw badRequest(`Unable to retrieve series dublincore catalog for the series ${seriesId}`);
}

async function insertTracks(trx: Transaction, eventId: string, tracks: ReceivedTrack[]): Promise<void> {
  await trx
    .insertInto('tracks')
    .values(
      tracks.map((track, position) => ({
        id: track.id,
        event_id: eventId,
        position,
        flavor: track.flavor,
        filename: track.filename,
        mediatype: track.mediatype,
        object_key: track.objectKey,
        size: track.size,
        sha256: track.sha256,
      })),
    )
    .execute();
}
