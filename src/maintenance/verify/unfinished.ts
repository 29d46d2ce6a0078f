import type pg from 'pg';
import type { ObjectStorage } from '#platform/storage/port.ts';
import { namedAndStaged } from '../owned-objects.ts';
import type { Finding } from './finding.ts';

const BATCH = 500;

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
export async function orphanedAmong(
  { client, storage }: ExaminedUploads,
  keys: readonly string[],
): Promise<string[]> {
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
