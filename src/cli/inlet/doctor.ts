import type pg from 'pg';
import { type Diagnosis, examineParts } from '#maintenance/doctor/check.ts';
import { databaseChecks } from '#maintenance/doctor/database-checks.ts';
import { definitionsCheck, foldersCheck, tlsCheck, toolsCheck } from '#maintenance/doctor/machine-checks.ts';
import { queueCheck } from '#maintenance/doctor/queue-check.ts';
import { storageCheck } from '#maintenance/doctor/storage-check.ts';
import { isOnlyLocal, loadConfig } from '#platform/config/config.ts';
import { createClient, REQUEST_LIMITS } from '#platform/database/client.ts';
import { locateTools } from '#platform/media/tools/locate-tools.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { type Command, parseArguments } from '../command.ts';
import { findDatabase } from '../prepare-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const USAGE = `npm run inlet -- doctor

Checks everything that Inlet depends on, as configured by the environment, and explains how to fix problems: database,
extensions, migrations, writing, clock, workers, queue, storage (stores, reads and removes a test object), ffmpeg, the site's
definitions, folders, TLS. Exits with 0 if no check fails; "warn" marks possible improvements.`;

const MARKS: Readonly<Record<Diagnosis['state'], string>> = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' };

export const doctorCommand: Command = {
  usage: USAGE,
  async run(args, { environment, print }) {
    parseArguments(args, {}, USAGE, 0);
    const config = loadConfig(environment);
    const isLocal = isOnlyLocal(config);
    const opened: { client?: pg.Client; storage?: ObjectStorage } = {};
    let connecting: Promise<{ url: string; client: pg.Client }> | undefined;
    const connect = () => {
      connecting ??= connectTo(config, opened);
      return connecting;
    };
    const open = async () => {
      opened.storage = await config.storage.open(config.uploadMemoryBytes);
      return opened.storage;
    };
    const checks = [
      ...databaseChecks(connect),
      queueCheck(config.redisUrl, connect),
      storageCheck({ ...config.storage, open }, connect),
      toolsCheck(() => locateTools(config), { isLocal, allowed: config.allowBundledFfmpeg }),
      definitionsCheck(config.workflowsDir, config.metadataDir),
      foldersCheck(config.dataDir, temporaryFolder(environment, config), config.storage),
      tlsCheck(config.publicUrl, isLocal),
    ];
    let failed = 0;
    try {
      for await (const { name, state, found, todo } of examineParts(checks)) {
        if (state === 'fail') failed += 1;
        print(`${MARKS[state]}  ${name.padEnd(10)}  ${found}.${todo ? `\n                  ${todo}` : ''}`);
      }
    } finally {
      await opened.storage?.close();
      await opened.client?.end().catch(() => undefined);
    }
    print(failed === 0 ? 'Everything works.' : `${failed} ${failed === 1 ? 'check' : 'checks'} failed.`);
    return failed === 0 ? 0 : 1;
  },
};

async function connectTo(
  config: ReturnType<typeof loadConfig>,
  opened: { client?: pg.Client },
): Promise<{ url: string; client: pg.Client }> {
  const url = await findDatabase(config);
  const client = createClient(url, REQUEST_LIMITS, 'inlet doctor');
  client.on('error', () => undefined);
  await client.connect();
  opened.client = client;
  return { url, client };
}
