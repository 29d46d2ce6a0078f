import type pg from 'pg';

export type OwnerTable =
  | 'tracks'
  | 'attachments'
  | 'publication_elements'
  | 'draft_tracks'
  | 'draft_attachments'
  | 'uploads';

/** An object that a committed row names, as the row describes it. */
export interface OwnedObject {
  key: string;
  size: number;
  /** In hexadecimal; null while an upload in several requests has not been read. */
  sha256: string | null;
  mediatype: string;
  table: OwnerTable;
  id: string;
  /** Null for drafts and uploads. */
  eventId: string | null;
  /** Description for people. */
  label: string;
  /** True if a workflow made it and can make it again. */
  derived: boolean;
  /** True if an inspection found its SHA-256 and the row has lost it. */
  lostSum: boolean;
  /** True if it is also on the staging ledger, as objects of drafts and uploads are. */
  staged: boolean;
}

/** Rows per read from a cursor. */
const BATCH = 5_000;

/** One row for each owned object. An object that is only on the staging ledger has no owner yet. */
export const OWNED = `
  SELECT object_key AS key, size, sha256, mediatype, 'tracks' AS "table", id::text AS id, event_id AS "eventId",
    flavor || ' ' || filename AS label, made_by IS NOT NULL AS derived,
    is_media AND duration IS NOT NULL AND sha256 IS NULL AS "lostSum" FROM tracks
  UNION ALL SELECT object_key, size, sha256, mediatype, 'attachments', id::text, event_id, flavor || ' ' || filename, false,
    false FROM attachments
  UNION ALL SELECT object_key, size, sha256, mediatype, 'publication_elements', id::text, event_id,
    flavor || ' ' || filename, true, false FROM publication_elements
  UNION ALL SELECT object_key, size, sha256, mediatype, 'draft_tracks', f.id::text, NULL,
    'draft ' || draft_id || ' ' || flavor || ' ' || filename, false, false FROM draft_tracks f
    JOIN drafts d ON d.id = draft_id WHERE d.event_id IS NULL AND d.expires_at > now()
  UNION ALL SELECT object_key, size, sha256, mediatype, 'draft_attachments', f.id::text, NULL,
    'draft ' || draft_id || ' ' || flavor || ' ' || filename, false, false FROM draft_attachments f
    JOIN drafts d ON d.id = draft_id WHERE d.event_id IS NULL AND d.expires_at > now()
  UNION ALL SELECT object_key, stored, sha256, mediatype, 'uploads', id, NULL, 'upload ' || id || ' ' || filename, false,
    false FROM uploads WHERE completed_at IS NOT NULL AND event_id IS NULL AND expires_at > now()`;

const SELECTED = `SELECT *, EXISTS (SELECT FROM staging WHERE object_key = key) AS staged FROM (${OWNED}) AS owned`;

/** A range of keys in byte order. `from` is included, `to` is not. */
export interface KeyRange {
  from: string;
  /** Undefined for no end. */
  to: string | undefined;
}

/**
 * Reads the objects of a range from one snapshot, in batches. The client must not be used for anything else until the
 * end.
 */
export async function* ownedObjects(client: pg.Client, range?: KeyRange): AsyncGenerator<OwnedObject[]> {
  await client.query('BEGIN READ ONLY');
  try {
    yield* ownedInTransaction(client, range);
  } finally {
    await client.query('ROLLBACK');
  }
}

/** Does the same within an open transaction. */
export async function* ownedInTransaction(
  client: pg.Client,
  { from, to }: KeyRange = { from: '', to: undefined },
): AsyncGenerator<OwnedObject[]> {
  // Storages list keys in byte order, whatever the collation of the database is.
  await client.query(
    `DECLARE owned NO SCROLL CURSOR FOR ${SELECTED}
     WHERE key COLLATE "C" >= $1 AND ($2::text IS NULL OR key COLLATE "C" < $2)`,
    [from, to ?? null],
  );
  for (;;) {
    const { rows } = await client.query<OwnedObject>(`FETCH ${BATCH} FROM owned`);
    if (rows.length > 0) yield rows.map(withNumbers);
    if (rows.length < BATCH) return;
  }
}

/** Returns the owners of these objects. */
export async function ownersOf(client: pg.Client, keys: readonly string[]): Promise<OwnedObject[]> {
  const { rows } = await client.query<OwnedObject>(`${SELECTED} WHERE key = ANY ($1)`, [keys]);
  return rows.map(withNumbers);
}

async function onLedger(client: pg.Client, keys: readonly string[]): Promise<Set<string>> {
  const { rows } = await client.query<{ object_key: string }>(
    'SELECT object_key FROM staging WHERE object_key = ANY ($1)',
    [keys],
  );
  return new Set(rows.map(({ object_key }) => object_key));
}

/**
 * Returns the owners of these objects, and the keys that the staging ledger has (stored now, or waiting for removal),
 * from one snapshot. Rows changed by hand may name one key several times.
 */
export async function ownersAndStaged(
  client: pg.Client,
  keys: readonly string[],
): Promise<{ owners: Map<string, OwnedObject[]>; staged: Set<string> }> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  try {
    const owners = Map.groupBy(await ownersOf(client, keys), ({ key }) => key);
    return { owners, staged: await onLedger(client, keys) };
  } finally {
    await client.query('ROLLBACK');
  }
}

/** Converts what `pg` returns as text, because it may have 64 bits. */
function withNumbers(row: OwnedObject): OwnedObject {
  return { ...row, size: Number(row.size) };
}

/** Returns the number of owned objects and their total size in bytes. */
export async function ownedTotals(client: pg.Client): Promise<{ objects: number; bytes: number }> {
  const { rows } = await client.query<{ objects: string; bytes: string }>(
    `SELECT count(*) AS objects, coalesce(sum(size), 0) AS bytes FROM (${OWNED}) AS owned`,
  );
  return { objects: Number(rows[0]?.objects), bytes: Number(rows[0]?.bytes) };
}
