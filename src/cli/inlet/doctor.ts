import { type Diagnosis, examineParts } from '#maintenance/doctor/check.ts';
import { databaseChecks } from '#maintenance/doctor/database-checks.ts';
import { definitionsCheck, foldersCheck, tlsCheck, toolsCheck } from '#maintenance/doctor/machine-checks.ts';
import { queueCheck } from '#maintenance/doctor/queue-check.ts';
import { storageCheck } from '#maintenance/doctor/storage-check.ts';
import { type Config, isOnlyLocal, loadConfig } from '#platform/config/config.ts';
import { createClient, REQUEST_LIMITS } from '#platform/database/client.ts';
import { locateTools } from '#platform/media/tools/locate-tools.ts';
import { loadRunnableDefinitions } from '#workers/operations/all-operations.ts';
import { type Command, parseArguments } from '../command.ts';
import { findDatabase } from '../prepare-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const USAGE = `npm run inlet -- doctor

Checks everything that Inlet depends on, as configured by the environment, and explains how to fix problems: database,
extensions, migrations, writing, replication, clock, workers, queue, storage (stores, reads and removes a test object),
ffmpeg, the site's definitions, folders, TLS. Exits with 0 if no check fails; "warn" marks possible improvements.`;

const MARKS: Readonly<Record<Diagnosis['state'], string>> = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' };

export const doctorCommand: Command = {
  usage: USAGE,
  async run(args, { environment, print }) {
    parseArguments(args, {}, 0);
    const config = loadConfig(environment);
    const isLocal = isOnlyLocal(config);
    let connection: ReturnType<typeof connectTo> | undefined;
    const connect = () => {
      connection ??= connectTo(config);
      return connection;
    };
    const checks = [
      ...databaseChecks(connect),
      queueCheck(config.redisUrl, connect),
      storageCheck(config.storage, connect),
      toolsCheck(() => locateTools(config), { isLocal, allowed: config.allowBundledFfmpeg }),
      definitionsCheck(() => loadRunnableDefinitions(config), config.metadataDir),
      foldersCheck(config.dataDir, temporaryFolder(environment, config), config.storage),
      tlsCheck(config.publicUrl, isLocal),
    ];
    let failed = 0;
    try {
      for await (const { name, state, found, todo } of examineParts(checks)) {
        if (state === 'fail') failed += 1;
        print(`${MARKS[state]}  ${name.padEnd(11)}  ${found}.${todo ? `\n                   ${todo}` : ''}`);
      }
    } finally {
      await connection?.then(({ client }) => client.end()).catch(() => undefined);
    }
    print(failed === 0 ? 'Everything works.' : `${failed} ${failed === 1 ? 'check' : 'checks'} failed.`);
    return failed === 0 ? 0 : 1;
  },
};

async function connectTo(config: Config) {
  const url = await findDatabase(config);
  const client = createClient(url, REQUEST_LIMITS, 'inlet doctor');
  client.on('error', () => undefined);
  await client.connect();
  return { url, client };
}
