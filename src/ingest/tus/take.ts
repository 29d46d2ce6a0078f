import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Principal } from '#access/principal.ts';
import { EVENT_ID } from '#catalogue/events/examples.ts';
import type { NewTrack } from '#catalogue/events/tracks.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { commitOwned, StagingExpired } from '#platform/storage/staging-entries.ts';
import { ownerOf } from './uploads.ts';

/** An upload that is to become a track. */
export interface UploadOf {
  id: string;
  /** What the track is to be; what whoever uploaded it has said unless given. */
  flavor: string | undefined;
}

export const NO_UPLOAD = refusal(
  404,
  (id: string) => `There is no upload '${id}': it has expired or was given up, or there never was one.`,
  ['0Zb1cUuY4mWkqS3eX7tFvJ9hNpLrDaGi'],
);
export const UPLOAD_UNFINISHED = refusal(
  400,
  (id: string, offset: number, length: number | null) =>
    `The upload '${id}' is not finished: ${offset} of ${length ?? 'an unknown number of'} bytes have come.`,
  ['0Zb1cUuY4mWkqS3eX7tFvJ9hNpLrDaGi', 5_242_880, 10_485_760],
);
export const UPLOAD_USED = refusal(409, (id: string) => `The upload '${id}' is part of an event already.`, [
  '0Zb1cUuY4mWkqS3eX7tFvJ9hNpLrDaGi',
]);
export const UPLOAD_EMPTY = refusal(400, (id: string) => `The upload '${id}' is empty.`, [
  '0Zb1cUuY4mWkqS3eX7tFvJ9hNpLrDaGi',
]);
export const UPLOAD_WITHOUT_FLAVOR = refusal(
  400,
  (id: string) =>
    `What the upload '${id}' is to be is not said: give it a 'field' (presenter, presentation or audio) or a 'flavor'.`,
  ['0Zb1cUuY4mWkqS3eX7tFvJ9hNpLrDaGi'],
);
export const NOT_AWAITED = refusal(
  409,
  (event: string) => `The event '${event}' awaits no recording; its uploads are left as they are.`,
  [EVENT_ID],
);
/** What every request that names uploads may meet. */
export const TAKE_REFUSALS = [NO_UPLOAD, UPLOAD_UNFINISHED, UPLOAD_USED, UPLOAD_EMPTY, UPLOAD_WITHOUT_FLAVOR];

/**
 * Makes tracks of uploads, for an event that the same transaction writes: their objects leave the staging ledger. Tell
 * `assignUploads` which event it is, so that no other can have them.
 *
 * @returns the tracks, in the order of the uploads
 * @throws {HttpError} 404 for one that is not there for this account, 400 for one that is not finished, 409 for one that
 * was taken before; the transaction must roll back
 */
export async function takeUploads(
  trx: Transaction,
  uploads: readonly UploadOf[],
  principal: Principal,
): Promise<NewTrack[]> {
  const tracks: NewTrack[] = [];
  // In one order, so that two requests for the same uploads wait for each other instead of giving up.
  const taken = new Map<string, NewTrack>();
  for (const upload of [...uploads].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    taken.set(upload.id, await takeOne(trx, upload, principal));
  }
  for (const { id } of uploads) tracks.push(taken.get(id) as NewTrack);
  return tracks;
}

/** Remembers which event has uploads that were taken. */
export async function assignUploads(
  trx: Transaction,
  uploads: readonly UploadOf[],
  eventId: string,
): Promise<void> {
  if (uploads.length === 0) return;
  const ids = uploads.map(({ id }) => id);
  await trx.updateTable('uploads').set({ event_id: eventId }).where('id', 'in', ids).execute();
}

async function takeOne(trx: Transaction, { id, flavor }: UploadOf, principal: Principal): Promise<NewTrack> {
  const row = await trx
    .selectFrom('uploads')
    .selectAll()
    .where('id', '=', id)
    .where('expires_at', '>', sql<Date>`now()`)
    .forUpdate()
    .executeTakeFirst();
  if (!row || (row.owner !== principal.username && !principal.isAdmin())) throw NO_UPLOAD(id);
  if (row.event_id !== null) throw UPLOAD_USED(id);
  const { mediatype, length } = row;
  if (mediatype === null) throw UPLOAD_UNFINISHED(id, row.stored + row.rest_bytes, length);
  if (row.stored === 0) throw UPLOAD_EMPTY(id);
  const wanted = flavor ?? row.flavor;
  if (wanted === null) throw UPLOAD_WITHOUT_FLAVOR(id);
  await commitOwned(trx, ownerOf(id), [row.object_key]).catch((error) => {
    throw error instanceof StagingExpired ? NO_UPLOAD(id) : error;
  });
  const { filename, object_key: objectKey, stored: size, sha256 } = row;
  return { id: randomUUID(), flavor: wanted, filename, mediatype, objectKey, size, sha256 };
}
