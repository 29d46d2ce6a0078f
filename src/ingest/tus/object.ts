import type { Database } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { detectMediaType, HEAD_BYTES } from '#platform/media/signature.ts';
import { ObjectNotFound, type ObjectStorage, refused } from '#platform/storage/port.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import type { Digests } from './digests.ts';
import { noteProgress } from './progress.ts';
import type { Upload } from './uploads.ts';

/** What receiving works with. */
export interface UploadParts {
  database: Database;
  storage: ObjectStorage;
  staging: StagingLedger;
  digests: Digests;
  /** How long an upload lives without another byte, in milliseconds. */
  lifetimeMs: number;
}

/** The object of the upload is not there any more. */
export class UploadGone extends Error {
  override name = 'UploadGone';
}

/**
 * Takes note of an object that is complete: the process that completed it was killed before it could.
 *
 * @throws {StorageRefused}
 * @throws {UploadGone}
 */
export async function completedBefore(parts: UploadParts, upload: Upload): Promise<Upload> {
  const { database, storage } = parts;
  const size = await storage.size(upload.key).catch(async (error) => {
    if (!(error instanceof ObjectNotFound)) throw refused(error);
    // Nothing is there either while the storage is not, such as a folder that is not mounted.
    await storage.check().catch((fault) => {
      throw refused(fault);
    });
    throw new UploadGone('The object is gone.');
  });
  if (size !== upload.length) throw new UploadGone('The object is another one.');
  const bytes = size - upload.stored;
  const found = { ...(await inspectHead(storage, upload.key)), sha256: undefined, bytes };
  return inTransaction(database, (trx) => noteProgress(trx, upload, { found }, parts));
}

export async function inspectHead(storage: ObjectStorage, key: string): Promise<{ mediatype: string }> {
  const head: Uint8Array[] = [];
  try {
    if ((await storage.size(key)) > 0) {
      for await (const chunk of await storage.get(key, { start: 0, end: HEAD_BYTES - 1 })) head.push(chunk);
    }
  } catch (error) {
    throw ofStorage(error);
  }
  return { mediatype: detectMediaType(Buffer.concat(head)) };
}

/** What reading from the storage failed with, as the port tells of storing. */
export function ofStorage(error: unknown): unknown {
  return error instanceof ObjectNotFound ? error : refused(error);
}
