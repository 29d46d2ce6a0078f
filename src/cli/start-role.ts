import { mkdirSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readLaunchKeys } from '#access/launches/launch-keys.ts';
import type { Config } from '#platform/config/config.ts';
import { locateTools } from '#platform/media/tools/locate-tools.ts';
import { KILL_PROGRAM } from '#platform/media/tools/run-tool.ts';
import type { Endpoints } from '#platform/outbound/endpoints.ts';
import { programsIn } from '#workers/operations/site-program.ts';
import { compileFirst } from './compile-first.ts';
import {
  databaseEndpoints,
  keySetEndpoints,
  launchEndpoints,
  listenEndpoint,
  redisEndpoints,
  tracesEndpoints,
  urlHostEndpoints,
} from './network-endpoints.ts';
import { denoFlags } from './permissions.ts';
import { prepareDatabase } from './prepare-database.ts';
import { answersRequests, ENTRIES, type Role, type Runtime, runsTools } from './role.ts';
import { denoProgram, execProgram } from './runtime.ts';
import { temporaryFolder } from './temporary-folder.ts';

/**
 * Limits the young generation to so many MiB. The default of 16 takes 15 to 25 MiB more memory. On Deno 4 would save
 * nothing more, and answer 5 % fewer requests.
 */
const YOUNG_MIB: Record<Runtime, number> = { node: 4, deno: 8 };
/** Also exposes the garbage collector, which `runProcess` calls after the start. */
const v8Flags = (runtime: Runtime) => [`--max-semi-space-size=${YOUNG_MIB[runtime]}`, '--expose-gc'];
/** Packages come only from node_modules; files above the project are ignored. */
const DENO_RUN = [
  ...['run', '--quiet', '--no-config', '--no-lock', '--no-remote', '--node-modules-dir=manual'],
  `--v8-flags=${v8Flags('deno').join()}`,
];

const PROJECT = dirname(dirname(import.meta.dirname));

/** Prepares database, tools and folders, then replaces this process with the role. */
export async function startRole(
  role: Role,
  runtime: Runtime,
  given: Config,
  environment: NodeJS.ProcessEnv,
): Promise<never> {
  const config = await resolveLinks(given);
  const tools = runsTools(role) ? await locateTools(config) : undefined;
  const databaseUrl = await prepareDatabase(config);
  const TMPDIR = temporaryFolder(environment, config);
  mkdirSync(TMPDIR, { recursive: true });
  // Deno's permissions use paths relative to the project.
  process.chdir(PROJECT);
  const changed = {
    ...environment,
    ...(tools && { FFMPEG_PATH: tools.ffmpeg, FFPROBE_PATH: tools.ffprobe }),
    DATA_DIR: config.dataDir,
    ...(config.workflowsDir && { WORKFLOWS_DIR: config.workflowsDir }),
    ...(config.metadataDir && { METADATA_DIR: config.metadataDir }),
    ...(config.studioDir && { STUDIO_DIR: config.studioDir }),
    ...(config.ltiKeys && { LTI_KEYS: config.ltiKeys }),
    ...(config.editorDir && { EDITOR_DIR: config.editorDir }),
    ...(config.operations.commandsDir && { COMMANDS_DIR: config.operations.commandsDir }),
    DATABASE_URL: databaseUrl,
    TMPDIR,
    // Otherwise msgpackr, a dependency of BullMQ, loads native code.
    MSGPACKR_NATIVE_ACCELERATION_DISABLED: 'true',
    // Otherwise glibc keeps parts of uploads on its heap, which never shrinks.
    MALLOC_MMAP_THRESHOLD_: '262144',
    MALLOC_ARENA_MAX: '2',
  };
  // Otherwise Node compiles TypeScript at each start, and the compiler stays in memory.
  const NODE_COMPILE_CACHE = environment.NODE_COMPILE_CACHE || join(config.dataDir, 'node');
  if (runtime === 'node') {
    const args = [...v8Flags('node'), ENTRIES[role]];
    const env = { ...changed, NODE_COMPILE_CACHE };
    compileFirst(role, { program: process.execPath, args, folder: NODE_COMPILE_CACHE, env });
    return execProgram(process.execPath, args, env);
  }
  const DENO_DIR = environment.DENO_DIR || join(config.dataDir, 'deno');
  const DENO_CERT = environment.DENO_CERT || environment.NODE_EXTRA_CA_CERTS;
  const flags = denoFlags({
    config,
    project: PROJECT,
    codeCaches: [NODE_COMPILE_CACHE, DENO_DIR],
    temporaryFolder: TMPDIR,
    tools,
    commands: tools ? await commandPrograms(config) : [],
    listen: [
      ...(answersRequests(role) ? [listenEndpoint(config)] : []),
      ...(config.metricsPort ? [listenEndpoint({ ...config, port: config.metricsPort })] : []),
    ],
    endpoints: await endpoints(role, config, databaseUrl, environment),
  });
  const args = [...DENO_RUN, ...flags, ENTRIES[role]];
  const env = { ...changed, DENO_DIR, DENO_NO_UPDATE_CHECK: '1', ...(DENO_CERT && { DENO_CERT }) };
  compileFirst(role, { program: denoProgram(), args, folder: DENO_DIR, env });
  return execProgram(denoProgram(), args, env);
}

/** Resolves symbolic links, which Deno's permissions do not follow. */
async function resolveLinks(config: Config): Promise<Config> {
  const real = (path: string | undefined) => path && realpath(path).catch(() => path);
  const { operations } = config;
  const paths = [config.studioDir, config.editorDir, config.ltiKeys, operations.commandsDir];
  const [studioDir, editorDir, ltiKeys, commandsDir] = await Promise.all(paths.map(real));
  return { ...config, studioDir, editorDir, ltiKeys, operations: { ...operations, commandsDir } };
}

/** Returns the site's programs, and the program that kills their process groups. */
async function commandPrograms({ operations: { commandsDir } }: Config): Promise<string[]> {
  if (!commandsDir) return [];
  return [...(await programsIn(commandsDir)).values(), KILL_PROGRAM];
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
    ...(config.ltiKeys && answersRequests(role)
      ? [launchEndpoints(config.ltiKeys, await readLaunchKeys(config.ltiKeys))]
      : []),
    ...(config.ingestUrlHosts && answersRequests(role) ? [urlHostEndpoints(config.ingestUrlHosts)] : []),
    ...(config.traces ? [tracesEndpoints(config.traces, environment)] : []),
    await config.storage.endpoints(environment),
  ];
}
