import { resolve } from 'node:path';
import { requireBackupFolder, systemOf, takeBackup } from '#maintenance/backup/backup.ts';
import { formatBytes } from '#platform/text/units.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { type Command, parseArguments, UsageError } from '../command.ts';
import { prepareDatabase } from '../prepare-database.ts';
import { callersFolder } from '../terminal/callers-folder.ts';
import { showProgress } from '../terminal/progress.ts';
import { withConnections } from './connections.ts';

const USAGE = `npm run inlet -- backup [--digests] DIR

Copies the database and its objects into a folder as one consistent state, while Inlet runs. If the folder has an earlier
backup, copies only new objects; the earlier backup remains valid until the new one is complete. The folder contains all
confidential data of the database and is readable only by its owner. The backup does not include running uploads and the
configuration. Exits with 0 only if every object matches the database: new copies are compared by SHA-256, earlier ones by
size.

  --digests  compare earlier copies by SHA-256 as well, and replace those that differ`;

const OPTIONS = { digests: { type: 'boolean' } } as const;

export const backupCommand: Command = {
  usage: USAGE,
  async run(args, { environment, signal, print, screen }) {
    const { values, positionals } = parseArguments(args, OPTIONS, 1);
    const { digests = false } = values;
    const [named] = positionals;
    if (!named) throw new UsageError('DIR is missing.');
    return withConnections(environment, 'backup', prepareDatabase, async ({ config, storage, connect }) => {
      const folder = resolve(callersFolder(environment), named);
      const [client, keeper] = [await connect(), await connect()];
      const system = await systemOf(client);
      await requireBackupFolder(folder, { dataDir: config.dataDir, system });
      const progress = showProgress('backup', screen);
      const onProgress = (bytes: number, all: number) =>
        progress.update(all === 0 ? 1 : Math.min(1, bytes / all), `${formatBytes(bytes)} of objects`);
      const { version } = packageJson;
      const parts = { client, keeper, storage, version, system, digests, signal, onProgress };
      const { manifest, lacking } = await takeBackup(folder, parts).finally(progress.stop);
      for (const { key, reason } of lacking) print(`${key}: ${reason}`);
      const rows = Object.values(manifest.tables).reduce((sum, count) => sum + count, 0);
      const { objects, bytes, taken } = manifest;
      const found = `${rows} rows and ${objects} objects (${formatBytes(bytes)}) as of ${taken}`;
      print(lacking.length === 0 ? `${found}.` : `${found}; ${lacking.length} objects are missing or damaged.`);
      return lacking.length === 0 ? 0 : 1;
    });
  },
};
