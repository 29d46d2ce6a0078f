import { loadConfig } from '#platform/config/config.ts';
import { awayOf, localServer, reach, refusalOf, type Server } from '../client/server.ts';
import { wrongArguments } from './command.ts';

/** Options of all commands that ask a server. */
export const SERVER_OPTIONS = { url: { type: 'string' }, user: { type: 'string' } } as const;

/** What their usage says of them. */
export const SERVER_USAGE = `  --url URL      the server; without it the one that this environment configures, on this machine
  --user NAME    an account, with its password in INLET_PASSWORD; without it the administrator of this environment`;

/** The server that a command is for. @throws {CommandError} */
export function serverOf(
  { url, user }: { url?: string | undefined; user?: string | undefined },
  environment: NodeJS.ProcessEnv,
  usage: string,
): Server {
  if (url !== undefined && !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw wrongArguments(`--url is ${JSON.stringify(url)}; allowed is an http or https URL.`, usage);
  const password = environment.INLET_PASSWORD;
  if (user !== undefined && !password)
    throw wrongArguments('--user needs the password of the account in INLET_PASSWORD.', usage);
  const local = user === undefined || url === undefined ? localServer(loadConfig(environment)) : undefined;
  return {
    url: (url ?? local?.url ?? '').replace(/\/+$/, ''),
    authorization:
      user === undefined
        ? (local?.authorization ?? '')
        : `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
  };
}

/** Asks the server. @throws {CommandError} with its sentence when it refuses, or when it is not there */
export async function ask(server: Server, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { Authorization: server.authorization, ...init.headers };
  const response = await reach(server, path, { ...init, headers });
  if (response.ok) return response;
  throw awayOf(server, response) ?? (await refusalOf(response));
}
