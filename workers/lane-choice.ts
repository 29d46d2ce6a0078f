import type { Database } from '#platform/database/kysely.ts';
import { type KeptPart, readFor } from '#platform/media/cutting.ts';
import { demuxerFor } from '#platform/media/recording.ts';
import { type MediaStream, playedStreams } from '#platform/media/streams.ts';
import type { Inspected } from '#platform/media/workload.ts';
import type { Lane } from '#platform/queue/work-queue.ts';
import type { ReadyOperation } from '#processing/outbox.ts';
import type { Operation } from './operations/operation.ts';

/** Returns the lane of each operation, by operation id. */
export type LaneChoice = (ready: readonly ReadyOperation[]) => Promise<ReadonlyMap<number, Lane>>;

/**
 * Returns how many operations of a lane a worker runs concurrently: in the long lane half as many, but at least one. One
 * piece keeps all processors busy, and one copy a disk.
 */
export function slotsOf(lane: Lane, concurrency: number): number {
  if (lane === 'pieces' || lane === 'copies') return 1;
  return lane === 'long' ? Math.max(1, Math.floor(concurrency / 2)) : concurrency;
}

/** Chooses by the operation and, where its lane is a function, by its settings and the inspected tracks of the event. */
export function createLaneChoice(database: Database, operations: ReadonlyMap<string, Operation>): LaneChoice {
  return async (ready) => {
    const sized = ready.filter(({ operation }) => typeof operations.get(operation)?.lane === 'function');
    const ids = sized.map(({ operationId }) => operationId);
    const tracks = await inspectedTracks(database, ids);
    return new Map(
      ready.map(({ operationId, operation: name, configuration }) => {
        const { lane = 'light' } = operations.get(name) ?? {};
        return [operationId, typeof lane === 'function' ? lane(configuration, tracks.get(operationId) ?? []) : lane];
      }),
    );
  };
}

/** Returns the inspected tracks of each operation's event. */
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
