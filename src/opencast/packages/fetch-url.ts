import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { ReceivedFile, StagedFiles } from '#ingest/staged-files.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { safeFilename } from '#platform/http/form/filename.ts';
import { detectTrackType } from '#platform/media/signature.ts';
import { isNamed } from '#platform/outbound/addresses.ts';
import { ask } from '#platform/outbound/ask.ts';
import { type ConnectOptions, connect } from '#platform/outbound/connect.ts';
import { OutboundFault, parseTarget, type Target } from '#platform/outbound/target.ts';
import { patientTimer } from '#platform/process/timeout.ts';
import type { NamedHost } from '#platform/setting/value-kinds.ts';
import type { PackageServices } from './packages.ts';

/** A file that a client names by its address, and that is not fetched from there or does not come. */
export const URL_REFUSED = refusal(400, (reason: string) => `The URL cannot be fetched: ${reason}.`, [
  'its host is not one that INGEST_URL_HOSTS names',
]);

/** A file that is larger than those of a request may be. */
const URL_TOO_LARGE = refusal(
  413,
  (bytes: number) => `The file at the URL is larger than ${bytes} bytes, which is what may still come.`,
  [100 * 2 ** 30],
);

/** Does something, and refuses the URL where another host is to blame. @throws {HttpError} 400 */
function refuseOutboundFaults<T>(work: () => T): T {
  try {
    const done = work();
    return (done instanceof Promise ? done.catch(refuse) : done) as T;
  } catch (error) {
    return refuse(error);
  }
}

function refuse(error: unknown): never {
  throw error instanceof OutboundFault ? URL_REFUSED(error.message) : error;
}

/**
 * What an address leads to.
 *
 * @param base what a redirect led away from
 * @throws {HttpError} 400 unless its host is named
 */
export function targetOf(text: string, hosts: readonly NamedHost[], base?: URL): Target {
  const target = refuseOutboundFaults(() => parseTarget(text, base));
  if (!isNamed(hosts, target)) {
    throw URL_REFUSED(
      `${base ? 'it redirects to a host' : 'its host and port are'} not among those of INGEST_URL_HOSTS`,
    );
  }
  return target;
}

/** What a fetched file may have and take. Sizes in bytes, times in milliseconds. */
interface ContentLimits {
  maxBytes: number;
  idleMs: number;
  signal?: AbortSignal | undefined;
}

/** However large a file is. */
const TOTAL_MS = 24 * 3_600_000;

/**
 * How long the body of an answer says it is, undefined where it comes in chunks.
 *
 * @throws {HttpError} 400 for one whose end nobody could tell from a cut, 413
 */
function expectedBytesOf({ headers }: IncomingMessage, maxBytes: number): number | undefined {
  const encoding = headers['content-encoding']?.trim().toLowerCase() || 'identity';
  if (encoding !== 'identity') throw URL_REFUSED('its host packs the file on the way');
  const length = headers['content-length'];
  if (length === undefined || headers['transfer-encoding'] !== undefined) {
    if (/(^|,)\s*chunked\s*$/i.test(headers['transfer-encoding'] ?? '')) return undefined;
    throw URL_REFUSED('its host says neither how long the file is nor where it ends');
  }
  if (!/^\d{1,15}$/.test(length)) throw URL_REFUSED('its host gave no answer that can be read');
  if (Number(length) > maxBytes) throw URL_TOO_LARGE(maxBytes);
  return Number(length);
}

/** The body of an answer, read at the pace of who reads it. It fails with an `HttpError` when it is not whole. */
function contentOf(
  answer: IncomingMessage,
  expected: number | undefined,
  { maxBytes, idleMs, signal }: ContentLimits,
): Readable {
  let received = 0;
  /** Stops the clock that runs while the host is waited for. */
  let stopIdle: (() => void) | undefined;
  const awaitMore = () => {
    stopIdle?.();
    stopIdle = patientTimer(idleMs, () =>
      stream.destroy(URL_REFUSED(`its host sent nothing for ${idleMs / 1000} seconds`)),
    );
  };
  const stream = new Readable({
    // Each chunk by itself: to join them would copy them.
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
      signal?.removeEventListener('abort', onAbort);
      answer.destroy();
      done(error);
    },
  });
  // Who is to read it looks for a place to store it first; what fails meanwhile, the first read tells.
  stream.on('error', () => undefined);
  const onAbort = () => stream.destroy(signal?.reason);
  const total = setTimeout(() => stream.destroy(URL_REFUSED('it takes more than a day')), TOTAL_MS);
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  answer.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > maxBytes) return stream.destroy(URL_TOO_LARGE(maxBytes));
    if (stream.push(chunk)) return awaitMore();
    // The time in which the reader is slow is not the host's.
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

const cut = () => URL_REFUSED('its host ended the connection before the file was whole');

const MAX_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];
const MAX_URL_LENGTH = 4096;

/** How a file is fetched from an address. */
export interface FetchOptions extends ContentLimits, Pick<ConnectOptions, 'lookup'> {
  /** Hosts that may be asked, as INGEST_URL_HOSTS names them; none when undefined. */
  hosts: readonly NamedHost[] | undefined;
}

/** A file that comes from an address. */
interface FetchedFile {
  /** For people: the last part of the path that the client gave, made safe to show. */
  filename: string;
  /** Must be read or destroyed. Fails with an `HttpError` when the file does not come as a whole. */
  stream: Readable;
  /** As the host says. */
  expectedBytes: number | undefined;
}

/**
 * Begins to fetch a file from an address that a client gave. Only named hosts are asked, at each step of a redirect, and
 * at public addresses unless these are named themselves.
 *
 * @throws {HttpError} 400 what may not or cannot be fetched, 413 too large
 * @throws the reason of the signal
 */
export async function openUrl(text: string, options: FetchOptions): Promise<FetchedFile> {
  const { hosts } = options;
  if (!hosts) throw URL_REFUSED('INGEST_URL_HOSTS is not set, so files come in requests only');
  if (text.length > MAX_URL_LENGTH) throw URL_REFUSED(`it is longer than ${MAX_URL_LENGTH} characters`);
  const first = targetOf(text, hosts);
  const answer = await follow(first, { ...options, hosts });
  try {
    if (answer.statusCode !== 200) throw URL_REFUSED(`its host answers with the status ${answer.statusCode}`);
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
    const answer = await refuseOutboundFaults(async () =>
      ask(asked, await connect(asked, { ...options, variable: 'INGEST_URL_HOSTS' }), options),
    );
    // Whoever drops the answer hears of nothing more.
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
  return safeFilename(decoded(last), 'download');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

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
