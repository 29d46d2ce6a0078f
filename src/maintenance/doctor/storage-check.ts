import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type pg from 'pg';
import { withTimeout } from '#platform/process/timeout.ts';
import { objectKey } from '#platform/storage/object-keys.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import type { StoragePlace } from '#platform/storage/storage-backend.ts';
import { sha256Of } from '#platform/storage/thread/storage-thread.ts';
import { digestOf } from '../digests.ts';
import { ownedTotals } from '../owned-objects.ts';
import type { Check } from './check.ts';

/** Two full parts of a multipart upload and a rest. */
const BYTES = 11 * 2 ** 20;
/** Retention of the probe on the ledger, longer than any run of the doctor. */
const EXPIRY = "now() + interval '10 minutes'";
/** Limit for the database, which must not block the check of the storage. */
const PATIENCE_MS = 5_000;

/**
 * Checks that the storage stores an object in several parts, returns the same bytes and removes it. The probe is on the
 * staging ledger, so the sweep removes it if the doctor is killed. Works without a database too.
 */
export function storageCheck(
  place: Pick<StoragePlace, 'name' | 'settings' | 'open' | 'vacancy'>,
  connect: () => Promise<{ client: pg.Client }>,
  patienceMs = PATIENCE_MS,
): Check {
  const onLedger = async (statement: string, ...values: unknown[]): Promise<void> => {
    const said = connect().then(({ client }) => client.query(statement, values));
    // The checks of the database report this.
    await withTimeout(said, patienceMs, 'The database does not answer.').catch(() => undefined);
  };
  return {
    name: 'storage',
    todo: `Check ${place.settings}, and that the storage can be read, written and listed.`,
    run: async (signal) => {
      await requireObjects(place, connect);
      const storage = await place.open();
      // Some of its requests take no signal, and would keep the process for minutes.
      signal.addEventListener('abort', () => void storage.close(), { once: true });
      try {
        await storage.check(signal);
        const key = objectKey('probe');
        await onLedger(`INSERT INTO staging (object_key, owner, expires_at) VALUES ($1, 'doctor', ${EXPIRY})`, key);
        const begun = performance.now();
        await storeInParts(storage, key, signal).finally(() => storage.remove([key]));
        const ms = Math.round(performance.now() - begun);
        await onLedger('DELETE FROM staging WHERE object_key = $1', key);
        return { state: 'ok', found: `the ${place.name} stored, returned and removed 11 MiB in parts, in ${ms} ms` };
      } finally {
        await storage.close();
      }
    },
  };
}

/**
 * Rejects an empty storage while the disk with its objects is not mounted.
 * @throws if the storage is empty although the database lists objects
 */
async function requireObjects(
  place: Pick<StoragePlace, 'vacancy'>,
  connect: () => Promise<{ client: pg.Client }>,
): Promise<void> {
  const vacancy = await place.vacancy?.();
  if (vacancy === undefined) return;
  const named = await connect().then(
    ({ client }) => ownedTotals(client).catch(() => undefined),
    () => undefined,
  );
  if (named && named.objects > 0)
    throw new Error(`${vacancy}, but the database lists ${named.objects} objects in it: mount their disk`);
}

async function storeInParts(storage: ObjectStorage, key: string, signal: AbortSignal): Promise<void> {
  const bytes = randomBytes(BYTES);
  const mediatype = 'application/octet-stream';
  const handle = await storage.begin(key, { mediatype, expectedBytes: BYTES });
  const receipts: string[] = [];
  let rest: Uint8Array = new Uint8Array();
  await storage.append({ key, handle }, 0, Readable.from([bytes]), {
    signal,
    onPiece: async ({ receipt }) => void receipts.push(receipt),
    onRest: async (left) => {
      // The storage reuses its memory.
      rest = Uint8Array.from(left);
    },
  });
  await storage.complete({ key, handle }, receipts, rest);
  if ((await digestOf(storage, key, signal)) !== (await sha256Of(bytes)))
    throw new Error('The storage returned other bytes than were stored');
}
