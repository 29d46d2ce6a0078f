import { sql } from 'kysely';
import type pg from 'pg';
import type { Database, Queryable, Transaction } from '#platform/database/kysely.ts';
import { excerpt } from '#platform/text/excerpt.ts';

export type ItemKind = 'series' | 'event' | 'playlist' | 'group';
export type ItemState = 'pending' | 'copied' | 'failed' | 'skipped';

/** An item of a source. */
export interface ItemKey {
  sourceId: number;
  kind: ItemKind;
  id: string;
}

/** An item as an earlier run has left it. */
export interface KnownItem {
  /** The digest of the item at the source when it was last copied. */
  copied: string | null;
  /** The digest of its files at the source; null unless all of them are here. */
  copiedFiles: string | null;
  /** The version here after the copy. */
  version: string | null;
}

/** Opens a source for a new import. @returns its identifier here */
export async function openSource(database: Database, name: string): Promise<number> {
  const { id } = await database
    .insertInto('import_sources')
    .values({ name })
    .onConflict((same) => same.column('name').doUpdateSet({ active_at: sql<Date>`now()` }))
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Locks a source until the connection closes. @returns false if another process holds the lock */
export async function lockSource(client: pg.Client, sourceId: number): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS locked',
    [`inlet import ${sourceId}`],
  );
  return rows[0]?.locked ?? false;
}

/** Returns true if an earlier run has found items at a source. */
export async function hasItems(database: Database, sourceId: number): Promise<boolean> {
  const items = database.selectFrom('import_items').select('id').where('source_id', '=', sourceId).limit(1);
  return (await items.executeTakeFirst()) !== undefined;
}

/** Begins to read the whole source once more. @returns the number of this pass */
export async function beginPass(database: Database, sourceId: number): Promise<number> {
  const { passes } = await database
    .updateTable('import_sources')
    .set((eb) => ({ passes: eb('passes', '+', 1), active_at: sql<Date>`now()` }))
    .where('id', '=', sourceId)
    .returning('passes')
    .executeTakeFirstOrThrow();
  return passes;
}

/** Tells operators that the command runs, and whether the source answers. */
export async function noteActivity(
  database: Database,
  sourceId: number,
  away: { since: Date; reason: string } | undefined,
): Promise<void> {
  await database
    .updateTable('import_sources')
    .set({ active_at: sql<Date>`now()`, away_since: away?.since ?? null, away_reason: away?.reason ?? '' })
    .where('id', '=', sourceId)
    .execute();
}

/** An item that a pass has found. */
interface FoundItem extends KnownItem {
  /** The pass that found it before; null for the first. */
  foundIn: number | null;
}

/**
 * Notes that a pass has found items at the source.
 *
 * @param items different ones
 * @returns what is known about each, by its identifier
 */
