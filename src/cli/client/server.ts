import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '#platform/config/config.ts';
import { CommandError, connectionFailure } from '../failure.ts';

export interface Server {
  /** Without a slash at the end. */
  url: string;
  authorization: string;
}

/** Returns the server of this configuration at its local address, with the administrator's account. */
export function localServer({ host, port, admin }: Pick<Config, 'host' | 'port' | 'admin'>): Server {
  const bare = host.replace(/^\[|\]$/g, '');
  const reachable = bare === '0.0.0.0' ? '127.0.0.1' : bare === '::' ? '::1' : bare;
  return {
    url: `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`,
    authorization: basicAuthorization(admin.username, admin.password),
  };
}

export function basicAuthorization(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** The server does not answer, or asks to try again later. */
export class ServerAway extends CommandError {
  /** The pause that the server asks for. */
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs = 0) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

const ANSWER_TIMEOUT_MS = 120_000;
/** Statuses of servers and proxies that ask to try again later. */
const AWAY = [429, 502, 503, 504];

/**
 * Sends a request, and reads the whole answer.
 *
 * @param expected further statuses that are no failure
 * @throws {ServerAway} if the server does not answer completely, or asks to try again later
 * @throws {CommandError} with the server's message for other failures
 */
export async function ask(
  server: Server,
  path: string,
  { headers, ...init }: RequestInit = {},
  expected: readonly number[] = [],
  timeoutMs = ANSWER_TIMEOUT_MS,
): Promise<Response> {
  const limit = AbortSignal.timeout(timeoutMs);
  const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
  const authorized = { Authorization: server.authorization, ...headers };
  const response = await fetch(`${server.url}${path}`, { ...init, headers: authorized, signal })
    .then(async (answer) => new Response((await answer.text()) || null, answer))
    .catch((error) => {
      if (init.signal?.aborted) throw error;
      const cause = error instanceof Error ? (error.cause ?? error) : error;
      throw new ServerAway(`${server.url} does not answer: ${connectionFailure(cause)}`);
    });
  const { ok, status } = response;
  if (ok || expected.includes(status)) return response;
  const after = response.headers.get('Retry-After');
  // 409 with Retry-After: the same request is still being processed.
  if (AWAY.includes(status) || (status === 409 && after !== null)) {
    throw new ServerAway(`${server.url} answers ${status}`, Number(after) * 1000 || 0);
  }
  const message = errorMessage(await response.text()) || response.statusText;
  throw new CommandError(`The server answered ${status} for ${path}: ${message}`);
}

export function errorMessage(body: string): string {
  try {
    const { message } = JSON.parse(body) as { message?: string };
    return message ?? body;
  } catch {
    return body;
  }
}

/** Longer than an upgrade or a restart of the machine takes. */
const PATIENCE_MS = 600_000;
const PAUSE_MS = 2_000;

/**
 * Repeats an idempotent request while the server is away.
 *
 * @param options.onAway runs after each failed attempt
 * @param options.patienceMs the time after which it gives up
 * @throws {ServerAway} if the server stays away
 */
export async function retryWhileAway<T>(
  send: () => Promise<T>,
  {
    signal,
    onAway,
    patienceMs = PATIENCE_MS,
    pauseMs = PAUSE_MS,
  }: { signal: AbortSignal; onAway?: (away: ServerAway) => void; patienceMs?: number; pauseMs?: number },
): Promise<T> {
  const started = performance.now();
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof ServerAway)) throw error;
      const left = patienceMs - (performance.now() - started);
      if (left <= 0) throw error;
      onAway?.(error);
      await sleep(Math.min(Math.max(pauseMs, error.retryAfterMs), left), undefined, { signal });
    }
  }
}
