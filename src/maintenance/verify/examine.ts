import type pg from 'pg';
import { isObjectKey } from '#platform/storage/keys.ts';
import { ObjectNotFound, type ObjectStorage } from '#platform/storage/port.ts';
import { forEachOf } from '../concurrency.ts';
import { namedAndStaged, type OwnedObject, ownersOf } from '../owned-objects.ts';
import type { Finding } from './finding.ts';

const BATCH = 500;
const AT_ONCE = 8;
/** Whose rows keep objects for good; those of drafts and uploads are on the ledger as long as they stand. */
const LASTING: readonly string[] = ['tracks', 'attachments', 'publication_elements'];

/** What an examination works with. */
export interface Examined {
  client: pg.Client;
  storage: Pick<ObjectStorage, 'size'>;
}

/** Whether a row keeps its object for good, and the ledger has nothing to do with it. */
export function isLasting({ table }: Pick<OwnedObject, 'table'>): boolean {
  return LASTING.includes(table);
}

/** Whether the sweep of the staging ledger would remove what a row needs. */
export function isEndangered(owner: OwnedObject): boolean {
  return owner.staged && isLasting(owner);
}

/**
 * Looks at objects one by one: what looked wrong while files came and went may have been nothing. The rows are read before
 * the storage is asked, for an object is there before its row and goes after it.
 */
export async function* examine({ client, storage }: Examined, keys: Iterable<string>): AsyncGenerator<Finding> {
  const left = [...keys];
  while (left.length > 0) {
    const batch = left.splice(0, BATCH);
    const { owners, staged } = await namedAndStaged(client, batch);
    const findings: Finding[] = [];
    const look = async (key: string) => {
      const named = owners.get(key) ?? [];
      if (named.length === 0 && staged.has(key)) return;
      const size = await sizeOf(storage, key);
      for (const owner of named.length > 0 ? named : [null]) {
        const finding = judge(key, owner, size);
        if (finding) findings.push(finding);
      }
    };
    await forEachOf(batch, look, { atOnce: AT_ONCE });
    const missing = findings.filter(({ kind }) => kind === 'missing').map(({ key }) => key);
    // A row may have been deleted, and its object removed, since it was read.
    const wanted = new Set((await ownersOf(client, missing)).map(({ key }) => key));
    yield* findings.filter(({ kind, key }) => kind !== 'missing' || wanted.has(key));
  }
}

function judge(key: string, owner: OwnedObject | null, size: number | null): Finding | undefined {
  if (!owner) return size === null ? undefined : { kind: 'orphaned', key, owner, size };
  if (size === null) return { kind: 'missing', key, owner, size };
  if (size !== owner.size) return { kind: 'size', key, owner, size };
  return isEndangered(owner) ? { kind: 'staged', key, owner, size } : undefined;
}

/** Bytes; null for an object that is not there, as under what is no key. */
async function sizeOf(storage: Pick<ObjectStorage, 'size'>, key: string): Promise<number | null> {
  if (!isObjectKey(key)) return null;
  return storage.size(key).catch((error) => {
    if (error instanceof ObjectNotFound) return null;
    throw error;
  });
}

/** What an examination of uploads works with. */
export interface ExaminedUploads {
  client: pg.Client;
  storage: Pick<ObjectStorage, 'unfinished'>;
}

/** What the storage has of uploads that never ended and that no process or client goes on with. */
export async function* orphanedUploads({ client, storage }: ExaminedUploads): AsyncGenerator<Finding> {
  let batch = new Set<string>();
  const foreign = new Set<string>();
  for await (const key of storage.unfinished('', (name) => foreign.add(name))) {
    batch.add(key);
    if (batch.size < BATCH) continue;
    yield* orphanedOf({ client, storage }, batch);
    batch = new Set();
  }
  yield* orphanedOf({ client, storage }, batch);
  for (const key of foreign) yield { kind: 'orphaned', key, owner: null, size: null, what: 'foreign' };
}

async function* orphanedOf(parts: ExaminedUploads, keys: ReadonlySet<string>): AsyncGenerator<Finding> {
  for (const key of await orphanedAmong(parts, [...keys])) {
    yield { kind: 'orphaned', key, owner: null, size: null, what: 'unfinished' };
  }
}

/**
 * Which of the keys have only what is left of an upload. What is on the ledger has an owner, or will be removed; what a row
 * names is an object, whatever else an earlier try to store it has left; and an upload that has come to an end since it
 * was listed is none any more.
 */
async function orphanedAmong({ client, storage }: ExaminedUploads, keys: readonly string[]): Promise<string[]> {
  const { owners, staged } = await namedAndStaged(client, keys);
  const orphaned: string[] = [];
  for (const key of keys.filter((each) => !owners.has(each) && !staged.has(each))) {
    for await (const left of storage.unfinished(key)) {
      if (left !== key) continue;
      orphaned.push(key);
      break;
    }
  }
  return orphaned;
}
