import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { objectKey } from '../../storage/keys.ts';
import type { ObjectStorage } from '../../storage/port.ts';
import { sha256Of } from '../../storage/sha256/sha256.ts';
import { digestOf } from '../digests.ts';
import type { Check } from './check.ts';

/** Two parts of a multipart upload and something over. */
const BYTES = 11 * 2 ** 20;

/** Whether the storage takes an object in several parts, gives back the same, and lets go of it. */
export function storageCheck(open: () => Promise<ObjectStorage>): Check {
  return {
    name: 'storage',
    todo: 'S3_BUCKET and the AWS variables say where it is, DATA_DIR for a folder; see whether it may be read, written and listed.',
    run: async (signal) => {
      const storage = await open();
      await storage.check(signal);
      const key = objectKey('probe');
      const begun = performance.now();
      try {
        await storeInParts(storage, key, signal);
      } finally {
        await storage.remove([key]);
      }
      const ms = Math.round(performance.now() - begun);
      const where = storage.kind === 's3' ? 'the bucket' : 'the folder';
      return { state: 'ok', found: `${where} took, gave back and removed 11 MiB in parts, in ${ms} ms` };
    },
  };
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
