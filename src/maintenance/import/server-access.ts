import { z } from 'zod';
import { API_VERSIONS, type ApiVersion } from '#platform/http/answer/version.ts';
import { SourceError, SourceUnusable } from './catalogue-source.ts';
import type { SourceConnection } from './source-connection.ts';

/** Parses the address of a server. @throws {SourceUnusable} */
export function baseOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new SourceUnusable('The URL must begin with http:// or https://.');
  if (url.username || url.password)
    throw new SourceUnusable('The URL must contain no user and no password. Give them as options.');
  url.search = '';
  url.hash = '';
  url.pathname = url.pathname.replace(/(\/api)?\/*$/, '');
  return url;
}

const Versions = z.object({ versions: z.array(z.string()) });

/** Returns the newest version that the server and Inlet support. @throws {SourceUnusable} */
export async function newestCommonVersion(connection: SourceConnection, signal: AbortSignal): Promise<ApiVersion> {
  const answer = await connection.json('/api/version', signal).catch((error) => {
    if (!(error instanceof SourceError)) throw error;
    if (isRefused(error)) throw accessRefused(error, 'ROLE_API');
    throw new SourceUnusable(`${connection.base} is not usable as a source: ${error.message} ${CHECK_URL}`);
  });
  const { data } = Versions.safeParse(answer);
  if (!data) throw new SourceUnusable(`${connection.base}/api/version is not of the External API. ${CHECK_URL}`);
  const common = API_VERSIONS.findLast((version) => data.versions.includes(`v${version}`));
  if (common) return common;
  throw new SourceUnusable(
    `${connection.base} supports none of the versions ${API_VERSIONS[0]} to ${API_VERSIONS.at(-1)} of the External API.`,
  );
}

const CHECK_URL = 'Check the URL: it is the address of the server, to which /api is added.';
const UNAUTHORIZED = 401;
const FORBIDDEN = 403;

/** Returns true if the account may not send a request. */
export function isRefused({ status }: SourceError): boolean {
  return status === UNAUTHORIZED || status === FORBIDDEN;
}

/** Returns the end of an import whose account lacks a role. */
export function accessRefused(error: SourceError, role: string): SourceUnusable {
  return new SourceUnusable(
    error.status === UNAUTHORIZED
      ? 'The source refuses the user name or the password. Check both.'
      : `${error.message} Give the account at the source the role ${role}, or ROLE_ADMIN.`,
  );
}
