import { text } from 'node:stream/consumers';
import type { ReceivedFile, StagedFiles } from '#ingest/staged-files.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { safeFilename } from '#platform/http/form/filename.ts';
import { detectTrackType } from '#platform/media/media-type.ts';
import {
  type ConnectOptions,
  connect,
  isListedHost,
  OutboundError,
  parseTarget,
  type Target,
} from '#platform/outbound/connect.ts';
import { sendRequest } from '#platform/outbound/http-request.ts';
import { followRedirects } from '#platform/outbound/redirects.ts';
import { type BodyLimits, BodyTooLarge, type ResponseBody, responseBody } from '#platform/outbound/response-body.ts';
import type { NamedHost } from '#platform/setting/value-kinds.ts';
import { decodeUri } from '../received-text.ts';
import type { PackageServices } from './packages.ts';

export const URL_REFUSED = refusal(400, (reason: string) => `The URL cannot be fetched: ${reason}.`, [
  'its host is not in INGEST_URL_HOSTS',
]);

const URL_TOO_LARGE = refusal(
  413,
  (bytes: number) => `The file at the URL is larger than the ${bytes} bytes that are left for this request.`,
  [100 * 2 ** 30],
);

/** Returns a function that turns faults of other hosts into an error response: 400 or 413. */
const refusalFor = (maxBytes: number) => (error: OutboundError) =>
  error instanceof BodyTooLarge ? URL_TOO_LARGE(maxBytes) : URL_REFUSED(error.message);

/**
 * Parses a URL.
 * @param base the URL that redirected to it
 * @throws {HttpError} 400 unless its host is in INGEST_URL_HOSTS
 */
export function targetOf(text: string, hosts: readonly NamedHost[], base?: URL): Target {
  try {
    const target = parseTarget(text, base);
    if (isListedHost(hosts, target)) return target;
  } catch (error) {
    throw error instanceof OutboundError ? URL_REFUSED(error.message) : error;
  }
  throw URL_REFUSED(`${base ? 'it redirects to a host that is' : 'its host and port are'} not in INGEST_URL_HOSTS`);
}

const MAX_URL_LENGTH = 4096;

export interface FetchOptions extends BodyLimits, Pick<ConnectOptions, 'lookup'> {
  hosts: readonly NamedHost[] | undefined;
}

/** Its stream fails with an `HttpError`. */
interface FetchedFile extends ResponseBody {
  /** The last part of the path, made safe for display. */
  filename: string;
}

/**
 * Starts to fetch a file from a URL. Every redirect must lead to a host of INGEST_URL_HOSTS, and to a public address
 * unless the list names the address.
 * @throws {HttpError} 400 if it is not allowed or fails, 413 if it is too large
 */
export async function openUrl(text: string, options: FetchOptions): Promise<FetchedFile> {
  const { hosts } = options;
  if (!hosts) throw URL_REFUSED('INGEST_URL_HOSTS is not set, so files must be sent in the request');
  if (text.length > MAX_URL_LENGTH) throw URL_REFUSED(`it is longer than ${MAX_URL_LENGTH} characters`);
  const first = targetOf(text, hosts);
  const toError = refusalFor(options.maxBytes);
  try {
    const answer = await followRedirects(
      first,
      async (target) => {
        const socket = await connect(target, { ...options, hosts, variable: 'INGEST_URL_HOSTS' });
        return sendRequest(target, socket, options);
      },
      (location, from) => targetOf(location, hosts, from),
    );
    if (answer.statusCode !== 200) {
      answer.destroy();
      throw new OutboundError(`its host answered with status ${answer.statusCode}`);
    }
    return { filename: filenameOf(first.url), ...responseBody(answer, { ...options, toError }) };
  } catch (error) {
    throw error instanceof OutboundError ? toError(error) : error;
  }
}

function filenameOf({ pathname }: URL): string {
  const last = pathname.split('/').at(-1) ?? '';
  return safeFilename(decodeUri(last), 'download');
}

const TEXT_BYTES = 2 ** 20;

/**
 * Stores the file at a URL.
 * @param bytes size of the files that the request has sent
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

/** Reads the catalog at a URL. @throws {HttpError} as `openUrl` */
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
