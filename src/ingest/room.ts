import type { Config } from '#platform/config/config.ts';
import type { EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import type { ObjectStorage } from '#platform/storage/port.ts';

/**
 * Refuses an upload for which the storage certainly lacks space before its body is read, because many clients wait for
 * `100 Continue`. Longer bodies than allowed are refused later with another error.
 *
 * @param copies the number of stored copies
 * @throws {StorageRefused}
 */
export async function requireDiskSpace(
  { c }: EndpointRequest,
  { config, storage }: { config: Pick<Config, 'maxUploadBytes'>; storage: Pick<ObjectStorage, 'requireRoom'> },
  copies = 1,
): Promise<void> {
  const length = Number(c.req.header('Content-Length'));
  if (length > 0 && length <= config.maxUploadBytes) await storage.requireRoom(copies * length);
}
