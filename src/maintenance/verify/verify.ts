import type pg from 'pg';
import { shardOf } from '#platform/storage/keys.ts';
import type { ObjectStorage } from '#platform/storage/port.ts';
import { forEachOf } from '../concurrency.ts';
import { digestOf, type Reading, UNREADABLE } from '../digests.ts';
import { type KeyRange, type OwnedObject, ownedObjects, ownersOf } from '../owned-objects.ts';
import { examine, isEndangered, orphanedUploads } from './examine.ts';
import type { Finding } from './finding.ts';
import type { Notes, Position } from './notes.ts';

const READ_AT_ONCE = 4;
const TOLD_AT_ONCE = 1_000;
/** After so much is noted how far a verification is. */
const BATCH: BatchSize = { objects: 50_000, bytes: Number.POSITIVE_INFINITY };
/** To read so much takes minutes. */
const READ_BATCH: BatchSize = { objects: 5_000, bytes: 50e9 };

/** What a verification works with. Each client is for it alone. */
interface Verified {
  /** Reads all rows. */
  rows: pg.Client;
  /** Looks at single ones meanwhile. */
  look: pg.Client;
  storage: Reading & Pick<ObjectStorage, 'list' | 'unfinished' | 'size'>;
}

interface VerifyOptions {
  /** Whether every object is read, and its SHA-256 compared. */
  digests: boolean;
  notes: Notes;
  /** Where an earlier run has got to. */
  from: Position | undefined;
  /** Ends it between two parts, or in an object. */
  signal?: AbortSignal;
  onFinding(finding: Finding): void;
  /** Is told how many objects have been compared, and how many bytes read. */
  onProgress(position: Position): void;
  /** How much is compared at once, at least. */
  batch?: BatchSize;
}

/**
 * Compares the database with the storage, while both are in use: what comes and goes meanwhile is in order. Memory does
 * not grow with the number of objects.
 *
 * @returns how many objects rows name, and how many bytes were read for their digests
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
  // All rows of a key are told of at once, and come from the cursor one by one.
  const shared = new Set<string>();
  const suspected = async (keys: Iterable<string>): Promise<string[]> => {
    const told = new Set<string>();
    const fresh = [...keys].filter((key) => !shared.has(key));
    for await (const finding of examine({ client: look, storage }, fresh)) {
      if (told.has(finding.key)) shared.add(finding.key);
      told.add(finding.key);
      await report([finding]);
    }
    return fresh.filter((key) => !told.has(key));
  };
  const onBytes = (bytes: number) => {
    at.bytes += bytes;
    onProgress(at);
  };
  const read = async (owner: OwnedObject) => {
    const sha256 = await digestOf(storage, owner.key, signal, onBytes);
    // One that has gone meanwhile is another matter, and what nobody has summed has only to be readable.
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
    // Of rows that name one object, one at least is wrong.
    if (!options.digests) readable.push(...compare(await ownersOf(look, [...doubled]), batch.objects).sound);
    else readable.push(...(await ownersOf(look, cleared)));
    // Not before: no database waits for hours with an open transaction.
    await forEachOf(readable, read, { atOnce: READ_AT_ONCE, signal });
    for (const key of named) batch.objects.delete(key);
    await suspected(batch.objects.keys());
    // Those that come after the range will be told of again by a run that goes on from here.
    const { to } = batch.range;
    const told = foreign.filter(({ key }) => to === undefined || key < to);
    foreign = foreign.filter(({ key }) => to !== undefined && key >= to);
    while (told.length > 0) await report(await unnamed(look, told.splice(0, TOLD_AT_ONCE)));
    at.through = batch.through;
    await notes.reach(at);
  }
  for await (const finding of orphanedUploads({ client: look, storage })) await report([finding]);
  return at;
}

/** What is no object in the place of one is told of as that being missing. */
async function unnamed(look: pg.Client, foreign: readonly Finding[]): Promise<Finding[]> {
  if (foreign.length === 0) return [];
  const owners = await ownersOf(
    look,
    foreign.map(({ key }) => key),
  );
  const named = new Set(owners.map(({ key }) => key));
  return foreign.filter(({ key }) => !named.has(key));
}

/** Which rows name objects that look as they should, and the keys of the others. */
function compare(owned: readonly OwnedObject[], objects: ReadonlyMap<string, number>) {
  const sound: OwnedObject[] = [];
  const suspects = new Set<string>();
  for (const owner of owned) {
    if (objects.get(owner.key) === owner.size && !isEndangered(owner)) sound.push(owner);
    else suspects.add(owner.key);
  }
  return { sound, suspects };
}

/** How much is held at once, at least; the last shard may bring more. */
interface BatchSize {
  objects: number;
  /** Together, of all objects. */
  bytes: number;
}

/** Objects of the storage, and the part of all keys that they are. */
interface ObjectBatch {
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

/** The first key after a shard: `0` is the next character after `/`. */
function beyond(shard: string): string {
  return `${shard}0`;
}
