import type { Transaction } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { safeFilename } from '#platform/http/form/filename.ts';
import type { UploadParts } from './object.ts';
import { insertUpload, type NewUpload, type Upload } from './uploads.ts';

const NAME = 'upload';

/** What is asked of a new upload. */
export type Begun = Omit<NewUpload, 'key' | 'handle' | 'lifetimeMs'> & {
  /** How large it may be, in bytes. */
  maxBytes: number;
};

/**
 * Begins an upload: its object, its entry on the staging ledger, and its row.
 *
 * @param begun.filename as whoever uploads has it
 * @param alongside what is written in the same transaction; a rejection leaves nothing behind
 * @throws {StorageRefused}
 */
export async function beginUpload(
  { database, storage, staging, lifetimeMs }: UploadParts,
  id: string,
  { maxBytes, filename, ...begun }: Begun,
  alongside: (trx: Transaction) => Promise<void> = async () => undefined,
): Promise<Upload> {
  const key = await staging.stage('track');
  try {
    const handle = await storage.begin(key, {
      mediatype: 'application/octet-stream',
      expectedBytes: begun.length ?? maxBytes,
      onDoubt: () => staging.doubt(key),
    });
    const upload = { ...begun, key, handle, lifetimeMs, filename: safeFilename(filename, NAME) };
    return await inTransaction(database, async (trx) => {
      await alongside(trx);
      return insertUpload(trx, id, upload, staging);
    });
  } catch (error) {
    await staging.discard([key]);
    throw error;
  }
}
