import { mkdirSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '#platform/config/config.ts';
import { VARIABLES } from '#platform/config/environment.ts';
import { KILL } from '#platform/media/tools/process.ts';
import { locateTools, type MediaTools } from '#platform/media/tools/tools.ts';
import type { Endpoints } from '#platform/outbound/endpoints.ts';
import { programsIn } from '#workers/operations/site-program.ts';
import {
  databaseEndpoints,
  keySetEndpoints,
  listenEndpoint,
  redisEndpoints,
  tracesEndpoints,
  urlHostEndpoints,
} from './endpoints.ts';
import { denoFlags, permissions } from './permissions.ts';
import { prepareDatabase } from './prepare-database.ts';
import { answersRequests, ENTRIES, type Role, type Runtime, runsTools } from './role.ts';
import { become, denoProgram } from './runtime.ts';
import { temporaryFolder } from './temporary-folder.ts';

/**
 * The young generation is kept small, in MiB: it holds no uploads, and else takes 25 MiB more before it is looked at. The
 * collector is there to be asked for what starting leaves behind (`runEntry`).
 */
const V8_FLAGS = ['--max-semi-space-size=4', '--expose-gc'];

/** How a role is started. */
export interface RoleStart {
  role: Role;
  runtime: Runtime;
  config: Config;
  environment: NodeJS.ProcessEnv;
  /** The project's folder. */
  project: string;
}

/** Makes everything ready that the role needs and cannot do itself, then becomes the role. */
export async function startRole(asked: RoleStart): Promise<never> {
  const start = { ...asked, config: await withoutLinks(asked.config) };
  const { role, config, project } = start;
  const tools = runsTools(role) ? await locateTools(config) : undefined;
  const databaseUrl = await prepareDatabase(config);
  const folder = temporaryFolder(start.environment, config);
  mkdirSync(folder, { recursive: true });
  // Deno's permissions name files by their place in the project.
  process.chdir(project);
  const environment = {
    ...start.environment,
    ...toolVariables(tools),
    DATA_DIR: config.dataDir,
    ...(config.workflowsDir && { WORKFLOWS_DIR: config.workflowsDir }),
    ...(config.metadataDir && { METADATA_DIR: config.metadataDir }),
    ...(config.studioDir && { STUDIO_DIR: config.studioDir }),
    ...(config.operations.commandsDir && { COMMANDS_DIR: config.operations.commandsDir }),
    DATABASE_URL: databaseUrl,
    TMPDIR: folder,
    // msgpackr, a part of BullMQ, would load native code.
    MSGPACKR_NATIVE_ACCELERATION_DISABLED: 'true',
    // glibc would learn to keep the parts of uploads on its heap, and the heap never shrinks.
    MALLOC_MMAP_THRESHOLD_: '262144',
    MALLOC_ARENA_MAX: '2',
  };
  const codeCaches = {
    // Else Node compiles TypeScript at each start, with a compiler that stays in memory.
    NODE_COMPILE_CACHE: start.environment.NODE_COMPILE_CACHE || join(config.dataDir, 'node'),
    DENO_DIR: start.environment.DENO_DIR || join(config.dataDir, 'deno'),
  };
  if (start.runtime === 'node') {
    const { NODE_COMPILE_CACHE } = codeCaches;
    return become(process.execPath, [...V8_FLAGS, ENTRIES[role]], { ...environment, NODE_COMPILE_CACHE });
  }
  const deno = await denoCommand(start, { databaseUrl, temporaryFolder: folder, tools, codeCaches });
  return become(denoProgram(), deno.args, { ...environment, ...deno.environment });
}

/** Deno's permissions are for a folder itself, and sites like to link the one of the day. */
async function withoutLinks(config: Config): Promise<Config> {
  const real = (path: string | undefined) => path && realpath(path).catch(() => path);
  const { studioDir, operations } = config;
  const [studio, commandsDir] = await Promise.all([real(studioDir), real(operations.commandsDir)]);
  return { ...config, studioDir: studio, operations: { ...operations, commandsDir } };
}

/** All programs that there are at the start, with what ends them. */
async function sitePrograms(folder: string | undefined): Promise<string[]> {
  if (!folder) return [];
  // A program may be there by several names.
  return [...new Set((await programsIn(folder)).values()), KILL];
}

function toolVariables(tools: MediaTools | undefined) {
  return tools ? { FFMPEG_PATH: tools.ffmpeg, FFPROBE_PATH: tools.ffprobe } : {};
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
  const flags = denoFlags(
    permissions({
      config,
      project,
      codeCaches: Object.values(found.codeCaches),
      variables: VARIABLES,
      temporaryFolder: found.temporaryFolder,
      tools: found.tools,
      commands: found.tools ? await sitePrograms(config.operations.commandsDir) : [],
      tellsWebhooks: found.tools !== undefined,
      listen: [
        ...(answersRequests(role) ? [listenEndpoint(config)] : []),
        ...(config.metricsPort ? [listenEndpoint({ ...config, port: config.metricsPort })] : []),
      ],
      endpoints: await endpoints(role, config, found.databaseUrl, environment),
    }),
    project,
  );
  return {
    // Packages come from node_modules as npm left it; nothing is fetched, and no file above the project counts.
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
