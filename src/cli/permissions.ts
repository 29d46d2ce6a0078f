import { isAbsolute, join, relative } from 'node:path';
import type { Config } from '#platform/config/config.ts';
import { privateFiles } from '#platform/database/embedded/embedded-paths.ts';
import type { MediaTools } from '#platform/media/tools/locate-tools.ts';
import type { Endpoints } from '#platform/outbound/endpoints.ts';
import { CommandError } from './failure.ts';

/** The permissions of a process. Everything else is forbidden. */
export interface Permissions {
  read: string[];
  write: string[];
  /** Paths that may be neither read nor written. */
  closed: string[];
  net: string[];
  anyHost: boolean;
  run: string[];
  env: string[];
  sys: string[];
}

export interface PermissionInput {
  config: Pick<Config, 'dataDir' | 'workflowsDir' | 'metadataDir' | 'studioDir'> & {
    operations: Pick<Config['operations'], 'commandsDir'>;
  };
  project: string;
  temporaryFolder: string;
  /** `host:port` to listen on. */
  listen: string[];
  /** Undefined for a process that may run no programs. */
  tools: MediaTools | undefined;
  /** The site's programs by absolute path, and the program that kills their process groups. */
  commands: string[];
  endpoints: Endpoints[];
  /** True if it delivers webhooks, whose hosts are unknown at the start. */
  deliversWebhooks: boolean;
  variables: readonly string[];
  /** Folders with compiled code, which are closed so that a process cannot change the code of the next one. */
  codeCaches: string[];
}

const SOURCES = ['src', 'workers', 'sql', 'node_modules', 'package.json'];
/** Variables of npm packages. Others that they read look unset. */
const FOREIGN_VARIABLES = ['AWS_*', 'PG*', 'OTEL_*', 'HOME', 'TMPDIR', 'TZ', 'NODE_ENV', 'NODE_DEBUG', 'DEBUG'];
/** For the name of a worker, the free space of a folder, and the AWS SDK's user agent. */
const SYSTEM = ['hostname', 'statfs', 'osRelease', 'uid', 'gid'];

/** Returns the least permissions that a process needs. */
export function permissions(input: PermissionInput): Permissions {
  const { config, endpoints, tools } = input;
  const own = [config.dataDir, input.temporaryFolder];
  const sockets = endpoints.flatMap((endpoint) => endpoint.sockets);
  const programs = tools ? [tools.ffmpeg, tools.ffprobe, ...input.commands] : [];
  const commandsDir = tools && config.operations.commandsDir;
  return {
    read: [
      ...own,
      ...SOURCES.map((name) => join(input.project, name)),
      ...(config.workflowsDir ? [config.workflowsDir] : []),
      ...(config.metadataDir ? [config.metadataDir] : []),
      ...(config.studioDir ? [config.studioDir] : []),
      ...(commandsDir ? [commandsDir] : []),
      // Their existence is checked before they run.
      ...programs,
      ...endpoints.flatMap((endpoint) => endpoint.files),
      ...sockets,
    ],
    write: [...own, ...sockets],
    closed: [...privateFiles(config.dataDir), ...input.codeCaches],
    net: [
      ...input.listen,
      ...endpoints.flatMap((endpoint) => endpoint.hosts),
      ...sockets.map((path) => `unix:${path}`),
    ],
    anyHost: input.deliversWebhooks,
    run: programs,
    env: [...input.variables, ...FOREIGN_VARIABLES],
    sys: SYSTEM,
  };
}

/**
 * Returns the options of Deno, which must be started in the project's folder.
 *
 * @throws {CommandError} if an option cannot express a path
 */
export function denoFlags(permissions: Permissions, project: string): string[] {
  const paths = (list: string[]) => list.map((path) => withoutComma(path, project));
  return [
    '--no-prompt',
    ...option('--allow-read', paths(permissions.read)),
    ...option('--allow-write', paths(permissions.write)),
    ...option('--deny-read', paths(permissions.closed)),
    ...option('--deny-write', paths(permissions.closed)),
    ...(permissions.anyHost ? ['--allow-net'] : option('--allow-net', permissions.net)),
    ...option('--allow-run', paths(permissions.run)),
    ...option('--allow-env', permissions.env),
    // Other variables look unset; reading them is no error.
    '--ignore-env',
    ...option('--allow-sys', permissions.sys),
  ];
}

/** Omits an option without values, which would allow everything. */
function option(name: string, values: string[]): string[] {
  return values.length > 0 ? [`${name}=${[...new Set(values)].join(',')}`] : [];
}

/** Returns a path without commas, which Deno cannot escape; a relative path may have none. */
function withoutComma(path: string, project: string): string {
  if (!path.includes(',')) return path;
  const inside = relative(project, path);
  if (!inside.includes(',') && !isAbsolute(inside)) return `./${inside}`;
  throw new CommandError(
    `Deno does not support the comma in ${path}. Use another folder, or Node (npm run start:node).`,
  );
}
