import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { loadConfig } from '#platform/config/config.ts';
import { basicAuthorization, localServer, type Server } from './client/server.ts';
import { CommandError } from './failure.ts';

export interface Terminal {
  environment: NodeJS.ProcessEnv;
  signal: AbortSignal;
  /** Prints one line of the result. */
  print(line: string): void;
  /** Shows progress and warnings; may be a file. */
  screen: NodeJS.WriteStream;
}

/** A command that uses these parts of the terminal. */
export interface Command<T = Terminal> {
  /** The help text; its first line is the synopsis. */
  usage: string;
  /** @returns the exit code, 0 only if everything succeeded. @throws {CommandError} */
  run(args: readonly string[], terminal: T): Promise<number>;
}

/** Runs a command, or prints its usage if the arguments ask for help. @returns the exit code */
export async function runCommand<T extends Pick<Terminal, 'print'>>(
  command: Command<T>,
  args: readonly string[],
  terminal: T,
): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    terminal.print(command.usage);
    return 0;
  }
  try {
    return await command.run(args, terminal);
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`${error.message}\n\n${command.usage}`) : error;
  }
}

/** Wrong arguments, which are shown with the usage. */
export class UsageError extends CommandError {}

/** Parses arguments of which at most `most` are positional. @throws {UsageError} */
export function parseArguments<T extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: T,
  most = Number.POSITIVE_INFINITY,
) {
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true });
    const surplus = parsed.positionals[most];
    if (surplus !== undefined) throw new Error(`Unexpected argument "${surplus}".`);
    return parsed;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

export const SERVER_OPTIONS = { url: { type: 'string' }, user: { type: 'string' } } as const;
export const SERVER_USAGE = `  --url URL      the server; by default the one on this machine, as configured by the environment
  --user NAME    the account, with its password in INLET_PASSWORD; by default the administrator of the environment`;

/** Returns the server that the options select. @throws {UsageError} */
export function selectServer(
  { url, user }: { url?: string | undefined; user?: string | undefined },
  environment: NodeJS.ProcessEnv,
): Server {
  if (url !== undefined && !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new UsageError(`--url is ${JSON.stringify(url)}; it must be an http or https URL.`);
  const password = environment.INLET_PASSWORD;
  if (user !== undefined && !password)
    throw new UsageError('--user requires the password of the account in INLET_PASSWORD.');
  const local = user === undefined || url === undefined ? localServer(loadConfig(environment)) : undefined;
  return {
    url: (url ?? local?.url ?? '').replace(/\/+$/, ''),
    authorization: user === undefined ? (local?.authorization ?? '') : basicAuthorization(user, password ?? ''),
  };
}
