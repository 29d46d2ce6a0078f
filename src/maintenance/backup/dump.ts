import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { jsonLine } from '../json-lines.ts';
import { ownedInTransaction } from '../owned-objects.ts';
import type { BackedUpObject } from './backup-objects.ts';
import { readManifest, unreadable } from './manifest.ts';

const OBJECTS = 'objects.jsonl.gz';

/** Returns the path of the rows of a table. */
export function tableFile(folder: string, table: string): string {
  return join(folder, `${table}.copy.gz`);
}

/** The contents of a dump. */
interface Dump {
  tables: Record<string, number>;
  migrations: string[];
  objects: number;
  bytes: number;
}

/**
 * Writes all tables and the list of the objects that they name, from one snapshot.
 * @param client cannot be used again after a failure
 * @param folder is created; its files are readable by their owner only
 */
export async function dumpDatabase(client: pg.Client, folder: string, signal: AbortSignal): Promise<Dump> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  try {
    const tables: Record<string, number> = {};
    for (const table of await tablesInOrder(client)) {
      const rows = client.query(copyTo(`COPY "${table.name}" (${columnList(table)}) TO STDOUT`));
      await pipeline(rows, createGzip(), fileAt(tableFile(folder, table.name)), { signal });
      tables[table.name] = rows.rowCount;
    }
    const { rows } = await client.query<{ name: string }>('SELECT name FROM schema_migrations ORDER BY name');
    const count = { objects: 0, bytes: 0 };
    const list = Readable.from(lines(client, count));
    await pipeline(list, createGzip(), fileAt(join(folder, OBJECTS)), { signal });
    await client.query('ROLLBACK');
    return { tables, migrations: rows.map(({ name }) => name), ...count };
  } catch (error) {
    // A COPY that is not read to its end blocks the connection.
    await client.end().catch(() => undefined);
    throw error;
  }
}

async function* lines(client: pg.Client, count: { objects: number; bytes: number }): AsyncGenerator<string> {
  for await (const owned of ownedInTransaction(client)) {
    count.objects += owned.length;
    count.bytes += owned.reduce((sum, { size }) => sum + size, 0);
    yield owned.map(({ key, size, sha256, mediatype }) => jsonLine({ key, size, sha256, mediatype })).join('');
  }
}

function fileAt(path: string) {
  return createWriteStream(path, { mode: 0o600, flush: true });
}

/** Tables that a dump leaves out and that are empty after a restore: running workers and browser sessions. */
const LEFT_OUT = ['worker_processes', 'sessions', 'used_tokens'];
/** Listed in the manifest instead. */
const MIGRATIONS = 'schema_migrations';

/** A table with its columns, without generated ones. */
export interface Table {
  name: string;
  columns: string[];
}

/** Returns Inlet's tables in an order in which they can be filled: referenced tables first. */
export async function tablesInOrder(client: pg.Client): Promise<Table[]> {
  const { rows: tables } = await client.query<Table & { refers_to: string[] }>(
    `SELECT c.relname AS name,
       ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
         AND a.attgenerated = '' ORDER BY a.attnum) AS columns,
       ARRAY(SELECT r.relname::text FROM pg_constraint f JOIN pg_class r ON r.oid = f.confrelid
         WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.confrelid <> c.oid) AS refers_to
     FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
       AND c.relname <> ALL ($1) ORDER BY c.relname`,
    [[...LEFT_OUT, MIGRATIONS]],
  );
  const ordered: Table[] = [];
  const left = new Map(tables.map((table) => [table.name, table]));
  while (left.size > 0) {
    const next = [...left.values()].filter(({ refers_to }) => !refers_to.some((name) => left.has(name)));
    if (next.length === 0) throw new Error(`Tables refer to each other: ${[...left.keys()].join(', ')}.`);
    for (const { name, columns } of next) {
      ordered.push({ name, columns });
      left.delete(name);
    }
  }
  return ordered;
}

/** Returns the existing tables that a dump leaves out. */
export async function tablesLeftOut(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NOT NULL',
    [LEFT_OUT],
  );
  return rows.map(({ name }) => name);
}

/** Returns the column list for a COPY. */
export function columnList({ columns }: Table): string {
  return columns.map((column) => `"${column}"`).join(', ');
}

/** Reads the list of objects of a dump. */
export async function* listedObjects(folder: string): AsyncGenerator<BackedUpObject> {
  const path = join(folder, OBJECTS);
  const file = createReadStream(path);
  const text = createGunzip();
  let fault: unknown;
  // Not every runtime passes faults of the stream on to the reader of lines.
  file.on('error', (error) => text.destroy(error));
  text.on('error', (error) => {
    fault = error;
  });
  try {
    for await (const line of createInterface({ input: file.pipe(text) })) {
      yield JSON.parse(line) as BackedUpObject;
    }
    if (fault) throw fault;
  } catch (error) {
    throw unreadable(path, fault ?? error);
  }
}

/**
 * Finds objects in the list of a backup, by the same key or the same content.
 * @returns the listed objects, by key and by `contentOf`
 * @throws {BackupError}
 */
export async function findInBackup(
  folder: string,
  wanted: readonly Pick<BackedUpObject, 'key' | 'size' | 'sha256'>[],
): Promise<Map<string, BackedUpObject>> {
  const found = new Map<string, BackedUpObject>();
  const database = (await readManifest(folder))?.database;
  if (database === undefined) return found;
  const names = new Set(wanted.flatMap((object) => [object.key, contentOf(object)]));
  for await (const object of listedObjects(join(folder, database))) {
    for (const name of [object.key, contentOf(object)]) if (names.has(name)) found.set(name, object);
  }
  return found;
}

/**
 * Returns a name for the content of an object. Objects with equal names have equal bytes, unless their SHA-256 is
 * unknown.
 */
export function contentOf({ size, sha256 }: Pick<BackedUpObject, 'size' | 'sha256'>): string {
  return `${size} ${sha256}`;
}