export async function noteFound(
  database: Queryable,
  { sourceId, kind }: Omit<ItemKey, 'id'>,
  items: readonly { id: string; title: string }[],
  pass: number,
): Promise<Map<string, FoundItem>> {
  const ids = items.map(({ id }) => id);
  const titles = items.map(({ title }) => storable(title, MAX_TITLE));
  const { rows } = await sql<FoundItem & { id: string }>`
    INSERT INTO import_items AS item (source_id, kind, id, title, state, pass)
    SELECT ${sourceId}::integer, ${kind}, found.id, found.title, 'pending', ${pass}::integer
    FROM unnest(${ids}::text[], ${titles}::text[]) AS found (id, title)
    ON CONFLICT (source_id, kind, id) DO UPDATE SET pass = EXCLUDED.pass, title = EXCLUDED.title
    RETURNING id, copied, copied_files AS "copiedFiles", version, (SELECT before.pass FROM import_items AS before
      WHERE before.source_id = item.source_id AND before.kind = item.kind AND before.id = item.id) AS "foundIn"`.execute(
    database,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

const MAX_TITLE = 300;
const MAX_SENTENCE = 2000;
const MAX_NOTES = 100;

/** Returns text of a source as the database and terminals can show it, without control characters. */
export function storable(text: string, length: number): string {
  return excerpt(text, length).replaceAll(/\p{Cc}/gu, ' ');
}

/** The outcome of an item. */
export interface ItemResult {
  state: ItemState;
  reason?: string;
  notes?: readonly string[];
  /** The digest of the item at the source; omitted unless the copy here is equal. */
  copied?: string;
  /** The digest of its files at the source; null unless all of them are here. */
  copiedFiles?: string | null;
  /** The version here after the copy. */
  version?: string;
  files?: number;
  bytes?: number;
}

/** Stores the outcome of an item. What the result omits stays, but for the digest: the item is tried again. */
export async function saveResult(
  db: Queryable | Transaction,
  { sourceId, kind, id }: ItemKey,
  { notes, reason = '', copiedFiles, ...result }: ItemResult,
): Promise<void> {
  await db
    .updateTable('import_items')
    .set({
      ...{ copied: null, ...result, reason: storable(reason, MAX_SENTENCE), changed_at: sql<Date>`now()` },
      ...(copiedFiles !== undefined && { copied_files: copiedFiles }),
      ...(notes && { notes: notes.slice(0, MAX_NOTES).map((note) => storable(note, MAX_SENTENCE)) }),
    })
    .where('source_id', '=', sourceId)
    .where('kind', '=', kind)
    .where('id', '=', id)
    .execute();
}

/** An item that a pass has not found at the source. */
export interface VanishedItem {
  kind: ItemKind;
  id: string;
  /** Null if it was never copied. */
  version: string | null;
}

/** The number of missing items of a kind, or of all kinds (null). */
export interface MissingCount {
  kind: ItemKind | null;
  missing: number;
  total: number;
}

/** Returns the items of some kinds that a pass has not found, events first, and the numbers of all and of each kind. */
export async function notFoundIn(database: Database, sourceId: number, kinds: readonly ItemKind[], pass: number) {
  const { rows: counts } = await sql<MissingCount>`
    SELECT kind, count(*) FILTER (WHERE pass < ${pass})::integer AS missing, count(*)::integer AS total
    FROM import_items WHERE source_id = ${sourceId} AND kind = ANY(${kinds})
    GROUP BY GROUPING SETS ((), (kind))`.execute(database);
  const vanished = (await database
    .selectFrom('import_items')
    .select(['kind', 'id', 'version'])
    .where('source_id', '=', sourceId)
    .where(sql<boolean>`kind = ANY(${kinds})`)
    .where('pass', '<', pass)
    .where('state', '<>', 'skipped')
    .orderBy('kind')
    .orderBy('id')
    .execute()) as VanishedItem[];
  return { vanished, counts };
}

/** Forgets an item that no longer exists at the source. */
export async function forgetItem(db: Queryable, { sourceId, kind, id }: ItemKey): Promise<void> {
  await db
    .deleteFrom('import_items')
    .where('source_id', '=', sourceId)
    .where('kind', '=', kind)
    .where('id', '=', id)
    .execute();
}

/** The progress of an import, by kind and state. */
export async function importTotals(database: Queryable, sourceId: number) {
  const rows = await database
    .selectFrom('import_items')
    .select(['kind', 'state'])
    .select((eb) => [
      eb.fn.countAll<number>().as('items'),
      sql<number>`coalesce(sum(files), 0)::float8`.as('files'),
      sql<number>`coalesce(sum(bytes), 0)::float8`.as('bytes'),
    ])
    .where('source_id', '=', sourceId)
    .groupBy(['kind', 'state'])
    .execute();
  return rows.map((row) => ({ ...row, items: Number(row.items) }));
}

/** Returns the items that did not come along, or only in part. */
export async function incompleteItems(database: Database, sourceId: number) {
  return database
    .selectFrom('import_items')
    .select(['kind', 'id', 'title', 'state', 'reason', 'notes'])
    .where('source_id', '=', sourceId)
    .where((eb) => eb.or([eb('state', '<>', 'copied'), eb('notes', '<>', sql<string[]>`'{}'`)]))
    .orderBy('kind', 'desc')
    .orderBy('id')
    .execute();
}

/** The progress of an import for operators. */
export interface RecentImport extends Record<ItemState, number> {
  name: string;
  /** True while the command runs. */
  isActive: boolean;
  activeAt: Date;
  awaySince: Date | null;
  awayReason: string;
  bytes: number;
}

/** Returns the imports of the last day. */
export async function recentImports(database: Database): Promise<RecentImport[]> {
  const { rows } = await sql<RecentImport>`
    SELECT s.name, s.active_at > now() - interval '30 s' AS "isActive", s.active_at AS "activeAt",
      s.away_since AS "awaySince", s.away_reason AS "awayReason", t.*
    FROM import_sources AS s, LATERAL (
      SELECT count(*) FILTER (WHERE state = 'copied')::integer AS copied,
        count(*) FILTER (WHERE state = 'failed')::integer AS failed,
        count(*) FILTER (WHERE state = 'skipped')::integer AS skipped,
        count(*) FILTER (WHERE state = 'pending')::integer AS pending, coalesce(sum(bytes), 0)::float8 AS bytes
      FROM import_items WHERE source_id = s.id
    ) AS t
    WHERE s.active_at > now() - interval '1 day' ORDER BY s.name`.execute(database);
  return rows;
}
