import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { isObjectKey } from '#platform/storage/keys.ts';
import { ObjectNotFound, type ObjectStorage } from '#platform/storage/port.ts';
import { forEachOf, oneByKey } from '../concurrency.ts';
import { digestOf, type Reading } from '../digests.ts';
import { type BackedUpObject, type LackingObject, storeAsItIs, storeFromBackup } from './backup-objects.ts';
import { columnList, listedObjects, type Table, tableFile, tablesInOrder, tablesLeftOut } from './dump.ts';
import { BackupDamaged, type Manifest, unreadable } from './manifest.ts';

const AT_ONCE = 4;
const LACKING = 'the backup does not have it as it should be';
const BROUGHT = `${LACKING}; what it has was brought back, and verify reports it`;

/** What a backup is restored with. */
interface RestoreParts {
  /** Writes the database, whose tables are those of the backup's migrations. */
  client: pg.Client;
  storage: Reading & Pick<ObjectStorage, 'put' | 'size' | 'removeUnfinished'>;
  /** Whether what the database holds may be lost. */
  replace: boolean;
  signal: AbortSignal;
  /** @param bytes of objects that are in the storage again */
  onProgress(bytes: number): void;
}

/**
 * Brings objects and tables of a backup back, the objects first: whatever ends it, repeating it goes on.
 *
 * @returns the objects that the backup lacks, or does not have as the database tells of them
 * @throws {NotToBeReplaced}
 */
export async function restoreBackup(
  folder: string,
  manifest: Manifest,
  { client, storage, replace, signal, onProgress }: RestoreParts,
): Promise<LackingObject[]> {
  const database = join(folder, manifest.database);
  const lacking: LackingObject[] = [];
  let bytes = 0;
  const bring = async (object: BackedUpObject) => {
    const { key } = object;
    const under = () => cleared(storage, key);
    const found = await sizeOf(storage, key);
    const stored =
      (await isSound(object, found, storage, signal)) || (await storeFromBackup(folder, object, storage, under));
    if (!stored) {
      const isBrought = found === undefined && (await storeAsItIs(folder, object, storage, under));
      lacking.push({ key, reason: isBrought ? BROUGHT : LACKING });
    }
    bytes += object.size;
    onProgress(bytes);
  };
  await forEachOf(listedObjects(database), oneByKey(bring), { atOnce: AT_ONCE, signal });
  // Since the objects were begun with somebody may have started Inlet, and be it for a moment.
  const mayReplace = () => requireUnused(client, replace);
  await loadDatabase(client, database, { rows: manifest.tables, mayReplace, signal });
  return lacking;
}

async function sizeOf(storage: Pick<ObjectStorage, 'size'>, key: string): Promise<number | undefined> {
  if (!isObjectKey(key)) return undefined;
  return storage.size(key).catch((error) => {
    if (error instanceof ObjectNotFound) return undefined;
    throw error;
  });
}

/** Whether the storage has it, as an interrupted run left it: what is damaged is stored again. */
async function isSound(
  { key, size, sha256 }: BackedUpObject,
  found: number | undefined,
  storage: Reading,
  signal: AbortSignal,
): Promise<boolean> {
  if (found !== size) return false;
  return sha256 === null || (await digestOf(storage, key, signal)) === sha256;
}

/** @returns the key, when nothing is left under it of a restoration that was killed */
async function cleared(storage: Pick<ObjectStorage, 'removeUnfinished'>, key: string): Promise<string> {
  await storage.removeUnfinished(key);
  return key;
}

/** A restoration would lose something, or somebody is at work. The message says what to do. */
export class NotToBeReplaced extends Error {
  override name = 'NotToBeReplaced';
}

/**
 * @param replace whether what the database holds may be lost
 * @throws {NotToBeReplaced}
 */
export async function requireUnused(client: pg.Client, replace: boolean): Promise<void> {
  const [user] = await otherUsers(client);
  if (user !== undefined)
    throw new NotToBeReplaced(`Something works with the database ("${user}"); stop all of Inlet first.`);
  if (!replace && (await holdsData(client)))
    throw new NotToBeReplaced('The database holds data, which would be lost; --replace says that it may be.');
}

