import type pg from 'pg';
import type { Manifest } from '#maintenance/backup/manifest.ts';
import { requireUnused, restoreBackup } from '#maintenance/backup/restore.ts';
import { allMigrations, appliedMigrations, migrate } from '#platform/database/migrate.ts';
import { formatBytes } from '#platform/text/units.ts';
import { type Command, parseArguments, UsageError } from '../command.ts';
import { CommandError } from '../failure.ts';
import { applyMigrations, findDatabase } from '../prepare-database.ts';
import { showProgress } from '../terminal/progress.ts';
import { openBackup, withConnections } from './connections.ts';

const USAGE = `npm run inlet -- restore DIR [--replace]

Restores a backup: first the objects, then all tables in one transaction. Stop Inlet's processes first. The database must be
empty, or of the version of the backup and without events, series and accounts. To continue after an interruption, run the
same command again. Exits with 0 only if every object matches the database.

  --replace  replace the contents of the database`;

export const restoreCommand: Command = {
  usage: USAGE,
  async run(args, { environment, signal, print, screen }) {
    const { values, positionals } = parseArguments(args, { replace: { type: 'boolean' } }, 1);
    const [named] = positionals;
    if (!named) throw new UsageError('DIR is missing.');
    const { folder, manifest } = await openBackup(environment, named);
    const { replace = false } = values;
    return withConnections(environment, 'restore', findDatabase, async ({ databaseUrl, storage, connect }) => {
      const client = await connect();
      await requireUnused(client, replace);
      await requireMigrations(client, manifest);
      await migrate(databaseUrl, undefined, manifest.migrations);
      const progress = showProgress('restore', screen);
      const onProgress = (bytes: number) =>
        progress.update(manifest.bytes === 0 ? 1 : bytes / manifest.bytes, `${formatBytes(bytes)} of objects`);
      const parts = { client, storage, replace, signal, onProgress };
      const lacking = await restoreBackup(folder, manifest, parts).finally(progress.stop);
      await applyMigrations(databaseUrl);
      for (const { key, reason } of lacking) print(`${key}: ${reason}`);
      print(`Restored the state of ${manifest.taken}${lacking.length > 0 ? ', except these objects' : ''}.`);
      return lacking.length === 0 ? 0 : 1;
    });
  },
};

/** @throws {CommandError} if the backup is newer than this version, or the database newer than the backup */
async function requireMigrations(client: pg.Client, { version, migrations }: Manifest): Promise<void> {
  const known = await allMigrations();
  const unknown = migrations.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new CommandError(`The backup was made by a newer version, ${version} (migration ${unknown}).`);
  }
  const later = (await appliedMigrations(client)).find((name) => !migrations.includes(name));
  if (later !== undefined) {
    throw new CommandError(`The database is newer than the backup (migration ${later}). Use an empty database.`);
  }
}
