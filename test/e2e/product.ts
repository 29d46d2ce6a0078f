import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import type { Runtime } from '#cli/role.ts';
import { Client } from '../support/client.ts';
import type { Started } from '../support/role-process.ts';
import { type ServerOptions, showLogsOnFailure, startServer, type TestServer } from '../support/server.ts';
import { siteFolders } from '../support/site-folders.ts';
import { linkedStudio } from '../support/studio-folder.ts';
import { available, SERVICES, type Services } from './services.ts';
import { MAX_UPLOAD_BYTES, type Suite, UPLOAD_IDLE_SECONDS } from './suite.ts';
import { access } from './suites/access.ts';
import { agents } from './suites/agents.ts';
import { control } from './suites/control.ts';
import { deletion } from './suites/deletion.ts';
import { externalApi } from './suites/external-api.full.ts';
import { forms } from './suites/forms.ts';
import { hostileHttp } from './suites/hostile-http.ts';
import { hostileUploads } from './suites/hostile-uploads.full.ts';
import { interruptions } from './suites/interruptions.ts';
import { limits } from './suites/limits.ts';
import { logs } from './suites/logs.ts';
import { parts } from './suites/parts.ts';
import { processing } from './suites/processing.ts';
import { publishing } from './suites/publishing.ts';
import { reading } from './suites/reading.ts';
import { recorderRules } from './suites/recorder-rules.ts';
import { recorders } from './suites/recorders.ts';
import { refusals } from './suites/refusals.ts';
import { scheduling } from './suites/scheduling.ts';
import { targets } from './suites/targets.ts';
import { wire } from './suites/wire.ts';

/** Requests and their answers. */
const API: readonly Suite[] = [scheduling, forms, refusals, wire, targets, limits, interruptions, access, agents];

/** The whole product, on the stack that `npm start` gives: Deno, with the embedded parts. */
const WHOLE: readonly Suite[] = [
  publishing,
  processing,
  control,
  parts,
  ...API,
  recorders,
  reading,
  deletion,
  hostileHttp,
  logs,
  // Last: it leaves a media package open.
  recorderRules,
];

/** Another runtime brings another HTTP server: how bytes become requests, and answers bytes. */
const HTTP: readonly Suite[] = [wire, forms, targets, limits, interruptions, refusals, hostileHttp, recorderRules];

/**
 * Redis and S3 change how work is queued, and where objects are written, read and removed. Node also starts and ends the
 * tools in another way, and has other streams and files.
 */
const SERVICES_ON_NODE: readonly Suite[] = [
  publishing,
  processing,
  control,
  parts,
  limits,
  interruptions,
  deletion,
  logs,
  hostileUploads,
];

/** On Deno the clients of Redis and S3 run on other sockets and streams; the rest is proved on Node. */
const SERVICES_ON_DENO: readonly Suite[] = [publishing, control, interruptions, deletion];

/** What the API does by itself or has a worker do, whoever serves it. What they do with the worker is left out. */
const EDGE: readonly Suite[] = [externalApi, publishing, ...API, reading, deletion, logs];

/** What is proved of one server: `npm test` has the first two, the full tier the others. */
const STACKS = {
  'on deno, embedded': { runtime: 'deno', services: 'embedded', suites: WHOLE },
  'on node, embedded': { runtime: 'node', services: 'embedded', suites: HTTP },
  'on deno, Redis and S3': { runtime: 'deno', services: 'Redis and S3', suites: SERVICES_ON_DENO },
  'on node, Redis and S3': { runtime: 'node', services: 'Redis and S3', suites: SERVICES_ON_NODE },
  "behind Deno's own server": {
    runtime: 'deno',
    services: 'Redis and S3',
    suites: EDGE,
    roles: ['edge', 'worker'],
  },
} as const satisfies Record<string, Stack>;

interface Stack {
  runtime: Runtime;
  services: Services;
  suites: readonly Suite[];
  roles?: readonly Started[];
}

/** Runs the suites of a stack against one server. */
export async function describeStack(name: keyof typeof STACKS): Promise<void> {
  const { runtime, services, suites, ...roles }: Stack = STACKS[name];
  await describeServer(name, services, suites, { runtime, ...roles });
}

async function describeServer(
  name: string,
  services: Services,
  suites: readonly Suite[],
  options: Pick<ServerOptions, 'runtime' | 'roles'>,
): Promise<void> {
  const runs = await available(services);
  describe.skipIf(!runs)(name, () => {
    let server: TestServer;
    let site: Awaited<ReturnType<typeof siteFolders>>;
    let studio: Awaited<ReturnType<typeof linkedStudio>>;
    beforeAll(async () => {
      studio = await linkedStudio();
      site = await siteFolders();
      server = await startServer({
        ...options,
        ...SERVICES[services],
        env: {
          MAX_UPLOAD_BYTES: String(MAX_UPLOAD_BYTES),
          UPLOAD_IDLE_SECONDS: String(UPLOAD_IDLE_SECONDS),
          // Folders of the site are beyond what is allowed on the edge.
          ...(!options.roles && {
            STUDIO_DIR: studio.path,
            COMMANDS_DIR: site.commands,
            WORKFLOWS_DIR: site.workflows,
          }),
        },
      });
    });
    afterAll(async () => {
      await server?.stop();
      await studio?.remove();
      await site?.remove();
    });
    beforeEach((test) => showLogsOnFailure(test, server));
    for (const suite of suites) suite(() => ({ server, admin: new Client(server.url) }));
  });
}
