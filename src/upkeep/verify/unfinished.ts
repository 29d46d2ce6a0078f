import type pg from 'pg';
import type { ObjectStorage } from '../../storage/port.ts';
import { onLedger } from '../owned-objects.ts';
import type { Finding } from './finding.ts';

const BATCH = 500;

/** What the storage has of uploads that never ended and that no process or client goes on with. */
export async function* orphanedUploads(
  client: pg.Client,
  storage: Pick<ObjectStorage, 'unfinished'>,
): AsyncGenerator<Finding> {
  let batch = new Set<string>();
  for await (const key of storage.unfinished()) {
    batch.add(key);
    if (batch.size < BATCH) continue;
    yield* notOnLedger(client, batch);
    batch = new Set();
  }
  yield* notOnLedger(client, batch);
}

/** What is on the ledger has an owner, or will be removed. */
async function* notOnLedger(client: pg.Client, keys: ReadonlySet<string>): AsyncGenerator<Finding> {
  const known = await onLedger(client, [...keys]);
  for (const key of keys) {
    if (!known.has(key)) yield { kind: 'orphaned', key, owner: null, size: null, what: 'unfinished' };
  }
}
