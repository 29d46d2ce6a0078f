import { sql } from 'kysely';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { type ItemKind, type ItemResult, type KnownItem, saveResult } from './import-items.queries.ts';
import { type ImportServices, skipReason } from './import-services.ts';

/** A kind of items without files: each is a row with parts in other tables. */
export type RowKind = Exclude<ItemKind, 'event'>;

/** The table of a kind, and those of its parts with their owner and order. */
const TABLES = {
  series: { table: 'series', owner: 'series_id', parts: { series_acl: 'position', series_catalogs: 'flavor' } },
  playlist: {
    table: 'playlists',
    owner: 'playlist_id',
    parts: { playlist_entries: 'position', playlist_acl: 'position' },
  },
  group: { table: 'user_groups', owner: 'group_id', parts: { user_group_members: 'username' } },
} as const;

interface RowCopy {
  kind: RowKind;
  id: string;
  /** The digest of the item at the source. */
  digest: string;
  known: KnownItem;
  /** Sentences about parts that could not come along. */
  notes?: readonly string[];
  /** Returns true for a row that may be replaced, although it was not copied. */
  isUnused?: (trx: Transaction) => Promise<boolean>;
  write: (trx: Transaction, isNew: boolean) => Promise<void>;
}

/** Writes an item and its outcome in one transaction, unless the row was changed here. @returns the outcome */
export function copyRow(
  { kind, id, digest, known, notes = [], isUnused, write }: RowCopy,
  { database, sourceId, theirs }: ImportServices,
): Promise<ItemResult> {
  return inTransaction(database, async (trx) => {
    const isNew = !(await lockRow(trx, kind, id));
    const isOurs = theirs || (known.version === null && (await isUnused?.(trx)));
    const refusal = isOurs ? undefined : skipReason(kind, await rowVersion(trx, kind, id), known);
    if (refusal !== undefined) return { state: 'skipped', reason: refusal };
    await write(trx, isNew);
    const version = (await rowVersion(trx, kind, id)) ?? '';
    const result: ItemResult = { state: 'copied', copied: digest, version, notes };
    await saveResult(trx, { sourceId, kind, id }, result);
    return result;
  });
}

/** Deletes a row in one transaction. @param require throws for a locked row that must stay */
export function removeRow(
  { kind, id, require }: { kind: RowKind; id: string; require: (trx: Transaction) => Promise<void> },
  remove: (trx: Transaction) => Promise<void>,
  { database }: ImportServices,
): Promise<void> {
  return inTransaction(database, async (trx) => {
    await lockRow(trx, kind, id);
    await require(trx);
    await remove(trx);
  });
}

/** @returns false if the row does not exist */
async function lockRow(trx: Transaction, kind: RowKind, id: string): Promise<boolean> {
  const { table } = TABLES[kind];
  const { rows } = await sql`SELECT FROM ${sql.table(table)} WHERE id = ${id} FOR UPDATE`.execute(trx);
  return rows.length > 0;
}

/** Returns a digest of a row and its parts here; undefined if it does not exist. */
export async function rowVersion(db: Queryable, kind: RowKind, id: string): Promise<string | undefined> {
  const { table, owner, parts } = TABLES[kind];
  const texts = Object.entries(parts).map(
    ([part, order]) => sql`(SELECT string_agg(part::text, '' ORDER BY ${sql.ref(order)})
      FROM ${sql.table(part)} AS part WHERE ${sql.ref(owner)} = ${id})`,
  );
  const { rows } = await sql<{ version: string }>`
    SELECT md5(concat(item::text, ${sql.join(texts)})) AS version
    FROM ${sql.table(table)} AS item WHERE id = ${id}`.execute(db);
  return rows[0]?.version;
}
