import { mkdirSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '#platform/config/config.ts';
import { VARIABLES } from '#platform/config/environment.ts';
import { locateTools, type MediaTools } from '#platform/media/tools/locate-tools.ts';
import { KILL_PROGRAM } from '#platform/media/tools/run-tool.ts';
import type { Endpoints } from '#platform/outbound/endpoints.ts';
import { programsIn } from '#workers/operations/site-program.ts';
import {
  databaseEndpoints,
  keySetEndpoints,
  listenEndpoint,
  redisEndpoints,
  tracesEndpoints,
  urlHostEndpoints,
} from './network-endpoints.ts';
import { denoFlags, permissions } from './permissions.ts';
import { prepareDatabase } from './prepare-database.ts';
import { answersRequests, ENTRIES, type Role, type Runtime, runsTools } from './role.ts';
import { denoProgram, execProgram } from './runtime.ts';
import { temporaryFolder } from './temporary-folder.ts';

/**
 * Limits the young generation to 4 MiB, which saves 25 MiB of memory, and exposes the garbage collector, which `runProcess`
 * calls after the start.
 */
const V8_FLAGS = ['--max-semi-space-size=4', '--expose-gc'];

export interface RoleStart {
  role: Role;
  runtime: Runtime;
  config: Config;
  environment: NodeJS.ProcessEnv;
  project: string;
}

/** Prepares database, tools and folders, then replaces this process with the role. */
export async function startRole(asked: RoleStart): Promise<never> {
  const start = { ...asked, config: await resolveLinks(asked.config) };
  const { role, config, project } = start;
  const tools = runsTools(role) ? await locateTools(config) : undefined;
  const databaseUrl = await prepareDatabase(config);
  const folder = temporaryFolder(start.environment, config);
  mkdirSync(folder, { recursive: true });
  // Deno's permissions use paths relative to the project.
  process.chdir(project);
  const environment = {
    ...start.environment,
    ...(tools && { FFMPEG_PATH: tools.ffmpeg, FFPROBE_PATH: tools.ffprobe }),
    DATA_DIR: config.dataDir,
    ...(config.workflowsDir && { WORKFLOWS_DIR: config.workflowsDir }),
    ...(config.metadataDir && { METADATA_DIR: config.metadataDir }),
    ...(config.studioDir && { STUDIO_DIR: config.studioDir }),
    ...(config.operations.commandsDir && { COMMANDS_DIR: config.operations.commandsDir }),
    DATABASE_URL: databaseUrl,
    TMPDIR: folder,
    // Otherwise msgpackr, a dependency of BullMQ, loads native code.
    MSGPACKR_NATIVE_ACCELERATION_DISABLED: 'true',
    // Otherwise glibc keeps parts of uploads on its heap, which never shrinks.
    MALLOC_MMAP_THRESHOLD_: '262144',
    MALLOC_ARENA_MAX: '2',
  };
  const codeCaches = {
    // Otherwise Node compiles TypeScript at each start, and the compiler stays in memory.
    NODE_COMPILE_CACHE: start.environment.NODE_COMPILE_CACHE || join(config.dataDir, 'node'),
    DENO_DIR: start.environment.DENO_DIR || join(config.dataDir, 'deno'),
  };
  if (start.runtime === 'node') {
    const { NODE_COMPILE_CACHE } = codeCaches;
    return execProgram(process.execPath, [...V8_FLAGS, ENTRIES[role]], { ...environment, NODE_COMPILE_CACHE });
  }
  const deno = await denoCommand(start, { databaseUrl, temporaryFolder: folder, tools, codeCaches });
  return execProgram(denoProgram(), deno.args, { ...environment, ...deno.environment });
}

/** Resolves symbolic links, which Deno's permissions do not follow. */
async function resolveLinks(config: Config): Promise<Config> {
  const real = (path: string | undefined) => path && realpath(path).catch(() => path);
  const { studioDir, operations } = config;
  const [studio, commandsDir] = await Promise.all([real(studioDir), real(operations.commandsDir)]);
  return { ...config, studioDir: studio, operations: { ...operations, commandsDir } };
}

async function denoCommand(
  { role, config, environment, project }: RoleStart,
  found: {
    databaseUrl: string;
    temporaryFolder: string;
    tools: MediaTools | undefined;
    codeCaches: { DENO_DIR: string; NODE_COMPILE_CACHE: string };
  },
): Promise<{ args: string[]; environment: NodeJS.ProcessEnv }> {
  const { commandsDir } = config.operations;
  const programs = found.tools && commandsDir ? [...(await programsIn(commandsDir)).values(), KILL_PROGRAM] : [];
  const flags = denoFlags(
    permissions({
      config,
      project,
      codeCaches: Object.values(found.codeCaches),
      variables: VARIABLES,
      temporaryFolder: found.temporaryFolder,
      tools: found.tools,
      // A program may have several names.
      commands: [...new Set(programs)],
      deliversWebhooks: found.tools !== undefined,
      listen: [
        ...(answersRequests(role) ? [listenEndpoint(config)] : []),
        ...(config.metricsPort ? [listenEndpoint({ ...config, port: config.metricsPort })] : []),
      ],
      endpoints: await endpoints(role, config, found.databaseUrl, environment),
    }),
    project,
  );
  return {
    // Packages come only from node_modules; files above the project are ignored.
    args: [
      'run',
      '--quiet',
      '--no-config',
      '--no-lock',
      '--no-remote',
      '--node-modules-dir=manual',
      `--v8-flags=${V8_FLAGS.join()}`,
      ...flags,
      ENTRIES[role],
    ],
    environment: {
      DENO_DIR: found.codeCaches.DENO_DIR,
      DENO_NO_UPDATE_CHECK: '1',
      ...(environment.NODE_EXTRA_CA_CERTS && !environment.DENO_CERT
        ? { DENO_CERT: environment.NODE_EXTRA_CA_CERTS }
        : {}),
    },
  };
}

async function endpoints(
  role: Role,
  config: Config,
  databaseUrl: string,
  environment: NodeJS.ProcessEnv,
): Promise<Endpoints[]> {
  return [
    databaseEndpoints(databaseUrl),
    ...(config.redisUrl ? [redisEndpoints(config.redisUrl)] : []),
    ...(config.jwt && answersRequests(role) ? [keySetEndpoints(config.jwt.keySet)] : []),
    ...(config.ingestUrlHosts && answersRequests(role) ? [urlHostEndpoints(config.ingestUrlHosts)] : []),
    ...(config.traces ? [tracesEndpoints(config.traces, environment)] : []),
    await config.storage.endpoints(environment),
  ];
}
