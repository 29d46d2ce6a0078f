import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
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
import { startTolerantTimer } from '#platform/process/timeout.ts';
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

/** Turns faults of other hosts into an error response. @throws {HttpError} 400 */
function refuse(error: unknown): never {
  throw error instanceof OutboundError ? URL_REFUSED(error.message) : error;
}

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
    refuse(error);
  }
  throw URL_REFUSED(`${base ? 'it redirects to a host that is' : 'its host and port are'} not in INGEST_URL_HOSTS`);
}

/** Limits for a fetched file. Sizes are in bytes, times in milliseconds. */
interface ContentLimits {
  maxBytes: number;
  idleMs: number;
}

/** Limit for a file of any size. */
const TOTAL_MS = 24 * 3_600_000;

/**
 * Returns the length of a response, or undefined for a chunked one.
 * @throws {HttpError} 400 if the end of the body looks like an interruption, 413
 */
function expectedBytesOf({ headers }: IncomingMessage, maxBytes: number): number | undefined {
  const encoding = headers['content-encoding']?.trim().toLowerCase() || 'identity';
  if (encoding !== 'identity') throw URL_REFUSED('its host compresses the file in transit');
  const length = headers['content-length'];
  if (length === undefined || headers['transfer-encoding'] !== undefined) {
    if (/(^|,)\s*chunked\s*$/i.test(headers['transfer-encoding'] ?? '')) return undefined;
    throw URL_REFUSED('its host sends neither a length nor chunks');
  }
  if (!/^\d{1,15}$/.test(length)) throw URL_REFUSED('its host sent an invalid length');
  if (Number(length) > maxBytes) throw URL_TOO_LARGE(maxBytes);
  return Number(length);
}

/** Returns the body of a response as a stream with backpressure. It fails with an `HttpError` when it is incomplete. */
function contentOf(
  answer: IncomingMessage,
  expected: number | undefined,
  { maxBytes, idleMs }: ContentLimits,
): Readable {
  let received = 0;
  /** Stops the timer that runs while the host is sending. */
  let stopIdle: (() => void) | undefined;
  const awaitMore = () => {
    stopIdle?.();
    stopIdle = startTolerantTimer(idleMs, () =>
      stream.destroy(URL_REFUSED(`its host sent nothing for ${idleMs / 1000} seconds`)),
    );
  };
  const stream = new Readable({
    // Joining chunks would copy them.
    objectMode: true,
    highWaterMark: 4,
    read() {
      if (stopIdle) return;
      awaitMore();
      answer.resume();
    },
    destroy(error, done) {
      stopIdle?.();
      clearTimeout(total);
      answer.destroy();
      done(error);
    },
  });
  // The reader first allocates space. An earlier fault is reported by the first read.
  stream.on('error', () => undefined);
  const total = setTimeout(() => stream.destroy(URL_REFUSED('the download takes more than a day')), TOTAL_MS);
  answer.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > maxBytes) return stream.destroy(URL_TOO_LARGE(maxBytes));
    if (stream.push(chunk)) return awaitMore();
    // Time that the reader takes does not count.
    stopIdle?.();
    stopIdle = undefined;
    answer.pause();
  });
  const onEnd = () => {
    stopIdle?.();
    if (!answer.complete || (expected !== undefined && received !== expected)) stream.destroy(cut());
    else stream.push(null);
  };
  answer.once('end', onEnd);
  answer.on('error', () => stream.destroy(cut()));
  answer.once('close', () => {
    if (!answer.readableEnded) stream.destroy(cut());
  });
  answer.pause();
  return stream;
}

const cut = () => URL_REFUSED('its host closed the connection before the file was complete');

const MAX_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];
const MAX_URL_LENGTH = 4096;

export interface FetchOptions extends ContentLimits, Pick<ConnectOptions, 'lookup'> {
  hosts: readonly NamedHost[] | undefined;
}

interface FetchedFile {
  /** The last part of the path, made safe for display. */
  filename: string;
  /** Must be read or destroyed. Fails with an `HttpError` when the file is incomplete. */
  stream: Readable;
  expectedBytes: number | undefined;
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
  const answer = await follow(first, { ...options, hosts });
  try {
    if (answer.statusCode !== 200) throw URL_REFUSED(`its host answered with status ${answer.statusCode}`);
    const expectedBytes = expectedBytesOf(answer, options.maxBytes);
    const stream = contentOf(answer, expectedBytes, options);
    return { filename: filenameOf(first.url), stream, expectedBytes };
  } catch (error) {
    answer.destroy();
    throw error;
  }
}

async function follow(
  first: Target,
  options: FetchOptions & { hosts: readonly NamedHost[] },
): Promise<IncomingMessage> {
  let target = first;
  for (let redirects = 0; ; redirects++) {
    const asked = target;
    const connected = connect(asked, { ...options, variable: 'INGEST_URL_HOSTS' });
    const answer = await connected.then((socket) => sendRequest(asked, socket, options)).catch(refuse);
    // A response that was dropped may still fail.
    answer.on('error', () => undefined);
    const { location } = answer.headers;
    if (!REDIRECTS.includes(answer.statusCode ?? 0) || location === undefined) return answer;
    answer.destroy();
    if (redirects === MAX_REDIRECTS) throw URL_REFUSED(`it redirects more than ${MAX_REDIRECTS} times`);
    target = targetOf(location, options.hosts, target.url);
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
