import { text } from 'node:stream/consumers';
import type { ReceivedFile, StagedFiles } from '#ingest/staged-files.ts';
import { detectTrackType } from '#platform/media/signature.ts';
import { openUrl } from './fetch-url/open-url.ts';
import type { PackageServices } from './packages.ts';

const TEXT_BYTES = 2 ** 20;

/**
 * Stores a file that a client names by its address instead of sending it.
 *
 * @param bytes that the request has brought besides
 * @throws {HttpError} as `openUrl`
 */
export async function storeFetched(
  url: string,
  staged: StagedFiles,
  { config }: Pick<PackageServices, 'config'>,
  bytes = 0,
): Promise<ReceivedFile> {
  const { maxUploadBytes, uploadIdleMs: idleMs, ingestUrlHosts: hosts } = config;
  const maxBytes = maxUploadBytes - bytes;
  const { filename, stream, expectedBytes } = await openUrl(url, { hosts, maxBytes, idleMs });
  try {
    const file = { field: 'url', filename, expectedBytes: expectedBytes ?? maxBytes };
    return await staged.store({ ...file, stream, detect: detectTrackType });
  } finally {
    stream.destroy();
  }
}

/** The text of a catalog that a client names by its address. @throws {HttpError} as `openUrl` */
export async function readFetched(
  url: string,
  { config }: Pick<PackageServices, 'config'>,
): Promise<{ filename: string; content: string }> {
  const { uploadIdleMs: idleMs, ingestUrlHosts: hosts } = config;
  const { filename, stream } = await openUrl(url, { hosts, maxBytes: TEXT_BYTES, idleMs });
  try {
    return { filename, content: await text(stream) };
  } finally {
    stream.destroy();
  }
}
