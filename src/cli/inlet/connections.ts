import { resolve } from 'node:path';
import type pg from 'pg';
import { type Manifest, readManifest } from '#maintenance/backup/manifest.ts';
import { type Config, loadConfig } from '#platform/config/config.ts';
import { createClient, MIGRATION_LIMITS } from '#platform/database/client.ts';
import { createDatabase, type Database } from '#platform/database/kysely.ts';
import { createPool } from '#platform/database/pool.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { CommandError, connectionFailure } from '../failure.ts';
import { reachable } from '../prepare-database.ts';
import { callersFolder } from '../terminal/callers-folder.ts';

export interface Connections {
  config: Config;
  databaseUrl: string;
  database: Database;
  storage: ObjectStorage;
  /** Opens another connection, for long statements. */
  connect(): Promise<pg.Client>;
}

/** Opens the configured storage. @throws {CommandError} if it cannot be read */
async function openStorage(config: Config): Promise<ObjectStorage> {
  const { storage: place, uploadMemoryBytes } = config;
  const storage = await place.open(uploadMemoryBytes);
  try {
    await storage.checkReading();
    return storage;
  } catch (error) {
    await storage.close();
    throw new CommandError(`The ${place.name} cannot be used: ${connectionFailure(error)}`);
  }
}

/**
 * Opens the configured database and storage, and closes them after the work.
 *
 * @param findUrl returns the URL of the database
 * @throws {CommandError} if the database or the storage cannot be used
 */
export async function withConnections(
  environment: NodeJS.ProcessEnv,
  name: string,
  findUrl: (config: Config) => Promise<string>,
  work: (connections: Connections) => Promise<number>,
): Promise<number> {
  const config = loadConfig(environment);
  const databaseUrl = await findUrl(config);
  const storage = await openStorage(config);
  const applicationName = `inlet ${name}`;
  const pool = createPool(databaseUrl, { max: 4, applicationName, onError: () => undefined });
  const clients: pg.Client[] = [];
  try {
    return await work({
      config,
      databaseUrl,
      database: createDatabase(pool),
      storage,
      connect: async () => {
        const client = createClient(databaseUrl, MIGRATION_LIMITS, applicationName);
        client.on('error', () => undefined);
        clients.push(client);
        await reachable(databaseUrl, () => client.connect());
        return client;
      },
    });
  } finally {
    await storage.close();
    await Promise.all([pool.end(), ...clients.map((client) => client.end().catch(() => undefined))]);
  }
}

/** Returns the folder and the manifest of a complete backup. @throws {CommandError | BackupError} */
export async function openBackup(
  environment: NodeJS.ProcessEnv,
  name: string,
): Promise<{ folder: string; manifest: Manifest }> {
  const folder = resolve(callersFolder(environment), name);
  const manifest = await readManifest(folder);
  if (!manifest) throw new CommandError(`${folder} contains no complete backup.`);
  return { folder, manifest };
}
