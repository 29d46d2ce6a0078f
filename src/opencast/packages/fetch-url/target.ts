import { isNamed } from '#platform/outbound/addresses.ts';
import { parseTarget, type Target } from '#platform/outbound/target.ts';
import type { NamedHost } from '#platform/setting/value-kinds.ts';
import { refusing, URL_REFUSED } from './refusals.ts';

/**
 * What an address leads to.
 *
 * @param base what a redirect led away from
 * @throws {HttpError} 400 unless its host is named
 */
export function targetOf(text: string, hosts: readonly NamedHost[], base?: URL): Target {
  const target = refusing(() => parseTarget(text, base));
  if (!isNamed(hosts, target)) {
    throw URL_REFUSED(
      `${base ? 'it redirects to a host' : 'its host and port are'} not among those of INGEST_URL_HOSTS`,
    );
  }
  return target;
}
