import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { forEachConcurrent, serializeByKey } from '../concurrency.ts';
import { digestOf, type ObjectReader, sizeOf } from '../digests.ts';
import { type BackedUpObject, type MissingObject, storeAsItIs, storeFromBackup } from './backup-objects.ts';
import { columnList, listedObjects, type Table, tableFile, tablesInOrder, tablesLeftOut } from './dump.ts';
import { BackupError, type Manifest, unreadable } from './manifest.ts';

const CONCURRENCY = 4;
const LACKING = 'the backup does not have it as its row describes it';
const RESTORED_AS_IS = `${LACKING}; the available content was restored, and verify reports it`;

/** The parts of a restore. */
interface RestoreParts {
  /** Writes the database, which has the backup's migrations. */
  client: pg.Client;
  storage: ObjectReader & Pick<ObjectStorage, 'put' | 'size' | 'removeUnfinished'>;
  replace: boolean;
  signal: AbortSignal;
  /** @param bytes size of the objects restored so far */
  onProgress(bytes: number): void;
}

/**
 * Restores objects and tables, the objects first. An interrupted restore can be repeated.
 * @returns the objects that the backup lacks or has in another form than their rows say
 * @throws {BackupError}
 */
export async function restoreBackup(
  folder: string,
  manifest: Manifest,
  { client, storage, replace, signal, onProgress }: RestoreParts,
): Promise<MissingObject[]> {
  const database = join(folder, manifest.database);
  const lacking: MissingObject[] = [];
  let bytes = 0;
  const bring = async (object: BackedUpObject) => {
    const { key } = object;
    // Nothing of a restore that was killed may be left under the key.
    const to = { storage, key: () => storage.removeUnfinished(key).then(() => key) };
    const found = await sizeOf(storage, key);
    const isStored = (await isSound(object, found, storage, signal)) || (await storeFromBackup(folder, object, to));
    if (!isStored) {
      const isRestored = found === undefined && (await storeAsItIs(folder, object, to));
      lacking.push({ key, reason: isRestored ? RESTORED_AS_IS : LACKING });
    }
    bytes += object.size;
    onProgress(bytes);
  };
  await forEachConcurrent(listedObjects(database), serializeByKey(bring), { concurrency: CONCURRENCY, signal });
  // Inlet may have been started while the objects were restored.
  const mayReplace = () => requireUnused(client, replace);
  await loadDatabase(client, database, { rows: manifest.tables, mayReplace, signal });
  return lacking;
}

/** Returns true if an interrupted restore has stored the object correctly. */
async function isSound(
  { key, size, sha256 }: BackedUpObject,
  found: number | undefined,
  storage: ObjectReader,
  signal: AbortSignal,
): Promise<boolean> {
  if (found !== size) return false;
  return sha256 === null || (await digestOf(storage, key, signal)) === sha256;
}

/**
 * Rejects a database that is in use or holds data.
 * @param replace allows the restore to replace existing data
 * @throws {BackupError}
 */
export async function requireUnused(client: pg.Client, replace: boolean): Promise<void> {
  const [user] = await otherUsers(client);
  if (user !== undefined) throw new BackupError(`The database is in use by "${user}". Stop all Inlet processes first.`);
  if (!replace && (await holdsData(client)))
    throw new BackupError('The database holds data, which would be lost. Use --replace to overwrite it.');
}

async function otherUsers(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT DISTINCT application_name AS name FROM pg_stat_activity
     WHERE datname = current_database() AND application_name ~ '^inlet (api|worker|all)' ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

async function holdsData(client: pg.Client): Promise<boolean> {
  // An earlier version has fewer tables.
  const { rows } = await client.query<{ name: string }>(
    'SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NOT NULL',
    [['events', 'series', 'playlists', 'accounts', 'drafts', 'uploads']],
  );
  if (rows.length === 0) return false;
  const kinds = rows.map(({ name }) => `EXISTS (SELECT FROM ${name})`);
  const found = await client.query<{ any: boolean }>(`SELECT ${kinds.join(' OR ')} AS any`);
  return found.rows[0]?.any ?? false;
}

/**
 * Fills the tables from a dump, all or none. Triggers are disabled, because the dump includes derived columns.
 * @param options.rows the expected number of rows of each table
 * @param options.mayReplace called when the tables are locked; throws if their rows must stay
 * @throws {BackupError}
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
    // PostgreSQL does not alter tables with pending deferred constraints.
    await client.query('SET CONSTRAINTS ALL IMMEDIATE');
    for (const name of names) await client.query(`ALTER TABLE ${name} ENABLE TRIGGER USER`);
    for (const table of tables) await continueNumbers(client, table.name);
    await dropUnrestorable(client);
    await renewTimes(client);
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
  if (expected === undefined) throw new BackupError(`The backup has no table ${table.name}.`);
  const rows = client.query(copyFrom(`COPY "${table.name}" (${columnList(table)}) FROM STDIN`));
  const file = tableFile(folder, table.name);
  await pipeline(createReadStream(file), createGunzip(), rows, { signal }).catch((error) => {
    throw unreadable(file, error);
  });
  if (rows.rowCount !== expected) {
    throw new BackupError(`The backup has ${rows.rowCount} rows of ${table.name} instead of ${expected}.`);
  }
}

/** Sets sequences past the restored rows. */
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

/** Makes portals read everything again: they may have read newer states than those of the backup. */
async function renewTimes(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ found: boolean }>(
    "SELECT to_regproc('renew_resource_times') IS NOT NULL AS found",
  );
  // A backup of an earlier version has no times.
  if (rows[0]?.found) await client.query('SELECT renew_resource_times()');
}

/** Removes unfinished uploads, whose pieces are not backed up, and ledger entries of processes that no longer run. */
async function dropUnrestorable(client: pg.Client): Promise<void> {
  await client.query('DELETE FROM uploads WHERE completed_at IS NULL');
  await client.query(
    `DELETE FROM staging WHERE object_key NOT IN (SELECT object_key FROM draft_tracks
       UNION ALL SELECT object_key FROM draft_attachments UNION ALL SELECT object_key FROM uploads)`,
  );
}
