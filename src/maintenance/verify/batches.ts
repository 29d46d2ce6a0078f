import { shardOf } from '#platform/storage/keys.ts';
import type { ObjectStorage } from '#platform/storage/port.ts';
import type { KeyRange } from '../owned-objects.ts';

/** How much is held at once, at least; the last shard may bring more. */
export interface BatchSize {
  objects: number;
  /** Together, of all objects. */
  bytes: number;
}

/** Objects of the storage, and the part of all keys that they are. */
export interface ObjectBatch {
  range: KeyRange;
  /** The last shard of the range. */
  through: string;
  /** Sizes in bytes by key. */
  objects: Map<string, number>;
}

/**
 * All that the storage has, cut where a shard ends, so that nothing grows with the number of objects. The last batch goes
 * on to the end of all keys. A storage that does not keep to the order costs time only: what comes out of its range looks
 * suspicious and is looked at by itself.
 *
 * @param after the shard that an earlier run has got to
 */
export async function* objectBatches(
  storage: Pick<ObjectStorage, 'list'>,
  after: string | undefined,
  onForeign: (name: string) => void,
  least: BatchSize,
): AsyncGenerator<ObjectBatch> {
  let bytes = 0;
  let objects = new Map<string, number>();
  let from = after === undefined ? '' : beyond(after);
  let shard = after ?? '';
  for await (const { key, size } of storage.list('', { after, onForeign })) {
    const next = shardOf(key);
    if (next > shard && (objects.size >= least.objects || bytes >= least.bytes)) {
      yield { range: { from, to: beyond(shard) }, through: shard, objects };
      from = beyond(shard);
      objects = new Map();
      bytes = 0;
    }
    if (next > shard) shard = next;
    objects.set(key, size);
    bytes += size;
  }
  yield { range: { from, to: undefined }, through: shard, objects };
}

/** The first key after a shard: `0` is the next character after `/`. */
function beyond(shard: string): string {
  return `${shard}0`;
}
