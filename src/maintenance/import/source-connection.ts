import type { IncomingMessage } from 'node:http';
import { addAbortSignal } from 'node:stream';
import {
  AddressForbidden,
  connect,
  isListedHost,
  OutboundError,
  parseTarget,
  type Target,
} from '#platform/outbound/connect.ts';
import { sendRequest } from '#platform/outbound/http-request.ts';
import { followRedirects } from '#platform/outbound/redirects.ts';
import { responseBody } from '#platform/outbound/response-body.ts';
import { parseRetryAfter } from '#platform/outbound/retry-after.ts';
import { startTolerantTimer } from '#platform/process/timeout.ts';
import type { NamedHost } from '#platform/setting/value-kinds.ts';
import { excerpt } from '#platform/text/excerpt.ts';
import { tryParseJson } from '#platform/text/json.ts';
import { SourceError, type SourceFile } from './catalogue-source.ts';
import { type SourceRequests, TemporaryFault } from './source-requests.ts';

export interface ConnectionOptions {
  /** Without a final slash and without credentials. */
  base: URL;
  username: string;
  password: string;
  /** Further hosts of the installation. They get the credentials, and may have private addresses. */
  nodes: readonly NamedHost[];
  /** Other hosts with files that may have private addresses. */
  mediaHosts: readonly NamedHost[];
  requests: SourceRequests;
}

const MAX_JSON_BYTES = 64 * 2 ** 20;
const REASON_LENGTH = 300;
/** The source, or a proxy in front of it, is busy or being restarted. */
const BUSY: readonly number[] = [408, 425, 429, 500, 502, 503, 504, 507];
const SIGN_IN_PAGE = /\/login\.html$/;

/** Sends requests to a server, with credentials to its own origin and its nodes only. */
export class SourceConnection {
  /** The media type to ask for. */
  accept = 'application/json';
  readonly base: string;
  readonly #options: ConnectionOptions;
  readonly #authorization: string;
  readonly #own: Target;

  constructor(options: ConnectionOptions) {
    const { base, username, password } = options;
    this.base = base.href.replace(/\/$/, '');
    this.#options = options;
    this.#authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    this.#own = parseTarget(base.href);
  }

  /** Requests JSON, in as many attempts as it takes. @param path from `/api` @throws {SourceError} */
  json(path: string, signal: AbortSignal): Promise<unknown> {
    const [what = path] = path.split('?', 1);
    return this.#options.requests.json(`${what} cannot be read`, signal, () => this.attemptJson(path, signal));
  }

  /**
   * Requests JSON once. It is requested with fetch, which keeps connections and decompresses; the address is the
   * operator's, so it needs none of the checks of files.
   *
   * @throws {SourceError | TemporaryFault}
   */
  async attemptJson(path: string, signal: AbortSignal): Promise<unknown> {
    const { requests } = this.#options;
    const [what = path] = path.split('?', 1);
    await requests.turn(signal);
    const { body, response } = await withIdleLimit(requests.limits.idleMs, signal, async (until, progress) => {
      const headers = { Accept: this.accept, Authorization: this.#authorization, 'User-Agent': 'Inlet' };
      const response = await fetch(this.base + path, { headers, redirect: 'manual', signal: until });
      return { response, body: await readText(response, progress) };
    });
    const { status } = response;
    if (status === 200) {
      const json = tryParseJson(body);
      if (json !== undefined) return json;
      throw new SourceError(`${what} is not answered with JSON.`, status);
    }
    const location = response.headers.get('location');
    if (location !== null && status >= 300 && status < 400) throw redirected(what, status, location, this.base);
    throw statusFault(what, status, response.headers.get('retry-after'), body);
  }

  /** Opens a file, in as many attempts as it takes. @throws {SourceError} */
  async open(address: string, signal: AbortSignal): Promise<SourceFile> {
    const target = this.#fileTarget(address);
    const { requests } = this.#options;
    const what = `The file ${shownAddress(target.url)}`;
    const attempt = () => this.#attemptFile(what, target, signal);
    const { file, release } = await requests.file(`${what} cannot be read`, signal, attempt, this.#isOwn(target));
    file.stream.once('close', release);
    // It may have been closed before.
    if (file.stream.closed) release();
    addAbortSignal(signal, file.stream);
    return { stream: file.stream, size: file.expectedBytes };
  }

  #isOwn({ url }: Target): boolean {
    return url.origin === this.#own.url.origin;
  }

  /** Returns true for an address that gets the credentials; never without TLS if the server has it. */
  #isTrusted(target: Target): boolean {
    const isNode = isListedHost(this.#options.nodes, target) && (target.secure || !this.#own.secure);
    return isNode || this.#isOwn(target);
  }

  /** Parses the address of a file; a relative one is resolved against the source. @throws {SourceError} */
  #fileTarget(address: string): Target {
    const base = `${this.base}/`;
    return this.#parse(URL.canParse(address, base) ? new URL(address, base).href : address);
  }

