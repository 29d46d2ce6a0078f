import { join } from 'node:path';
import type { Config } from '../config.ts';
import { FolderStorage } from './folder.ts';
import { UploadMemory } from './memory.ts';
import type { ObjectStorage } from './port.ts';

/** The storage that the configuration asks for: a bucket, else a folder, which is created where it is missing. */
export async function createStorage({
  s3,
  dataDir,
  uploadMemoryBytes,
}: Pick<Config, 's3' | 'dataDir'> & { uploadMemoryBytes?: number | undefined }): Promise<ObjectStorage> {
  const memory = new UploadMemory(uploadMemoryBytes);
  if (!s3) return new FolderStorage(join(dataDir, 'objects'), memory).open();
  // The SDK takes some ten megabytes, which a folder does not need.
  const [{ S3Storage }, { createS3Clients }] = await Promise.all([
    import('./s3.ts'),
    import('./s3-client.ts'),
  ]);
  return new S3Storage({ ...createS3Clients(s3), bucket: s3.bucket, memory });
}
