import { resolve } from 'node:path';
import { BackupUnderWay, takeBackup } from '#maintenance/backup/backup.ts';
import { BackupFolderInUse, requireBackupFolder, systemOf } from '#maintenance/backup/backup-destination.ts';
import { formatBytes } from '#platform/text/units.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { CommandError } from '../failure.ts';
import { callersFolder } from '../terminal/callers-folder.ts';
import { showProgress } from '../terminal/progress.ts';
import { type Command, noMore, splitArguments, wrongArguments } from './command.ts';
import { withConnections } from './connections.ts';

const USAGE = `npm run inlet -- backup [--digests] DIR

Copies the database and the objects that it names into a folder, consistent with each other, while Inlet runs. Given again
for the same folder, which has nothing else, it copies what is new; until it is complete, the backup before it counts. The folder holds all
that is confidential in the database and is made for its owner alone. Uploads under way are not part of it, nor is what the
environment configures. Exits with 0 only when every object is there as the database tells of it: what is copied is compared by
its SHA-256, what an earlier backup has copied by its size.

  --digests  reads what an earlier backup has copied as well, and copies anew what is not as it should be`;

const OPTIONS = { digests: { type: 'boolean' } } as const;

/** `backup`: a copy of everything, while it is in use. */
export const backupCommand: Command = {
  usage: USAGE,
  async run(args, { environment, signal, print, screen }) {
    const { values, positionals } = splitArguments(args, OPTIONS, USAGE);
    const [named, ...others] = positionals;
    if (!named) throw wrongArguments('DIR is missing.', USAGE);
    noMore(others, USAGE);
    return withConnections(environment, 'backup', async ({ config, storage, client }) => {
      const folder = resolve(callersFolder(environment), named);
      const progress = showProgress('backup', screen);
      const onProgress = (bytes: number, all: number) =>
        progress.update(all === 0 ? 1 : Math.min(1, bytes / all), `${formatBytes(bytes)} of objects`);
      const [reader, keeper] = [await client(), await client()];
      const { version } = manifest;
      const system = await systemOf(reader);
      const { digests = false } = values;
      const parts = { client: reader, keeper, storage, version, system, digests, signal, onProgress };
      try {
        await requireBackupFolder(folder, { dataDir: config.dataDir, system });
        const { manifest: taken, lacking } = await takeBackup(folder, parts);
        for (const { key, reason } of lacking) print(`${key}: ${reason}`);
        const rows = Object.values(taken.tables).reduce((sum, count) => sum + count, 0);
        print(
          `${rows} rows and ${taken.objects} objects (${formatBytes(taken.bytes)}) as of ${taken.taken}${
            lacking.length > 0 ? `; ${lacking.length} objects are not as they should be` : ''
          }.`,
        );
        return lacking.length === 0 ? 0 : 1;
      } catch (error) {
        const isExpected = error instanceof BackupUnderWay || error instanceof BackupFolderInUse;
        throw isExpected ? new CommandError(error.message) : error;
      } finally {
        progress.stop();
      }
    });
  },
};