  /** @throws {SourceError} */
  #parse(address: string, from?: URL): Target {
    try {
      return parseTarget(address, from);
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      throw new SourceError(`The address of a file cannot be used: ${error.message}.`);
    }
  }

  async #attemptFile(what: string, first: Target, signal: AbortSignal) {
    const { limits } = this.#options.requests;
    let asked = first;
    const ask = (target: Target) => {
      asked = target;
      return this.#ask(target, signal);
    };
    const advised = (error: Error) => {
      const isRefused = error instanceof SourceError && REFUSED.includes(error.status ?? 0);
      if (!isRefused || this.#isTrusted(asked)) return error;
      const advice = `If ${asked.host} belongs to the source, name it with --node.`;
      return new SourceError(`${error.message.replace(/\.$/, '')}. ${advice}`, error.status);
    };
    const targetOf = (location: string, from: URL) => {
      const target = this.#parse(location, from);
      if (!SIGN_IN_PAGE.test(target.url.pathname)) return target;
      throw advised(new SourceError(`${what} requires signing in.`, UNAUTHORIZED));
    };
    const answer = await followRedirects(first, ask, targetOf).catch((error) => {
      throw error instanceof AddressForbidden
        ? new SourceError(`${what} is not read: ${error.message}.`)
        : asFault(error);
    });
    const { statusCode = 0, headers } = answer;
    if (statusCode !== 200) {
      answer.destroy();
      throw advised(statusFault(what, statusCode, headers['retry-after']));
    }
    try {
      return responseBody(answer, { maxBytes: Number.POSITIVE_INFINITY, idleMs: limits.idleMs });
    } catch (error) {
      throw error instanceof OutboundError ? new SourceError(`${what} cannot be read: ${error.message}.`) : error;
    }
  }

  async #ask(target: Target, signal: AbortSignal): Promise<IncomingMessage> {
    const { requests, nodes, mediaHosts } = this.#options;
    await requests.turn(signal);
    const hosts = [{ host: this.#own.host, port: undefined }, ...nodes, ...mediaHosts];
    const socket = await connect(target, { hosts, variable: HOSTS_VARIABLE, namedMayBePrivate: true, signal });
    const headers = { ...(this.#isTrusted(target) && { Authorization: this.#authorization }) };
    return sendRequest(target, socket, { headers, idleMs: requests.limits.idleMs, signal });
  }
}

const UNAUTHORIZED = 401;
const REFUSED: readonly number[] = [UNAUTHORIZED, 403];
const HOSTS_VARIABLE = 'the URL of the source';

/** Runs with a signal that also aborts when there is no progress for so long. @throws {TemporaryFault} */
async function withIdleLimit<T>(
  idleMs: number,
  signal: AbortSignal,
  run: (until: AbortSignal, progress: () => void) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const silence = new TemporaryFault(`it sent nothing for ${idleMs / 1000} seconds`);
  const onAbort = () => controller.abort(signal.reason);
  const start = () => startTolerantTimer(idleMs, () => controller.abort(silence));
  let cancel = start();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    signal.throwIfAborted();
    return await run(controller.signal, () => {
      cancel();
      cancel = start();
    });
  } catch (error) {
    throw asFault(controller.signal.aborted ? controller.signal.reason : error);
  } finally {
    cancel();
    signal.removeEventListener('abort', onAbort);
  }
}

/** Turns errors of a connection into a fault that may pass. */
export function asFault(error: unknown): unknown {
  if (error instanceof OutboundError) return new TemporaryFault(error.message);
  // fetch rejects with it, and with the reason as the cause.
  if (!(error instanceof TypeError && 'cause' in error)) return error;
  const { cause } = error as { cause?: { code?: string; message?: string } };
  return new TemporaryFault(`the connection failed (${cause?.code ?? cause?.message ?? error.message})`);
}

async function readText(response: Response, progress: () => void): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    progress();
    size += chunk.length;
    if (size > MAX_JSON_BYTES) throw new SourceError(`An answer is larger than ${MAX_JSON_BYTES / 2 ** 20} MiB.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Returns the error for a status other than 200. @param what the subject of its sentence */
export function statusFault(what: string, status: number, retryAfter: string | null | undefined, body = ''): Error {
  const answer = { status, retryAfterMs: parseRetryAfter(retryAfter) };
  if (BUSY.includes(status)) return new TemporaryFault(`it responded with status ${status}`, answer);
  // Errors of the API are sentences; pages of other servers say nothing.
  const sentence = body.includes('<')
    ? ''
    : excerpt(body, REASON_LENGTH)
        .replaceAll(/[\s\p{Cc}]+/gu, ' ')
        .trim();
  return new SourceError(`${what} is answered with status ${status}${sentence && `: ${sentence}`}`, status);
}

function redirected(path: string, status: number, location: string, base: string): SourceError {
  const to = URL.canParse(location, base) ? new URL(location, base) : undefined;
  if (to && SIGN_IN_PAGE.test(to.pathname)) return new SourceError(`${path} requires signing in.`, UNAUTHORIZED);
  return new SourceError(`${path} redirects to ${to ? shownAddress(to) : 'an invalid address'}.`, status);
}

/** Formats an address without its query, which may hold a signature. */
function shownAddress({ origin, pathname }: URL): string {
  return excerpt(origin + pathname);
}
