import type { Database } from '../database/kysely.ts';
import { type ApplyOptions, applyParts, type UpdateParts } from '../events/apply-parts.ts';
import { countVersion, lockEvent } from '../events/lock-event.ts';
import { seriesToJoin } from '../events/write-metadata.ts';
import { explainingConflicts } from '../recordings/conflicts.ts';
import type { StagingLedger } from '../storage/staging.ts';
import { insertTracks } from './insert-tracks.ts';
import type { ReceivedTrack } from './receive-tracks.ts';
import { type RecordingSource, requireAwaited, startRecorded } from './start-recorded.ts';

export interface EventUpdate {
  id: string;
  parts: UpdateParts;
  /** The recording of an event that awaited it when it came in. */
  tracks: readonly ReceivedTrack[];
}

/**
 * Applies the parts of an update and then its files, all of them or none: the recording of a scheduled event starts the
 * workflow that was stored with the schedule.
 *
 * @throws {HttpError} 404 and 401 as `lockEvent`, 400 for a part that cannot be applied, 409 when another recording was
 * there first or the event is not scheduled any more
 * @throws {ScheduleConflict} when something else is to be recorded then
 */
export async function updateEvent(
  { id, parts, tracks }: EventUpdate,
  deps: ApplyOptions & RecordingSource & { database: Database; staging: StagingLedger },
): Promise<void> {
  const { database, staging, principal, catalogs } = deps;
  await explainingConflicts(database, principal, async (trx) => {
    const joining = seriesToJoin(parts.catalogs ?? new Map(), catalogs);
    const event = await lockEvent(trx, id, principal, { joining });
    if (tracks.length > 0) await requireAwaited(trx, id);
    const changed = await applyParts(trx, event, parts, deps);
    if (tracks.length > 0) {
      await insertTracks(trx, id, tracks);
      await staging.commit(
        trx,
        tracks.map(({ objectKey }) => objectKey),
      );
      await startRecorded(trx, id, deps);
    }
    if (changed || tracks.length > 0) await countVersion(trx, id);
  });
}
