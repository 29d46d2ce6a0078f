import { MIGRATION_LIMITS } from '../../../src/platform/database/client.ts';
import { createDatabase, type Database } from '../../../src/platform/database/kysely.ts';
import { createPool } from '../../../src/platform/database/pool.ts';
import { folderPlace } from '../../../src/platform/storage/folder.ts';
import type { ObjectStorage } from '../../../src/platform/storage/object-storage.ts';
import { bucketPlace } from '../../../src/platform/storage/s3-backend.ts';
import type { TestS3 } from '../../../test/support/s3.ts';
import type { Cleanup } from '../../bench/support/cleanup.ts';

/** A pool of this process's own, whose statements may take as long as they take. */
export function openDatabase(url: string, cleanup: Cleanup): Database {
  const pool = createPool(url, { limits: MIGRATION_LIMITS, onError: () => undefined });
  cleanup.add(() => pool.end());
  return createDatabase(pool);
}

/** The objects, without what is between the product and them. */
export async function openStorage(dataDir: string, { s3 }: { s3?: TestS3 }, cleanup: Cleanup): Promise<ObjectStorage> {
  // The SDK reads the environment with its first request.
  if (s3) Object.assign(process.env, s3.env);
  const bucket = s3?.env.S3_BUCKET;
  const place = bucket ? bucketPlace({ bucket, forcePathStyle: true }) : folderPlace(dataDir);
  const storage = await place.open();
  cleanup.add(() => storage.close());
  await storage.check();
  return storage;
}
