import type pg from 'pg';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { forEachConcurrent, inBatches } from '../concurrency.ts';
import { sizeOf } from '../digests.ts';
import { type OwnedObject, ownersAndStaged, ownersOf } from '../owned-objects.ts';
import type { Finding } from './finding.ts';

interface Parts<Method extends keyof ObjectStorage> {
  client: pg.Client;
  storage: Pick<ObjectStorage, Method>;
}

const BATCH = 500;
const CONCURRENCY = 8;
/** Tables whose objects are permanent. Objects of drafts and uploads are on the ledger as long as their rows exist. */
const LASTING: readonly string[] = ['tracks', 'attachments', 'publication_elements'];

/** Returns true if the row keeps its object permanently, without an entry on the ledger. */
export function isLasting({ table }: Pick<OwnedObject, 'table'>): boolean {
  return LASTING.includes(table);
}

/** Returns true if the sweep of the staging ledger would remove an object that its row needs. */
export function isEndangered(owner: OwnedObject): boolean {
  return owner.staged && isLasting(owner);
}

/**
 * Examines objects one by one, because objects that are added or removed during a verification look wrong at first.
 * Rows are read before the storage, because an object exists before its row and longer than it.
 */
export async function* examine({ client, storage }: Parts<'size'>, keys: Iterable<string>): AsyncGenerator<Finding> {
  for await (const batch of inBatches(keys, BATCH)) {
    const { owners, staged } = await ownersAndStaged(client, batch);
    const findings: Finding[] = [];
    const look = async (key: string) => {
      const named = owners.get(key) ?? [];
      if (named.length === 0 && staged.has(key)) return;
      const size = (await sizeOf(storage, key)) ?? null;
      for (const owner of named.length > 0 ? named : [null]) {
        const finding = judge(key, owner, size);
        if (finding) findings.push(finding);
      }
    };
    await forEachConcurrent(batch, look, { concurrency: CONCURRENCY });
    const missing = findings.filter(({ kind }) => kind === 'missing').map(({ key }) => key);
    // The row and the object may have been deleted since the row was read.
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

/** Finds unfinished uploads in the storage that no process or client continues. */
export async function* orphanedUploads({ client, storage }: Parts<'unfinished'>): AsyncGenerator<Finding> {
  const foreign = new Set<string>();
  const unfinished = storage.unfinished('', (name) => foreign.add(name));
  for await (const batch of inBatches(unfinished, BATCH)) {
    const keys = [...new Set(batch)];
    // Keys on the ledger have an owner or will be removed, and keys of rows are objects.
    const { owners, staged } = await ownersAndStaged(client, keys);
    for (const key of keys.filter((each) => !owners.has(each) && !staged.has(each))) {
      // The upload may have finished since it was listed.
      const left = await Array.fromAsync(storage.unfinished(key));
      if (left.includes(key)) yield { kind: 'orphaned', key, owner: null, size: null, what: 'unfinished' };
    }
  }
  for (const key of foreign) yield { kind: 'orphaned', key, owner: null, size: null, what: 'foreign' };
}
