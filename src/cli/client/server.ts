import type { Config } from '../../config.ts';
import { CommandError } from '../failure.ts';

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

/** GET; an answer other than 200, 304 and those that are expected is a failure. @throws {CommandError} */
export async function get(
  server: Server,
  path: string,
  signal: AbortSignal,
  headers: Record<string, string> = {},
  expected: readonly number[] = [],
): Promise<Response> {
  const response = await fetch(`${server.url}${path}`, {
    headers: { Authorization: server.authorization, ...headers },
    signal,
  });
  if ([200, 304, ...expected].includes(response.status)) return response;
  throw new CommandError(
    `The server answered ${response.status} for ${path}: ${errorSentence(await response.text())}`,
  );
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
