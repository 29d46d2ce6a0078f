import type { Config } from '#platform/config/config.ts';
import type { EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import type { ObjectStorage } from '#platform/storage/port.ts';

/**
 * Refuses an upload for which there is certainly no room, before anything of it is read: many clients wait to be asked for
 * what they send. What is longer than any upload may be is refused as that.
 *
 * @param copies how often what comes is stored
 * @throws {StorageRefused}
 */
export async function requireRoom(
  { c }: EndpointRequest,
  { config, storage }: { config: Pick<Config, 'maxUploadBytes'>; storage: Pick<ObjectStorage, 'requireRoom'> },
  copies = 1,
): Promise<void> {
  const length = Number(c.req.header('Content-Length'));
  if (length > 0 && length <= config.maxUploadBytes) await storage.requireRoom(copies * length);
}
