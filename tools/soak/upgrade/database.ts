import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sql } from 'kysely';
import pg from 'pg';
import { startEmbedded } from '../../../src/platform/database/embedded/start-embedded.ts';
import type { Database } from '../../../src/platform/database/kysely.ts';
import { migrate } from '../../../src/platform/database/migrate.ts';
import { migrateQueue } from '../../../src/platform/queue/postgres.ts';
import type { Cleanup } from '../../bench/support/cleanup.ts';
import { openDatabase } from '../world/inside.ts';
import { migrationsOf } from './previous.ts';

const NAME = 'inlet_upgrade';

/** A database as a version left it: some migrations, and many events. */
export interface OldDatabase {
  url: string;
  database: Database;
}

/** A server in a folder of its own, with the migrations of a tree but for the last ones. */
export async function oldDatabase(
  folder: string,
  tree: string,
  without: number,
  cleanup: Cleanup,
): Promise<OldDatabase> {
  const server = await cleanup.own(startEmbedded(join(folder, 'postgres')));
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  await client.query(`CREATE DATABASE ${NAME}`);
  await client.end();
  const url = new URL(server.databaseUrl);
  url.pathname = `/${NAME}`;
  const migrations = await migrationsOf(tree);
  const part = mkdtempSync(join(tmpdir(), 'inlet-migrations-'));
  try {
    mkdirSync(part, { recursive: true });
    for (const name of migrations.slice(0, migrations.length - without))
      cpSync(join(tree, 'sql', name), join(part, name));
    await migrate(url.href, part);
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
  await migrateQueue(url.href);
  return { url: url.href, database: openDatabase(url.href, cleanup) };
}

/** Fills it with a catalogue, as the version of the tree would have written it, and what its processing has left. */
export async function fill(database: Database, tree: string, events: number): Promise<void> {
  if (events === 0) return;
  const seed = (await import(pathToFileURL(join(tree, 'tools/bench/lists/seed.ts')).href)) as {
    seedLists(database: Database, events: number): Promise<void>;
  };
  await seed.seedLists(database, events);
  await sql`
    INSERT INTO tracks (id, event_id, position, flavor, filename, mediatype, object_key, size, sha256)
    SELECT gen_random_uuid(), id, 0, 'presenter/source', 'lecture.mp4', 'video/mp4', 'seeded/' || id, 1,
      repeat('0', 64)
    FROM events`.execute(database);
  await sql`
    INSERT INTO workflows (event_id, definition, title, configuration, state, creator, request_id, finished_at)
    SELECT id, 'schedule-and-upload', 'Process', '{}', 'SUCCEEDED', 'admin', 'seeded', now() FROM events
    WHERE processing_state = 'SUCCEEDED'`.execute(database);
  await sql`
    INSERT INTO workflow_operations (workflow_id, position, operation, state, max_attempts, time_limit_ms, finished_at)
    SELECT id, 0, 'encode', 'succeeded', 3, 3600000, now() FROM workflows`.execute(database);
  for (const table of ['events', 'tracks', 'workflows', 'workflow_operations'])
    await sql`VACUUM (ANALYZE) ${sql.table(table)}`.execute(database);
}
