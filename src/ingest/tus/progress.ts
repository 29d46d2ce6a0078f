import { type Selectable, sql } from 'kysely';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import type { Upload as Row } from '#platform/database/schema.ts';
import type { Piece } from '#platform/storage/port.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import { extendOwned, releaseOwned } from '#platform/storage/staging-entries.ts';
import { inTime, ownerOf, type Upload, UploadLost, uploadOf } from './uploads.ts';

/**
 * Makes the caller the one who writes, and lets the upload live on; whoever wrote before can no longer. Take its lock
 * first.
 *
 * @throws {UploadLost} when it has expired, or is complete
 */
export async function beginWriting(trx: Transaction, id: string, lifetimeMs: number): Promise<Upload> {
  const row = await trx
    .updateTable('uploads')
    .set((is) => ({ writer: is('writer', '+', 1), expires_at: inTime(lifetimeMs, sql.ref('expires_by')) }))
    .where('id', '=', id)
    .where('expires_at', '>', sql<Date>`now()`)
    .where('completed_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  if (!row) throw new UploadLost('The upload is complete, or gone.');
  await extendObjects(trx, row);
  return uploadOf(row);
}

/** Lets an upload live on of which bytes come that are not durable yet. @throws {UploadLost} */
export async function extendUpload(
  trx: Transaction,
  { id, writer }: Pick<Upload, 'id' | 'writer'>,
  lifetimeMs: number,
): Promise<void> {
  const row = await trx
    .updateTable('uploads')
    .set({ expires_at: inTime(lifetimeMs, sql.ref('expires_by')) })
    .where('id', '=', id)
    .where('writer', '=', writer)
    .where('completed_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  if (!row) throw new UploadLost('Somebody else writes to the upload, or it is gone.');
  await extendObjects(trx, row);
}

/**
 * Says how long an upload will be of which nobody has said anything else. Take its lock first.
 *
 * @throws {UploadLost} when somebody else has
 */
export async function declareLength(db: Queryable, id: string, length: number): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('uploads')
    .set({ length })
    .where('id', '=', id)
    .where((is) => is.or([is('length', 'is', null), is('length', '=', length)]))
    .executeTakeFirst();
  if (Number(numUpdatedRows) !== 1) throw new UploadLost('Somebody else writes to the upload.');
}

/** What has become durable of an upload. */
export interface Progress {
  /** More pieces of the object; what was the rest before is the beginning of the first one. */
  pieces?: readonly Piece[];
  /** What comes after them now: a staged object of this process, in place of the rest before. */
  rest?: { key: string; bytes: number };
  /** What was found when the object was whole, and how much of it is no piece. */
  found?: { mediatype: string; sha256: string | undefined; bytes: number };
}

/**
 * Takes note of what has become durable, and lets the upload live on.
 *
 * @returns the upload as it is now
 * @throws {UploadLost} when somebody else writes to it; the transaction must roll back
 */
export async function noteProgress(
  trx: Transaction,
  upload: Upload,
  { pieces = [], rest, found }: Progress,
  { staging, lifetimeMs }: { staging: StagingLedger; lifetimeMs: number },
): Promise<Upload> {
  const bytes = pieces.reduce((sum, piece) => sum + piece.bytes, found?.bytes ?? 0);
  const restIsOver = pieces.length > 0 || rest !== undefined || found !== undefined;
  const row = await trx
    .updateTable('uploads')
    .set((is) => ({
      stored: is('stored', '+', bytes),
      ...(restIsOver && { rest_key: rest?.key ?? null, rest_bytes: rest?.bytes ?? 0 }),
      ...(found && {
        mediatype: found.mediatype,
        sha256: found.sha256 ?? null,
        completed_at: sql<Date>`now()`,
      }),
      changed_at: sql<Date>`now()`,
      expires_at: inTime(lifetimeMs, sql.ref('expires_by')),
    }))
    .where('id', '=', upload.id)
    .where('writer', '=', upload.writer)
    .where('completed_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  if (!row) throw new UploadLost('Somebody else writes to the upload, or it is gone.');
  if (found) await trx.deleteFrom('upload_pieces').where('upload_id', '=', upload.id).execute();
  else await insertPieces(trx, upload.id, pieces);
  const owner = ownerOf(upload.id);
  if (rest) await staging.handToOwner(trx, [rest.key], { owner, expiresAt: row.expires_at });
  if (restIsOver && upload.rest) await releaseOwned(trx, owner, { keys: [upload.rest.key], doubtful: true });
  await extendObjects(trx, row);
  return uploadOf(row);
}

/** The receipts of all pieces, in their order. */
export async function receiptsOf(db: Queryable, id: string): Promise<string[]> {
  const rows = await db
    .selectFrom('upload_pieces')
    .select('receipt')
    .where('upload_id', '=', id)
    .orderBy('number')
    .execute();
  return rows.map(({ receipt }) => receipt);
}

/** @throws {StagingExpired} when one has been swept; the transaction must roll back */
async function extendObjects(trx: Transaction, row: Selectable<Row>): Promise<void> {
  const keys = [row.object_key, ...(row.rest_key ? [row.rest_key] : [])];
  await extendOwned(trx, ownerOf(row.id), keys, row.expires_at);
}

async function insertPieces(trx: Transaction, id: string, pieces: readonly Piece[]): Promise<void> {
  if (pieces.length === 0) return;
  const { last } = await trx
    .selectFrom('upload_pieces')
    .select(sql<number>`coalesce(max(number), 0)`.as('last'))
    .where('upload_id', '=', id)
    .executeTakeFirstOrThrow();
  await trx
    .insertInto('upload_pieces')
    .values(pieces.map(({ receipt }, i) => ({ upload_id: id, number: last + 1 + i, receipt })))
    .execute();
}
