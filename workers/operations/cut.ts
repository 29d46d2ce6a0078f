import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';
import {
  CUTTING,
  type CutPart,
  InvalidCutting,
  type KeptPart,
  keepsAll,
  lengthOf,
  parseCutting,
  partsWithin,
} from '#platform/media/cutting.ts';
import { MediaFailure } from '#platform/media/tools/media-failure.ts';
import type { Operation } from './operation.ts';
import { type SourceTrack, sourceTracks } from './prepared-elements.ts';

/**
 * Stores which parts of each track to keep, as the event's cutting catalog says, and the new duration of the event.
 * `encode` keeps only these parts; the tracks stay as they are. Without a catalog, everything is kept. Runs after
 * `inspect`.
 */
export const cut: Operation = {
  name: 'cut',
  lane: 'light',
  async run({ eventId, database, log }) {
    const tracks = await sourceTracks(database, eventId);
    const catalog = await cuttingOf(database, eventId);
    if (tracks.length === 0 || catalog === undefined) {
      return async (trx) => {
        await trx.updateTable('tracks').set({ kept_parts: null }).where('event_id', '=', eventId).execute();
      };
    }
    const parts = partsOf(catalog);
    const kept = tracks.map((track) => ({ track, parts: partsWithin(parts, durationOf(track)) }));
    const duration = Math.round(Math.max(...kept.map((each) => lengthOf(each.parts))));
    if (duration === 0) throw nothingLeft(parts, tracks);
    for (const { track, parts } of kept) {
      const line = { track: track.id, flavor: track.flavor, parts: parts.length, duration: lengthOf(parts) };
      if (parts.length > 0) log.info(line, 'track is cut');
      else log.warn(line, 'the track is left out: it ends before the first part that is kept');
    }
    return async (trx) => {
      // A track that is kept as a whole need not be encoded again.
      for (const { track, parts } of kept) await keep(trx, track, keepsAll(parts, durationOf(track)) ? null : parts);
      await trx.updateTable('events').set({ duration }).where('id', '=', eventId).execute();
    };
  },
};

async function cuttingOf(database: Database, eventId: string): Promise<string | undefined> {
  const row = await database
    .selectFrom('event_documents')
    .select('content')
    .where('event_id', '=', eventId)
    .where('flavor', '=', CUTTING)
    .executeTakeFirst();
  return row?.content;
}

function partsOf(catalog: string): CutPart[] {
  try {
    return parseCutting(catalog);
  } catch (error) {
    if (!(error instanceof InvalidCutting)) throw error;
    const reason = `The catalog ${CUTTING} is invalid: ${error.message}.`;
    throw new MediaFailure(reason, { permanent: true, cause: error });
  }
}

function durationOf({ flavor, duration }: SourceTrack): number {
  if (duration !== null) return duration;
  const reason = `The track ${flavor} has not been inspected. Add "inspect" before "cut" in the workflow.`;
  throw new MediaFailure(reason, { permanent: true });
}

function nothingLeft(parts: readonly CutPart[], tracks: readonly SourceTrack[]): MediaFailure {
  const [begin, end] = [parts[0]?.begin ?? 0, Math.max(...tracks.map(durationOf))].map((ms) => ms / 1000);
  const where = `its first part begins at ${begin} s, but the recording ends at ${end} s`;
  const message = `The catalog ${CUTTING} leaves nothing of the recording: ${where}.`;
  return new MediaFailure(message, { permanent: true });
}

async function keep(trx: Database, track: SourceTrack, parts: readonly KeptPart[] | null): Promise<void> {
  await trx
    .updateTable('tracks')
    .set({ kept_parts: parts && sql`${JSON.stringify(parts)}::jsonb` })
    .where('id', '=', track.id)
    .execute();
}
