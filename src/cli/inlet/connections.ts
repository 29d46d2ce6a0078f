import type pg from 'pg';
import { type Config, loadConfig } from '#platform/config/config.ts';
import { createDatabase, type Database } from '#platform/database/kysely.ts';
import { createClient, MIGRATION } from '#platform/database/limits.ts';
import { createPool } from '#platform/database/pool.ts';
import type { ObjectStorage } from '#platform/storage/port.ts';
import { CommandError, connectionFailure } from '../failure.ts';
import { prepareDatabase, reachable } from '../prepare-database.ts';

/** What commands that look after the data work with. */
export interface Connections {
  config: Config;
  databaseUrl: string;
  database: Database;
  storage: ObjectStorage;
  /** One more connection, for statements that may take long; closed with the others. */
  client(): Promise<pg.Client>;
}

/** The storage of the environment. @throws {CommandError} when it cannot be read */
export async function openStorage(config: Config): Promise<ObjectStorage> {
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

/** A connection to the database for one user alone, who ends it. @throws {CommandError} when there is none to be had */
export async function openClient(databaseUrl: string, applicationName: string): Promise<pg.Client> {
  const client = createClient(databaseUrl, MIGRATION, applicationName);
  client.on('error', () => undefined);
  await reachable(databaseUrl, () => client.connect());
  return client;
}

/** Connects to database and storage of the environment, and lets go of them when the work has ended. */
export async function withConnections<T>(
  environment: NodeJS.ProcessEnv,
  name: string,
  work: (connections: Connections) => Promise<T>,
): Promise<T> {
  const config = loadConfig(environment);
  const databaseUrl = await prepareDatabase(config);
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
      client: async () => {
        const client = await openClient(databaseUrl, applicationName);
        clients.push(client);
        return client;
      },
    });
  } finally {
    await storage.close();
    await Promise.all([pool.end(), ...clients.map((client) => client.end().catch(() => undefined))]);
  }
}
