import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import type { Runtime } from '../../src/cli/role.ts';
import { Client } from '../support/client.ts';
import { type ServerOptions, showLogsOnFailure, startServer, type TestServer } from '../support/server.ts';
import { siteFolders } from '../support/site-folders.ts';
import { linkedStudio } from '../support/studio-folder.ts';
import { available, SERVICES, type Services } from './services.ts';
import { MAX_UPLOAD_BYTES, type Suite, UPLOAD_IDLE_SECONDS } from './suite.ts';
import { access } from './suites/access.ts';
import { agents } from './suites/agents.ts';
import { control } from './suites/control.ts';
import { deletion } from './suites/deletion.ts';
import { externalApi } from './suites/external-api.ts';
import { forms } from './suites/forms.ts';
import { hostileHttp } from './suites/hostile-http.ts';
import { hostileUploads } from './suites/hostile-uploads.ts';
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

const SUITES: readonly Suite[] = [
  publishing,
  processing,
  control,
  parts,
  scheduling,
  forms,
  refusals,
  wire,
  targets,
  limits,
  interruptions,
  access,
  agents,
  recorders,
  reading,
  deletion,
  logs,
];

/** Nothing of these depends on the services; once on each runtime is enough. */
const ONCE: readonly Suite[] = [hostileHttp, hostileUploads, recorderRules];

/** Those of what the API does by itself or has a worker do, whoever serves it. What they do with the worker is left out. */
const EDGE: readonly Suite[] = [
  externalApi,
  publishing,
  scheduling,
  forms,
  refusals,
  wire,
  targets,
  limits,
  interruptions,
  access,
  agents,
  reading,
  deletion,
  logs,
];

/** Runs every suite against one server on a runtime, with its embedded parts or with real services. */
export async function describeProduct(runtime: Runtime, services: Services): Promise<void> {
  const suites = services === 'embedded' ? [...SUITES, ...ONCE] : SUITES;
  await describeServer(`on ${runtime}, ${services}`, services, suites, { runtime });
}

/** Runs suites against the API as a fetch handler behind Deno's own server, and a worker beside it. */
export async function describeEdge(): Promise<void> {
  const roles = ['edge', 'worker'] as const;
  await describeServer("behind Deno's own server", 'Redis and S3', EDGE, { runtime: 'deno', roles });
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
    for (const suite of suites)
      suite(() => ({ server, admin: new Client(server.url), runtime: options.runtime }));
  });
}
