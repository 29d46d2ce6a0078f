import { type Selectable, sql, type UpdateObject } from 'kysely';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import type { Held, Holder, Locks } from '#platform/database/locks.ts';
import type { DB, Upload as Row } from '#platform/database/schema.ts';
import type { Piece } from '#platform/storage/port.ts';
import { extendOwned, releaseOwned } from '#platform/storage/staging-entries.ts';
import { inTime, ownerOf, type Upload, UploadLost, type UploadParts, uploadOf } from './uploads.ts';

/** How long a writer may take to let go of the lock. */
const LOCK_MS = 5_000;

/** Takes the lock of an upload's writer. @returns undefined when another request keeps it */
export function lockUpload(locks: Locks, id: string, holder: Holder): Promise<Held | undefined> {
  return locks.take(`upload ${id}`, holder, LOCK_MS);
}

/**
 * Makes the caller the only writer, and extends the upload's life. Take its lock first.
 *
 * @throws {UploadLost} when it has expired, or is complete
 */
export async function beginWriting(trx: Transaction, id: string, lifetimeMs: number): Promise<Upload> {
  return uploadOf(await change(trx, { id }, lifetimeMs, { writer: sql<number>`writer + 1` }));
}

/** Declares a deferred length. Take the upload's lock first. @throws {UploadLost} when it has another length */
export async function declareLength(db: Queryable, id: string, length: number): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('uploads')
    .set({ length })
    .where('id', '=', id)
    .where((is) => is.or([is('length', 'is', null), is('length', '=', length)]))
    .executeTakeFirst();
  if (Number(numUpdatedRows) !== 1) throw new UploadLost('Another request writes to the upload.');
}

/** What has become durable of an upload. */
export interface Progress {
  /** More pieces of the object; what was the rest before is the beginning of the first one. */
  pieces?: readonly Piece[];
  /** The object of what comes after them, staged by this process, in place of the rest before. */
  rest?: { key: string; bytes: number };
  /** The properties of the whole object, and how much of it is no piece. */
  found?: { mediatype: string; sha256: string | undefined; bytes: number };
}

/**
 * Records what has become durable, and extends the upload's life.
 *
 * @returns the upload as it is now
 * @throws {UploadLost} when another request writes to it; the transaction must roll back
 */
export async function recordProgress(
  trx: Transaction,
  upload: Upload,
  { pieces = [], rest, found }: Progress,
  { staging, lifetimeMs }: Pick<UploadParts, 'staging' | 'lifetimeMs'>,
): Promise<Upload> {
  const { id, expiresAt } = upload;
  const owner = ownerOf(id);
  const bytes = pieces.reduce((sum, piece) => sum + piece.bytes, found?.bytes ?? 0);
  const restIsOver = pieces.length > 0 || rest !== undefined || found !== undefined;
  if (rest) await staging.handToOwner(trx, [rest.key], { owner, expiresAt });
  const row = await change(trx, upload, lifetimeMs, {
    stored: sql<number>`stored + ${bytes}`,
    changed_at: sql<Date>`now()`,
    ...(restIsOver && { rest_key: rest?.key ?? null, rest_bytes: rest?.bytes ?? 0 }),
    ...(found && {
      mediatype: found.mediatype,
      sha256: found.sha256 ?? null,
      completed_at: sql<Date>`now()`,
    }),
  });
  const receipts = pieces.map(({ receipt }) => receipt);
  if (found) await trx.deleteFrom('upload_pieces').where('upload_id', '=', id).execute();
  else if (receipts.length > 0)
    await sql`INSERT INTO upload_pieces (upload_id, number, receipt)
      SELECT ${id}, number + (SELECT coalesce(max(number), 0) FROM upload_pieces WHERE upload_id = ${id}), receipt
      FROM unnest(${receipts}::text[]) WITH ORDINALITY AS piece (receipt, number)`.execute(trx);
  if (restIsOver && upload.rest) await releaseOwned(trx, owner, { keys: [upload.rest.key], doubtful: true });
  return uploadOf(row);
}

/** Reads the receipts of all pieces, in their order. */
export async function receiptsOf(db: Queryable, id: string): Promise<string[]> {
  const pieces = db.selectFrom('upload_pieces').select('receipt').where('upload_id', '=', id);
  return (await pieces.orderBy('number').execute()).map(({ receipt }) => receipt);
}

/**
 * Changes the row of an upload that is not complete, and extends its life and that of its objects.
 *
 * @param writer who alone may change it; else it must not have expired
 * @throws {UploadLost}
 * @throws {StagingExpired} when an object has been swept; the transaction must roll back
 */
async function change(
  trx: Transaction,
  { id, writer }: Pick<Upload, 'id'> & Partial<Pick<Upload, 'writer'>>,
  lifetimeMs: number,
  set: UpdateObject<DB, 'uploads'>,
): Promise<Selectable<Row>> {
  const row = await trx
    .updateTable('uploads')
    .set({ ...set, expires_at: inTime(lifetimeMs, sql.ref('expires_by')) })
    .where('id', '=', id)
    .where('completed_at', 'is', null)
    .where((is) => (writer === undefined ? is('expires_at', '>', sql<Date>`now()`) : is('writer', '=', writer)))
    .returningAll()
    .executeTakeFirst();
  if (!row) throw new UploadLost('The upload is complete or gone, or another request writes to it.');
  const keys = row.rest_key === null ? [row.object_key] : [row.object_key, row.rest_key];
  await extendOwned(trx, ownerOf(id), keys, row.expires_at);
  return row;
}
