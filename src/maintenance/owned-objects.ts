import type pg from 'pg';

/** Where the row that owns an object stands. */
export type OwnerTable =
  | 'tracks'
  | 'attachments'
  | 'publication_elements'
  | 'draft_tracks'
  | 'draft_attachments'
  | 'uploads';

/** An object that a committed row names, and what the row says of it. */
export interface OwnedObject {
  key: string;
  /** Bytes. */
  size: number;
  /** In hexadecimal; null while nobody has read what came in several requests. */
  sha256: string | null;
  mediatype: string;
  table: OwnerTable;
  /** The row: its identifier as text. */
  id: string;
  /** Null for what no event has yet. */
  eventId: string | null;
  /** What it is, for people. */
  label: string;
  /** Whether a workflow made it, and another run of it makes it again. */
  derived: boolean;
  /** Whether an inspection has found its SHA-256, and the row does not have it any more. */
  lostSum: boolean;
  /** Whether it is on the staging ledger as well, as that of a draft or an upload is until an event has it. */
  staged: boolean;
}

/** Rows read from a cursor at once. */
const BATCH = 5_000;

/** One row for each object that is somebody's: what is on the staging ledger only is nobody's yet. */
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

/** A part of all keys, in the order of their bytes: `from` is in it, `to` is not. */
export interface KeyRange {
  from: string;
  /** Undefined for the end of all. */
  to: string | undefined;
}

/** The objects of a range, a batch at a time, as they are at one moment. The client does nothing else meanwhile. */
export async function* ownedObjects(client: pg.Client, range?: KeyRange): AsyncGenerator<OwnedObject[]> {
  await client.query('BEGIN READ ONLY');
  try {
    yield* ownedInTransaction(client, range);
  } finally {
    await client.query('ROLLBACK');
  }
}

/** The same within a transaction that is open. */
export async function* ownedInTransaction(
  client: pg.Client,
  { from, to }: KeyRange = { from: '', to: undefined },
): AsyncGenerator<OwnedObject[]> {
  // Keys are compared by their bytes, as storages list them, whatever the database's collation is.
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

/** Who owns the objects of these keys. */
export async function ownersOf(client: pg.Client, keys: readonly string[]): Promise<OwnedObject[]> {
  const { rows } = await client.query<OwnedObject>(`${SELECTED} WHERE key = ANY ($1)`, [keys]);
  return rows.map(withNumbers);
}

/** Which of the keys the staging ledger has: their objects are being stored, or wait to be removed. */
async function onLedger(client: pg.Client, keys: readonly string[]): Promise<Set<string>> {
  const { rows } = await client.query<{ object_key: string }>(
    'SELECT object_key FROM staging WHERE object_key = ANY ($1)',
    [keys],
  );
  return new Set(rows.map(({ object_key }) => object_key));
}

/**
 * Who owns the objects of these keys, and which of them the staging ledger has, both at one moment. Rows of several tables
 * may name one key when somebody has changed them by hand.
 */
export async function namedAndStaged(
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

/** `pg` gives what may have 64 bits as text. */
function withNumbers(row: OwnedObject): OwnedObject {
  return { ...row, size: Number(row.size) };
}

/** How many objects rows name, and how many bytes these have. */
export async function ownedTotals(client: pg.Client): Promise<{ objects: number; bytes: number }> {
  const { rows } = await client.query<{ objects: string; bytes: string }>(
    `SELECT count(*) AS objects, coalesce(sum(size), 0) AS bytes FROM (${OWNED}) AS owned`,
  );
  return { objects: Number(rows[0]?.objects), bytes: Number(rows[0]?.bytes) };
}
