import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type pg from 'pg';
import { withTimeout } from '#platform/process/timeout.ts';
import type { StoragePlace } from '#platform/storage/backend.ts';
import { objectKey } from '#platform/storage/keys.ts';
import type { ObjectStorage } from '#platform/storage/port.ts';
import { sha256Of } from '#platform/storage/thread/sha256.ts';
import { digestOf } from '../digests.ts';
import { ownedTotals } from '../owned-objects.ts';
import type { Check } from './check.ts';

/** Two parts of a multipart upload and something over. */
const BYTES = 11 * 2 ** 20;
/** What it is called in its key. */
const PROBE = 'probe';
/** Whom the ledger names as the owner of the object, and until when: no doctor lives for so long. */
const OWNER = 'doctor';
const EXPIRY_MINUTES = 10;
/** A database that does not answer may hold the storage's examination up for so long. */
const PATIENCE_MS = 5_000;

/**
 * Whether the storage takes an object in several parts, gives back the same, and lets go of it. On the staging ledger it
 * is no orphan, and the sweep removes it after a doctor that was killed or failed; without a database the storage is
 * looked at all the same.
 */
export function storageCheck(
  place: Pick<StoragePlace, 'name' | 'settings' | 'open' | 'vacancy'>,
  connect: () => Promise<{ client: pg.Client }>,
  patienceMs = PATIENCE_MS,
): Check {
  const onLedger = async (statement: string, ...values: unknown[]): Promise<void> => {
    const said = connect().then(({ client }) => client.query(statement, values));
    // The checks of the database tell of it.
    await withTimeout(said, patienceMs, 'The database does not answer.').catch(() => undefined);
  };
  return {
    name: 'storage',
    todo: `It is configured by ${place.settings}; see whether it may be read, written and listed.`,
    run: async (signal) => {
      await requireObjects(place, connect);
      const storage = await place.open();
      await storage.check(signal);
      const key = objectKey(PROBE);
      await onLedger(
        `INSERT INTO staging (object_key, owner, expires_at) VALUES ($1, $2, now() + make_interval(mins => $3))`,
        key,
        OWNER,
        EXPIRY_MINUTES,
      );
      const begun = performance.now();
      try {
        await storeInParts(storage, key, signal);
      } finally {
        await storage.remove([key]);
      }
      const ms = Math.round(performance.now() - begun);
      await onLedger('DELETE FROM staging WHERE object_key = $1', key);
      const found = `the ${place.name} took, gave back and removed 11 MiB in parts, in ${ms} ms`;
      return { state: 'ok', found };
    },
  };
}

/**
 * Refuses to create a place, or to take an empty one for it, while the disk with its objects is not mounted.
 *
 * @throws when it has no objects, although the database lists some
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
    throw new Error(`${vacancy}, but the database lists ${named.objects} objects in it: mount the disk that has them`);
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
      // Its memory is used again.
      rest = Uint8Array.from(left);
    },
  });
  await storage.complete({ key, handle }, receipts, rest);
  if ((await digestOf(storage, key, signal)) !== (await sha256Of(bytes)))
    throw new Error('The storage gave back other bytes than it was given');
}
