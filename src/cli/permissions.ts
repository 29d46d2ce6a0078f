import { isAbsolute, join, relative } from 'node:path';
import type { Config } from '#platform/config/config.ts';
import { VARIABLES } from '#platform/config/environment.ts';
import { privateFiles } from '#platform/database/embedded/embedded-paths.ts';
import type { MediaTools } from '#platform/media/tools/locate-tools.ts';
import type { Endpoints } from '#platform/outbound/endpoints.ts';
import { CommandError } from './failure.ts';

/** The properties of a process that decide its permissions. */
export interface PermissionInput {
  config: Pick<Config, 'dataDir' | 'workflowsDir' | 'metadataDir' | 'studioDir' | 'editorDir'> & {
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
  /** Folders with compiled code, which are closed so that a process cannot change the code of the next one. */
  codeCaches: string[];
}

const SOURCES = ['src', 'workers', 'sql', 'node_modules', 'package.json'];
/** Variables of npm packages. Others that they read look unset. */
const FOREIGN_VARIABLES = ['AWS_*', 'PG*', 'OTEL_*', 'HOME', 'TMPDIR', 'NODE_ENV', 'NODE_DEBUG', 'DEBUG'];
/** For the name of a worker, the free space of a folder, and the AWS SDK's user agent. */
const SYSTEM = ['hostname', 'statfs', 'osRelease', 'uid', 'gid'];

/**
 * Returns the options of Deno for the least permissions that a process needs. Start Deno in the project's folder.
 *
 * @throws {CommandError} if an option cannot express a path
 */
export function denoFlags(input: PermissionInput): string[] {
  const { config, project, endpoints, tools } = input;
  const own = [config.dataDir, input.temporaryFolder];
  const sockets = endpoints.flatMap((endpoint) => endpoint.sockets);
  const programs = tools ? [tools.ffmpeg, tools.ffprobe, ...input.commands] : [];
  const { workflowsDir, metadataDir, studioDir, editorDir, operations } = config;
  const siteFolders = [workflowsDir, metadataDir, studioDir, editorDir, tools && operations.commandsDir];
  const read = [
    ...own,
    ...SOURCES.map((name) => join(project, name)),
    ...siteFolders.filter((path) => path !== undefined),
    // Their existence is checked before they run.
    ...programs,
    ...endpoints.flatMap((endpoint) => endpoint.files),
    ...sockets,
  ];
  const hosts = [...input.listen, ...endpoints.flatMap((endpoint) => endpoint.hosts)];
  const closed = [...privateFiles(config.dataDir), ...input.codeCaches];
  const paths = (list: string[]) => list.map((path) => withoutComma(path, project));
  return [
    '--no-prompt',
    ...option('--allow-read', paths(read)),
    ...option('--allow-write', paths([...own, ...sockets])),
    ...option('--deny-read', paths(closed)),
    ...option('--deny-write', paths(closed)),
    // Processes with tools deliver webhooks, whose hosts are unknown at the start.
    ...(tools ? ['--allow-net'] : option('--allow-net', [...hosts, ...sockets.map((path) => `unix:${path}`)])),
    ...option('--allow-run', paths(programs)),
    ...option('--allow-env', [...VARIABLES, ...FOREIGN_VARIABLES]),
    // Other variables look unset; reading them is no error.
    '--ignore-env',
    ...option('--allow-sys', SYSTEM),
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
