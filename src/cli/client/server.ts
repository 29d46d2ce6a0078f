import type { Config } from '#platform/config/config.ts';
import { CommandError, connectionFailure } from '../failure.ts';

/** Where the server is and who asks. */
export interface Server {
  /** Without a slash at the end. */
  url: string;
  /** Value of the `Authorization` header. */
  authorization: string;
}

/** The server of this configuration with the administrator's account, by the name it has on this machine. */
export function localServer({ host, port, admin }: Pick<Config, 'host' | 'port' | 'admin'>): Server {
  const bare = host.replace(/^\[|\]$/g, '');
  const reachable = bare === '0.0.0.0' ? '127.0.0.1' : bare === '::' ? '::1' : bare;
  return {
    url: `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`,
    authorization: `Basic ${Buffer.from(`${admin.username}:${admin.password}`).toString('base64')}`,
  };
}

/** The server does not answer, or says that it cannot now: asked again, it may. */
export class ServerAway extends CommandError {
  /** How long it wants to be left alone. */
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs = 0) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** An answer that has not come in this time does not come. */
const ANSWER_MS = 120_000;
/** What servers, and what stands before them, say that they cannot answer with now. */
const AWAY = [429, 502, 503, 504];

/**
 * Sends a request without credentials of its own, and has the answer to its end.
 *
 * @throws {ServerAway} when the server does not answer, or goes away before all of it is there
 */
export async function reach(server: Server, path: string, init: RequestInit): Promise<Response> {
  const limit = AbortSignal.timeout(ANSWER_MS);
  const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
  try {
    const response = await fetch(`${server.url}${path}`, { ...init, signal });
    return new Response((await response.text()) || null, response);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    throw new ServerAway(`${server.url} does not answer: ${connectionFailure(cause)}`);
  }
}

/** GET; an answer other than 200, 304 and those that are expected is a failure. @throws {CommandError} */
export async function get(
  server: Server,
  path: string,
  signal: AbortSignal,
  headers: Record<string, string> = {},
  expected: readonly number[] = [],
): Promise<Response> {
  const asked = { headers: { Authorization: server.authorization, ...headers }, signal };
  const response = await reach(server, path, asked);
  if ([200, 304, ...expected].includes(response.status)) return response;
  throw awayOf(server, response) ?? (await refusalOf(response, ` for ${path}`));
}

/** What an answer says that does not come from the server, or only that it cannot answer now; undefined for others. */
export function awayOf(server: Server, { status, headers }: Response): ServerAway | undefined {
  const after = headers.get('Retry-After');
  // The same request is being carried out.
  if (!AWAY.includes(status) && !(status === 409 && after !== null)) return undefined;
  return new ServerAway(`${server.url} answers ${status}`, Number(after) * 1000 || 0);
}

/** @param what it was that was refused, after a blank */
export async function refusalOf(response: Response, what = ''): Promise<CommandError> {
  const sentence = errorSentence(await response.text()) || response.statusText;
  return new CommandError(`The server answered ${response.status}${what}: ${sentence}`);
}

/** The message of an error answer. */
export function errorSentence(body: string): string {
  try {
    const { message } = JSON.parse(body) as { message?: string };
    return message ?? body;
  } catch {
    return body;
  }
}
