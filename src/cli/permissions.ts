import { isAbsolute, join, relative } from 'node:path';
import type { Config } from '#platform/config/config.ts';
import { privateFiles } from '#platform/database/embedded/paths.ts';
import type { MediaTools } from '#platform/media/tools/tools.ts';
import type { Endpoints } from '#platform/outbound/endpoints.ts';
import { CommandError } from './failure.ts';

/** What a process may do. Everything that is not said is forbidden. */
export interface Permissions {
  read: string[];
  write: string[];
  /** Exceptions from both. */
  closed: string[];
  net: string[];
  /** Whether it may reach every host, whatever `net` says. */
  anyHost: boolean;
  /** Programs by absolute path. */
  run: string[];
  env: string[];
  sys: string[];
}

/** What the permissions of a process depend on. */
export interface PermissionInput {
  config: Pick<Config, 'dataDir' | 'workflowsDir' | 'metadataDir' | 'studioDir'> & {
    operations: Pick<Config['operations'], 'commandsDir'>;
  };
  /** The project's folder. */
  project: string;
  temporaryFolder: string;
  /** `host:port` to listen on. */
  listen: string[];
  /** Undefined for a process that may start no other. */
  tools: MediaTools | undefined;
  /** The site's own programs by absolute path, and what ends those together with what they have started. */
  commands: string[];
  endpoints: Endpoints[];
  /** Whether it tells webhooks, whose hosts nobody knows before. */
  tellsWebhooks: boolean;
  /** Names of Inlet's own variables. */
  variables: readonly string[];
  /** Where the runtimes keep compiled code; a process that could write there could change its successor. */
  codeCaches: string[];
}

const SOURCES = ['src', 'workers', 'sql', 'node_modules', 'package.json'];
/** What the packages from npm go by; they read many more, and find them unset. */
const FOREIGN_VARIABLES = ['AWS_*', 'PG*', 'OTEL_*', 'HOME', 'TMPDIR', 'TZ', 'NODE_ENV', 'NODE_DEBUG', 'DEBUG'];
/** A worker is known by its machine; free space of a folder; the AWS SDK says what it runs on. */
const SYSTEM = ['hostname', 'statfs', 'osRelease', 'uid', 'gid'];

/** The least that a process needs. */
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
      // Looked at before they are run.
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
    anyHost: input.tellsWebhooks,
    run: programs,
    env: [...input.variables, ...FOREIGN_VARIABLES],
    sys: SYSTEM,
  };
}

/**
 * The permissions as options for Deno, which must then be started in the project's folder.
 *
 * @throws {CommandError} when a path cannot be written as one
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
    // Other variables look unset instead of stopping whoever asks.
    '--ignore-env',
    ...option('--allow-sys', permissions.sys),
  ];
}

/** An option without values would allow everything. */
function option(name: string, values: string[]): string[] {
  return values.length > 0 ? [`${name}=${[...new Set(values)].join(',')}`] : [];
}

/** Deno separates paths by commas and knows no way to write one in a path; a relative path may avoid it. */
function withoutComma(path: string, project: string): string {
  if (!path.includes(',')) return path;
  const inside = relative(project, path);
  if (!inside.includes(',') && !isAbsolute(inside)) return `./${inside}`;
  throw new CommandError(
    `Deno cannot be told about ${path}, which has a comma in its name; use another folder, or Node (npm run start:node).`,
  );
}
