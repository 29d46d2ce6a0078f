import { randomUUID } from 'node:crypto';
import { replaceAcl } from '../access/acl.queries.ts';
import type { Principal } from '../access/principal.ts';
import type { Database, Transaction } from '../database/kysely.ts';
import { inTransaction } from '../database/retry.ts';
import { namedPresenters } from '../events/presenters.ts';
import { requireSeries } from '../events/require-series.ts';
import { conflict } from '../http/errors.ts';
import { saveCatalog } from '../metadata/catalogs.queries.ts';
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
  /** The last step of the transaction; a rejection undoes everything. */
  beforeCommit?(trx: Transaction, id: string): Promise<void>;
}

/**
 * Writes the event, its catalogs, its access control list, its tracks and its workflow in one transaction, which also takes the
 * tracks' objects off the staging ledger. The queue hears of it only through the database.
 *
 * @returns the event's identifier
 * @throws {HttpError} 400 for a series that the principal does not see, 409 for an identifier that is taken
 */
export async function createEvent(
  { request, tracks, principal, requestId, beforeCommit }: NewEvent,
  {
    database,
    staging,
    definitions,
  }: { database: Database; staging: StagingLedger; definitions: WorkflowDefinitions },
): Promise<string> {
  const id = request.id ?? randomUUID();
  const { columns } = request;
  await inTransaction(database, async (trx) => {
    if (columns.series_id) await requireSeries(trx, columns.series_id, principal);
    const presenters = await namedPresenters(trx, columns.presenters);
    const inserted = await trx
      .insertInto('events')
      .values({ ...columns, presenters, id, creator: principal.displayName })
      .onConflict((taken) => taken.column('id').doNothing())
      .returning('id')
      .executeTakeFirst();
    if (!inserted) throw conflict(`An event with the identifier '${id}' exists already.`);
    await replaceAcl(trx, 'events', id, request.acl);
    for (const [flavor, values] of request.catalogs) await saveCatalog(trx, 'events', id, flavor, values);
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
    await beforeCommit?.(trx, id);
  });
  return id;
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
