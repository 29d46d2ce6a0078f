import type { Database } from '#platform/database/kysely.ts';
import { demuxerFor } from '#platform/media/demuxer.ts';
import { type KeptPart, readFor } from '#platform/media/kept.ts';
import { type MediaStream, playedStreams } from '#platform/media/streams.ts';
import type { Inspected } from '#platform/media/workload.ts';
import type { Lane } from '#platform/queue/port.ts';
import type { Ready } from '#processing/outbox.ts';
import type { Operation } from './operations/operation.ts';

/** Which lane each operation goes to, by its number. */
export type LaneChoice = (ready: readonly Ready[]) => Promise<ReadonlyMap<number, Lane>>;

/** How many operations of a lane a worker runs at once: of the long ones half as many as of others, and one at least. */
export function slotsOf(lane: Lane, concurrency: number): number {
  return lane === 'long' ? Math.max(1, Math.floor(concurrency / 2)) : concurrency;
}

/** Chooses by the operation and, where it says so, by what was found out about the event's recordings. */
export function laneChoice(database: Database, operations: ReadonlyMap<string, Operation>): LaneChoice {
  return async (ready) => {
    const choosy = ready.filter(({ operation }) => operations.get(operation)?.isLong);
    const tracks = await inspectedTracks(
      database,
      choosy.map(({ operationId }) => operationId),
    );
    return new Map(
      ready.map(({ operationId, operation: name }) => {
        const operation = operations.get(name);
        const long = operation?.isLong?.(tracks.get(operationId) ?? []);
        return [operationId, long ? 'long' : (operation?.lane ?? 'light')];
      }),
    );
  };
}

/** The recordings that operations are about, as far as they were inspected. */
async function inspectedTracks(database: Database, operationIds: readonly number[]): Promise<Map<number, Inspected[]>> {
  if (operationIds.length === 0) return new Map();
  const rows = await database
    .selectFrom('workflow_operations as o')
    .innerJoin('workflows as w', 'w.id', 'o.workflow_id')
    .innerJoin('tracks as t', 't.event_id', 'w.event_id')
    .select(['o.id as operationId', 't.mediatype', 't.size', 't.duration', 't.streams', 't.kept_parts'])
    .where('o.id', 'in', operationIds)
    .where('t.is_media', '=', true)
    .where('t.streams', 'is not', null)
    .execute();
  const tracks = Map.groupBy(rows, ({ operationId }) => operationId);
  return new Map(
    [...tracks].map(([operationId, found]) => [
      operationId,
      found.map(({ mediatype, size, duration, streams, kept_parts }) => {
        const whole = {
          recording: { demuxer: demuxerFor(mediatype) ?? 'none' },
          size: Number(size),
          duration: Number(duration ?? 0),
          ...playedStreams(streams as unknown as MediaStream[]),
        };
        const kept = kept_parts as KeptPart[] | null;
        return kept ? { ...readFor(whole, kept), cut: true } : whole;
      }),
    ]),
  );
}
