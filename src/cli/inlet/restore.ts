import { BackupDamaged, type Manifest } from '#maintenance/backup/manifest.ts';
import { NotToBeReplaced, requireUnused, restoreBackup } from '#maintenance/backup/restore.ts';
import { loadConfig } from '#platform/config/config.ts';
import { allMigrations, appliedMigrations, migrate, pendingMigrations } from '#platform/database/migrate.ts';
import { formatBytes } from '#platform/text/units.ts';
import { CommandError } from '../failure.ts';
import { applyMigrations } from '../migrations.ts';
import { findDatabase, reachable } from '../prepare-database.ts';
import { showProgress } from '../terminal/progress.ts';
import { backupIn } from './backup-folder.ts';
import { type Command, noMore, splitArguments, wrongArguments } from './command.ts';
import { openClient, openStorage } from './connections.ts';

/** What the database is told of whoever works with it. */
const NAME = 'inlet restore';

const USAGE = `npm run inlet -- restore DIR [--replace]

Brings back what "backup" has copied into a folder: objects into the storage, then all tables, at once or not at all. Inlet's
processes have to be stopped. The database has to be empty, or of the version of the backup and without events, series and
accounts; one that is interrupted goes on when it is given again. Exits with 0 only when every object is there as the
database tells of it.

  --replace  replaces what the database holds`;

/** `restore`: everything as it was when the backup was taken. */
export const restoreCommand: Command = {
  usage: USAGE,
  async run(args, { environment, signal, print, screen }) {
    const { values, positionals } = splitArguments(args, { replace: { type: 'boolean' } }, USAGE);
    const [named, ...others] = positionals;
    if (!named) throw wrongArguments('DIR is missing.', USAGE);
    noMore(others, USAGE);
    const { folder, manifest } = await backupIn(environment, named);
    const config = loadConfig(environment);
    const url = await findDatabase(config);
    await reachable(url, () => pendingMigrations(url));
    const storage = await openStorage(config);
    const progress = showProgress('restore', screen);
    const onProgress = (bytes: number) =>
      progress.update(manifest.bytes === 0 ? 1 : bytes / manifest.bytes, `${formatBytes(bytes)} of objects`);
    try {
      const { replace = false } = values;
      await prepare(url, manifest, replace);
      const client = await openClient(url, NAME);
      const parts = { client, storage, replace, signal, onProgress };
      const lacking = await restoreBackup(folder, manifest, parts).finally(() => client.end().catch(() => undefined));
      await applyMigrations(url);
      for (const { key, reason } of lacking) print(`${key}: ${reason}`);
      print(`Everything is as it was on ${manifest.taken}${lacking.length > 0 ? ', but for these objects' : ''}.`);
      return lacking.length === 0 ? 0 : 1;
    } catch (error) {
      const isExpected = error instanceof BackupDamaged || error instanceof NotToBeReplaced;
      throw isExpected ? new CommandError(error.message) : error;
    } finally {
      progress.stop();
      await storage.close();
    }
  },
};

/**
 * Makes the tables that the backup's are.
 *
 * @throws {NotToBeReplaced}
 * @throws {CommandError} when the backup, or the database, is of a later version
 */
async function prepare(url: string, manifest: Manifest, replace: boolean): Promise<void> {
  const known = await allMigrations();
  const unknown = manifest.migrations.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new CommandError(`The backup is of version ${manifest.version}, later than this one (${unknown[0]}).`);
  }
  const client = await openClient(url, NAME);
  try {
    await requireUnused(client, replace);
    const later = (await appliedMigrations(client)).filter((name) => !manifest.migrations.includes(name));
    if (later.length > 0) {
      throw new CommandError(`The database is of a later version than the backup (${later[0]}); give an empty one.`);
    }
  } finally {
    await client.end();
  }
  await migrate(url, undefined, manifest.migrations);
}