/** What others than the restorer have open on the database, by their names. */
async function otherUsers(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT DISTINCT application_name AS name FROM pg_stat_activity
     WHERE datname = current_database() AND application_name ~ '^inlet (api|worker|all)' ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

/** Whether the database holds anything that would be lost. */
async function holdsData(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ tables: boolean }>("SELECT to_regclass('events') IS NOT NULL AS tables");
  if (!rows[0]?.tables) return false;
  const kinds = ['events', 'series', 'accounts', 'drafts', 'uploads'].map((table) => `EXISTS (SELECT FROM ${table})`);
  const found = await client.query<{ any: boolean }>(`SELECT ${kinds.join(' OR ')} AS any`);
  return found.rows[0]?.any ?? false;
}

/**
 * Fills empty tables with those of a dump, all of them or none. Triggers rest meanwhile: what they would derive is in the
 * dump.
 *
 * @param options.rows how many each table has to have then
 * @param options.mayReplace is asked when nobody else can use the tables any more; throws when their rows have to stay
 * @throws when a table has others
 */
async function loadDatabase(
  client: pg.Client,
  folder: string,
  {
    rows,
    mayReplace,
    signal,
  }: { rows: Readonly<Record<string, number>>; mayReplace: () => Promise<void>; signal: AbortSignal },
): Promise<void> {
  await client.query('BEGIN');
  try {
    const tables = await tablesInOrder(client);
    const names = tables.map(({ name }) => `"${name}"`);
    const all = [...names, ...(await tablesLeftOut(client))].join(', ');
    await client.query(`LOCK TABLE ${all} IN ACCESS EXCLUSIVE MODE`);
    await mayReplace();
    await client.query(`TRUNCATE ${all}`);
    for (const name of names) await client.query(`ALTER TABLE ${name} DISABLE TRIGGER USER`);
    for (const table of tables) await loadTable(client, table, folder, rows[table.name], signal);
    // Tables cannot be altered while a check of them is put off to the end.
    await client.query('SET CONSTRAINTS ALL IMMEDIATE');
    for (const name of names) await client.query(`ALTER TABLE ${name} ENABLE TRIGGER USER`);
    for (const table of tables) await continueNumbers(client, table.name);
    await dropUnrestorable(client);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
  await client.query('ANALYZE');
}

async function loadTable(
  client: pg.Client,
  table: Table,
  folder: string,
  expected: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (expected === undefined) throw new BackupDamaged(`The backup has no table ${table.name}.`);
  const rows = client.query(copyFrom(`COPY "${table.name}" (${columnList(table)}) FROM STDIN`));
  const file = tableFile(folder, table.name);
  await pipeline(createReadStream(file), createGunzip(), rows, { signal }).catch((error) => {
    throw unreadable(file, error);
  });
  if (rows.rowCount !== expected) {
    throw new BackupDamaged(`The backup has ${rows.rowCount} rows of ${table.name} instead of ${expected}.`);
  }
}

/** Rows to come get numbers that none of these has. */
async function continueNumbers(client: pg.Client, table: string): Promise<void> {
  const { rows } = await client.query<{ column: string; sequence: string }>(
    `SELECT a.attname AS column, pg_get_serial_sequence(quote_ident($1), a.attname) AS sequence FROM pg_attribute a
     WHERE a.attrelid = quote_ident($1)::regclass AND a.attnum > 0 AND NOT a.attisdropped
       AND pg_get_serial_sequence(quote_ident($1), a.attname) IS NOT NULL`,
    [table],
  );
  for (const { column, sequence } of rows) {
    await client.query(`SELECT setval($1, coalesce(max("${column}"), 0) + 1, false) FROM "${table}"`, [sequence]);
  }
}

/** The pieces of an upload under way are no objects yet, and what is being stored belongs to processes that are gone. */
async function dropUnrestorable(client: pg.Client): Promise<void> {
  await client.query('DELETE FROM uploads WHERE completed_at IS NULL');
  await client.query(
    `DELETE FROM staging WHERE object_key NOT IN (SELECT object_key FROM draft_tracks
       UNION ALL SELECT object_key FROM draft_attachments UNION ALL SELECT object_key FROM uploads)`,
  );
}
