import { BackupDamaged, type Manifest } from '#maintenance/backup/manifest.ts';
import { DatabaseInUse, requireUnused, restoreBackup } from '#maintenance/backup/restore.ts';
import { loadConfig } from '#platform/config/config.ts';
import { allMigrations, appliedMigrations, migrate, pendingMigrations } from '#platform/database/migrate.ts';
import { formatBytes } from '#platform/text/units.ts';
import { type Command, parseArguments, UsageError } from '../command.ts';
import { CommandError } from '../failure.ts';
import { applyMigrations, findDatabase, reachable } from '../prepare-database.ts';
import { showProgress } from '../terminal/progress.ts';
import { openBackup, openClient, openStorage } from './connections.ts';

const APPLICATION_NAME = 'inlet restore';

const USAGE = `npm run inlet -- restore DIR [--replace]

Restores a backup: first the objects, then all tables in one transaction. Stop Inlet's processes first. The database must be
empty, or of the version of the backup and without events, series and accounts. To continue after an interruption, run the
same command again. Exits with 0 only if every object matches the database.

  --replace  replace the contents of the database`;

export const restoreCommand: Command = {
  usage: USAGE,
  async run(args, { environment, signal, print, screen }) {
    const { values, positionals } = parseArguments(args, { replace: { type: 'boolean' } }, USAGE, 1);
    const [named] = positionals;
    if (!named) throw new UsageError('DIR is missing.', USAGE);
    const { folder, manifest } = await openBackup(environment, named);
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
      const client = await openClient(url, APPLICATION_NAME);
      const parts = { client, storage, replace, signal, onProgress };
      const lacking = await restoreBackup(folder, manifest, parts).finally(() => client.end().catch(() => undefined));
      await applyMigrations(url);
      for (const { key, reason } of lacking) print(`${key}: ${reason}`);
      print(`Restored the state of ${manifest.taken}${lacking.length > 0 ? ', except these objects' : ''}.`);
      return lacking.length === 0 ? 0 : 1;
    } catch (error) {
      const isExpected = error instanceof BackupDamaged || error instanceof DatabaseInUse;
      throw isExpected ? new CommandError(error.message) : error;
    } finally {
      progress.stop();
      await storage.close();
    }
  },
};

/**
 * Creates the tables of the backup's version.
 *
 * @throws {DatabaseInUse}
 * @throws {CommandError} if the backup is newer than this version, or the database newer than the backup
 */
async function prepare(url: string, manifest: Manifest, replace: boolean): Promise<void> {
  const known = await allMigrations();
  const unknown = manifest.migrations.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new CommandError(`The backup was made by a newer version, ${manifest.version} (migration ${unknown[0]}).`);
  }
  const client = await openClient(url, APPLICATION_NAME);
  try {
    await requireUnused(client, replace);
    const later = (await appliedMigrations(client)).filter((name) => !manifest.migrations.includes(name));
    if (later.length > 0) {
      throw new CommandError(`The database is newer than the backup (migration ${later[0]}). Use an empty database.`);
    }
  } finally {
    await client.end();
  }
  await migrate(url, undefined, manifest.migrations);
}
