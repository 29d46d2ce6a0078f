import type pg from 'pg';
import { shardOf } from '#platform/storage/object-keys.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { forEachConcurrent, inBatches } from '../concurrency.ts';
import { digestOf, type ObjectReader, UNREADABLE } from '../digests.ts';
import { type KeyRange, type OwnedObject, ownedObjects, ownersOf } from '../owned-objects.ts';
import { examine, isEndangered, orphanedUploads } from './examine.ts';
import type { Finding } from './finding.ts';
import type { Notes, Position } from './notes.ts';

const READ_CONCURRENCY = 4;
const REPORT_BATCH = 1_000;
/** Progress is recorded after this many objects. */
const BATCH: BatchSize = { objects: 50_000, bytes: Number.POSITIVE_INFINITY };
/** Reading this many bytes takes minutes. */
const READ_BATCH: BatchSize = { objects: 5_000, bytes: 50e9 };

/** The parts of a verification. Each client is used for nothing else. */
interface Verified {
  /** Reads all rows from a cursor. */
  rows: pg.Client;
  /** Reads single rows while the cursor is open. */
  look: pg.Client;
  storage: ObjectReader & Pick<ObjectStorage, 'list' | 'unfinished' | 'size'>;
}

interface VerifyOptions {
  /** Reads every object and compares its SHA-256. */
  digests: boolean;
  notes: Notes;
  from: Position | undefined;
  signal?: AbortSignal;
  onFinding(finding: Finding): void;
  onProgress(position: Position): void;
  batch?: BatchSize;
}

/**
 * Compares the database with the storage while both are in use. Memory does not grow with the number of objects.
 * @returns the number of owned objects, and the bytes read for digests
 */
export async function verify({ rows, look, storage }: Verified, options: VerifyOptions): Promise<Position> {
  const { notes, signal, onFinding, onProgress } = options;
  const at = { through: '', objects: 0, bytes: 0, ...options.from };
  let foreign: Finding[] = [];
  const onForeign = (key: string) =>
    void foreign.push({ kind: 'orphaned', key, owner: null, size: null, what: 'foreign' });
  const report = async (findings: readonly Finding[]) => {
    for (const finding of findings) onFinding(finding);
    await notes.add(findings);
  };
  // One examination reports all rows of a key, but the cursor returns them one by one.
  const shared = new Set<string>();
  const suspected = async (keys: Iterable<string>): Promise<string[]> => {
    const reported = new Set<string>();
    const fresh = [...keys].filter((key) => !shared.has(key));
    for await (const finding of examine({ client: look, storage }, fresh)) {
      if (reported.has(finding.key)) shared.add(finding.key);
      reported.add(finding.key);
      await report([finding]);
    }
    return fresh.filter((key) => !reported.has(key));
  };
  const onBytes = (bytes: number) => {
    at.bytes += bytes;
    onProgress(at);
  };
  const read = async (owner: OwnedObject) => {
    const sha256 = await digestOf(storage, owner.key, signal, onBytes);
    // An object that was removed since is not a digest finding. Without a SHA-256 in the row, the object only has to be
    // readable.
    const isOther = owner.sha256 === null ? sha256 === UNREADABLE : sha256 !== owner.sha256;
    if (sha256 !== undefined && (isOther || owner.lostSum))
      await report([{ kind: 'digest', key: owner.key, owner, size: owner.size, sha256 }]);
  };
  const least = options.batch ?? (options.digests ? READ_BATCH : BATCH);
  for await (const batch of objectBatches(storage, options.from?.through, onForeign, least)) {
    const readable: OwnedObject[] = [];
    const cleared: string[] = [];
    const named = new Set<string>();
    const doubled = new Set<string>();
    for await (const owned of ownedObjects(rows, batch.range)) {
      signal?.throwIfAborted();
      const { sound, suspects } = compare(owned, batch.objects);
      cleared.push(...(await suspected(suspects)));
      if (options.digests) readable.push(...sound);
      for (const { key } of owned.filter(({ key }) => batch.objects.has(key))) {
        if (named.has(key)) doubled.add(key);
        named.add(key);
      }
      at.objects += owned.length;
      onProgress(at);
    }
    // At most one of several rows for one object is right.
    if (!options.digests) readable.push(...compare(await ownersOf(look, [...doubled]), batch.objects).sound);
    else readable.push(...(await ownersOf(look, cleared)));
    // After the cursor, so that no transaction stays open for hours.
    await forEachConcurrent(readable, read, { concurrency: READ_CONCURRENCY, signal });
    for (const key of named) batch.objects.delete(key);
    await suspected(batch.objects.keys());
    // Foreign files after the range are kept for the next batch, because a resumed run reports them again.
    const { to } = batch.range;
    const reported = foreign.filter(({ key }) => to === undefined || key < to);
    foreign = foreign.filter(({ key }) => to !== undefined && key >= to);
    for await (const part of inBatches(reported, REPORT_BATCH)) await report(await unnamed(look, part));
    at.through = batch.through;
    await notes.reach(at);
  }
  for await (const finding of orphanedUploads({ client: look, storage })) await report([finding]);
  return at;
}

/** Drops foreign files under keys of rows, which are reported as missing objects. */
async function unnamed(look: pg.Client, foreign: readonly Finding[]): Promise<Finding[]> {
  const owners = await ownersOf(
    look,
    foreign.map(({ key }) => key),
  );
  const named = new Set(owners.map(({ key }) => key));
  return foreign.filter(({ key }) => !named.has(key));
}

/** Returns the rows whose objects look correct, and the keys of all other rows. */
function compare(owned: readonly OwnedObject[], objects: ReadonlyMap<string, number>) {
  const sound: OwnedObject[] = [];
  const suspects = new Set<string>();
  for (const owner of owned) {
    if (objects.get(owner.key) === owner.size && !isEndangered(owner)) sound.push(owner);
    else suspects.add(owner.key);
  }
  return { sound, suspects };
}

/** The minimum size of a batch. The last shard may add more. */
interface BatchSize {
  objects: number;
  bytes: number;
}

/** Objects of the storage, and their range of keys. */
interface ObjectBatch {
  range: KeyRange;
  through: string;
  /** Sizes in bytes by key. */
  objects: Map<string, number>;
}

/**
 * Lists the storage in batches that end with a shard. The last batch has no upper limit. A storage that lists keys out
 * of order costs time only: such keys are examined one by one.
 * @param after the last finished shard of an interrupted run
 */
async function* objectBatches(
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

/** Returns the first key after a shard. `0` is the character after `/`. */
function beyond(shard: string): string {
  return `${shard}0`;
}
