import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { requireAccess } from '../access/acl.queries.ts';
import type { Principal } from '../access/principal.ts';
import type { Database, Queryable, Transaction } from '../database/kysely.ts';
import { inTransaction } from '../database/retry.ts';
import { countVersion, lockEvent } from '../events/lock-event.ts';
import { conflict } from '../http/errors.ts';
import { recordingProgress } from '../recordings/state.ts';
import { releaseObjects, type StagingLedger } from '../storage/staging.ts';
import { isActive } from '../workflows/states.ts';
import { CAPTIONS_TYPE } from './captions.ts';
import { insertTracks } from './insert-tracks.ts';
import type { ReceivedFile } from './receive-files.ts';
import { type RecordingSource, refuseSecondRecording, startRecorded } from './start-recorded.ts';
import type { TrackRequest } from './track-request.ts';

/** What captions hold; of anything else inspection finds out. */
const WITHOUT_MEDIA = { has_audio: false, has_video: false, streams: '[]' };

/**
 * Refuses an event whose tracks may not be changed now.
 *
 * @throws {HttpError} 404 for one the principal may not read, 401 for one it may not write, 409 while it is processed
 */
export async function requireIdleEvent(db: Queryable, principal: Principal, eventId: string): Promise<void> {
  await requireAccess(db, 'events', principal, eventId, 'write', missing(eventId));
  const event = await db
    .selectFrom('events')
    .select(['id', 'processing_state'])
    .where('id', '=', eventId)
    .executeTakeFirst();
  if (event) refuseWhileProcessed(event);
}

/**
 * Gives an event another track, or takes tracks from it, in one transaction, which also takes the new object off the
 * staging ledger and enters those of the tracks that go. A workflow that starts meanwhile waits, and then works with
 * the new tracks; another upload waits as well. The recording that a scheduled event awaited starts its workflow, and is
 * not replaced afterwards.
 *
 * @param file absent to remove tracks only
 * @returns how many tracks went
 * @throws {HttpError} as `requireIdleEvent`: all of that may have changed while the file came in
 */
export async function addTrack(
  eventId: string,
  request: TrackRequest,
  file: ReceivedFile | undefined,
  deps: RecordingSource & { database: Database; staging: StagingLedger },
): Promise<number> {
  const { principal, database, staging } = deps;
  return inTransaction(database, async (trx) => {
    refuseWhileProcessed(await lockEvent(trx, eventId, principal, { missing: missing(eventId) }));
    const before = await recordingProgress(trx, eventId);
    const removed = request.overwriteExisting ? await removeReplaced(trx, eventId, request) : [];
    if (file) {
      if (removed.some(({ is_media }) => is_media)) await refuseSecondRecording(trx, eventId);
      const { flavor, tags } = request;
      const facts = file.mediatype === CAPTIONS_TYPE ? WITHOUT_MEDIA : {};
      await insertTracks(trx, eventId, [{ ...file, ...facts, id: randomUUID(), flavor, tags }]);
      await staging.commit(trx, [file.objectKey]);
    }
    const isRecording = before === 'awaited' && (await recordingProgress(trx, eventId)) === 'begun';
    if (isRecording) await startRecorded(trx, eventId, deps);
    if (file || removed.length > 0) await countVersion(trx, eventId);
    return removed.length;
  });
}

function missing(eventId: string): string {
  return `Unable to find event with id '${eventId}'`;
}

function refuseWhileProcessed({ id, processing_state }: { id: string; processing_state: string }): void {
  if (isActive(processing_state)) {
    throw conflict(`Cannot update while a workflow is running on event '${id}'`);
  }
}

/** Of one flavor several languages may stand side by side: a tag `lang:` says which of them is meant. */
async function removeReplaced(
  trx: Transaction,
  eventId: string,
  { flavor, tags }: TrackRequest,
): Promise<{ is_media: boolean }[]> {
  const languages = tags.filter((tag) => tag.startsWith('lang:'));
  let replaced = trx.deleteFrom('tracks').where('event_id', '=', eventId).where('flavor', '=', flavor);
  if (languages.length > 0) replaced = replaced.where('tags', '&&', sql<string[]>`${languages}::text[]`);
  const rows = await replaced.returning(['object_key', 'is_media']).execute();
  await releaseObjects(
    trx,
    rows.map(({ object_key }) => object_key),
  );
  return rows;
}
