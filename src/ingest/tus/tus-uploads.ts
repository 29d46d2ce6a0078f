import { randomBytes } from 'node:crypto';
import { type RawBuilder, type Selectable, sql, type UpdateObject } from 'kysely';
import type { Principal } from '#access/principal.ts';
import type { Database, Queryable, Transaction } from '#platform/database/kysely.ts';
import type { LockCallbacks, Locks } from '#platform/database/locks.ts';
import { inTransaction } from '#platform/database/retry.ts';
import type { DB, Upload as Row } from '#platform/database/schema.ts';
import { safeFilename } from '#platform/http/form/filename.ts';
import type { BegunObject, ObjectStorage, Piece } from '#platform/storage/object-storage.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import { releaseOwned, updateOwned } from '#platform/storage/staging-sweep.ts';
import type { UploadDigests } from './digests.ts';

const ID_BYTES = 24;
/** Small, because each upload may have thousands of pieces, which are deleted with it. */
const EXPIRED_BATCH = 200;
const EXPIRED_BATCHES = 100;

/** A file that arrives over several requests, before it becomes a track. Sizes in bytes. */
export interface Upload extends BegunObject {
  id: string;
  owner: string;
  filename: string;
  flavor: string | undefined;
  metadata: string;
  /** Undefined while deferred. */
  length: number | undefined;
  /** The size of the pieces of its object. */
  stored: number;
  /** The object with the bytes after the pieces. */
  rest: { key: string; bytes: number } | undefined;
  offset: number;
  /** The fencing token of the writer. */
  writer: number;
  createdAt: Date;
  changedAt: Date;
  expiresAt: Date;
  /** True once the last byte is durable and the object is complete. */
  complete: boolean;
}

export interface UploadParts {
  database: Database;
  storage: ObjectStorage;
  staging: StagingLedger;
  digests: UploadDigests;
  /** The time in milliseconds after which an upload without new bytes expires. */
  lifetimeMs: number;
}

/** Another request writes to the upload, or it no longer exists. */
export class UploadLost extends Error {
  override name = 'UploadLost';
}

interface NewUpload extends Pick<Upload, 'owner' | 'filename' | 'flavor' | 'metadata' | 'length'> {
  maxBytes: number;
  expiresBy?: Date;
}

/** Returns a new identifier that cannot be guessed. */
export function newUploadId(): string {
  return randomBytes(ID_BYTES).toString('base64url');
}

/**
 * Creates an upload: its object, its entry in the staging ledger, and its row.
 *
 * @param alongside writes in the same transaction; if it rejects, nothing is kept
 * @throws {StorageRefused}
 */
export async function beginUpload(
  { database, storage, staging, lifetimeMs }: UploadParts,
  id: string,
  { maxBytes, filename, expiresBy, ...upload }: NewUpload,
  alongside: (trx: Transaction) => Promise<void> = async () => undefined,
): Promise<Upload> {
  const key = await staging.stage('track');
  try {
    const handle = await storage.begin(key, {
      mediatype: 'application/octet-stream',
      expectedBytes: upload.length ?? maxBytes,
      onDoubt: () => staging.doubt(key),
    });
    return await inTransaction(database, async (trx) => {
      await alongside(trx);
      const row = await trx
        .insertInto('uploads')
        .values({
          ...{ ...upload, id, handle, object_key: key, filename: safeFilename(filename, 'upload') },
          expires_by: expiresBy ?? null,
          expires_at: inTime(lifetimeMs, sql`${expiresBy ?? null}::timestamptz`),
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      await staging.handToOwner(trx, [key], { owner: ownerOf(id), expiresAt: row.expires_at });
      return uploadOf(row);
    });
  } catch (error) {
    await staging.discard([key]);
    throw error;
  }
}

/** Finds an upload that has not expired. @param account must own it or be an administrator, if given */
export async function findUpload(db: Queryable, id: string, account?: Principal): Promise<Upload | undefined> {
  const uploads = living(db).selectAll().where('id', '=', id);
  const seen = account && !account.isAdmin() ? uploads.where('owner', '=', account.username) : uploads;
  const row = await seen.executeTakeFirst();
  return row && uploadOf(row);
}

/** Summarizes the uploads without an event, most recently changed first. @param most the maximum length of the list */
export async function listWaitingUploads(
  db: Queryable,
  most: number,
): Promise<{ count: number; bytes: number; latest: Upload[] }> {
  const waiting = living(db).where('event_id', 'is', null);
  const totals = await waiting
    .select((is) => [
      is.fn.countAll<number>().as('count'),
      sql<number>`coalesce(sum(stored + rest_bytes), 0)::bigint`.as('bytes'),
    ])
    .executeTakeFirstOrThrow();
  const rows = await waiting.selectAll().orderBy('changed_at', 'desc').orderBy('id').limit(most).execute();
  return { ...totals, latest: rows.map(uploadOf) };
}

/** Deletes an upload; the sweep removes its objects soon after the commit, unless an event has them. */
export async function discardUpload(trx: Transaction, id: string): Promise<void> {
  await trx.deleteFrom('uploads').where('id', '=', id).execute();
  await releaseOwned(trx, ownerOf(id), { doubtful: true });
}

/**
 * Deletes the rows of expired uploads, in a limited number of batches so that the caller's heartbeat continues. Objects
 * without an event expire in the staging ledger at the same time.
 *
 * @returns the number of rows
 */
export async function expireUploads(database: Queryable, batch = EXPIRED_BATCH): Promise<number> {
  let expired = 0;
  for (let i = 0; i < EXPIRED_BATCHES; i += 1) {
    const { numAffectedRows = 0n } = await sql`
      DELETE FROM uploads WHERE id = ANY (ARRAY(
        SELECT id FROM uploads WHERE expires_at <= now()
        ORDER BY expires_at LIMIT ${batch} FOR UPDATE SKIP LOCKED
      ))`.execute(database);
    expired += Number(numAffectedRows);
    if (numAffectedRows < batch) break;
  }
  return expired;
}

export function ownerOf(id: string): string {
  return `upload ${id}`;
}

/** Returns the time after so many milliseconds by the database's clock, but at most `latest`. */
function inTime(milliseconds: number, latest: RawBuilder<unknown>) {
  return sql<Date>`least(now() + make_interval(secs => ${milliseconds / 1000}), ${latest})`;
}

function living(db: Queryable) {
  return db.selectFrom('uploads').where('expires_at', '>', sql<Date>`now()`);
}

function uploadOf(row: Selectable<Row>): Upload {
  const { id, owner, filename, metadata, handle, stored, rest_key: restKey, rest_bytes: bytes, writer } = row;
  return {
    ...{ id, owner, filename, metadata, handle, stored, writer },
    key: row.object_key,
    flavor: row.flavor ?? undefined,
    length: row.length ?? undefined,
    rest: restKey === null ? undefined : { key: restKey, bytes },
    offset: stored + bytes,
    createdAt: row.created_at,
    changedAt: row.changed_at,
    expiresAt: row.expires_at,
    complete: row.completed_at !== null,
  };
}

/** The time that a writer has to release the lock. */
const LOCK_MS = 5_000;

/** Takes the lock of an upload's writer. @throws {UploadLost} if another request keeps it */
export async function lockUpload(locks: Locks, id: string, holder: LockCallbacks): Promise<AsyncDisposable> {
  const held = await locks.take(`upload ${id}`, holder, LOCK_MS);
  if (!held) throw new UploadLost('Another request writes to the upload.');
  return { [Symbol.asyncDispose]: held.release };
}

/**
 * Makes the caller the only writer, and extends the upload's lifetime. Take its lock first.
 *
 * @throws {UploadLost} if it has expired or is complete
 */
export async function beginWriting(trx: Transaction, id: string, lifetimeMs: number): Promise<Upload> {
  return uploadOf(await change(trx, { id }, lifetimeMs, { writer: sql<number>`writer + 1` }));
}

/** Declares a deferred length. Take the upload's lock first. @throws {UploadLost} if it has another length */
export async function declareLength(db: Queryable, id: string, length: number): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('uploads')
    .set({ length })
    .where('id', '=', id)
    .where((is) => is.or([is('length', 'is', null), is('length', '=', length)]))
    .executeTakeFirst();
  if (Number(numUpdatedRows) !== 1) throw new UploadLost('Another request writes to the upload.');
}

/** The part of an upload that has become durable. */
export interface Progress {
  /** Further pieces of the object; the first one begins with the previous rest. */
  pieces?: readonly Piece[];
  /** The object with the bytes after the pieces, staged by this process; replaces the previous rest. */
  rest?: { key: string; bytes: number };
  /** The properties of the complete object, and the number of its bytes after the pieces. */
  found?: { mediatype: string; sha256: string | undefined; bytes: number };
}

/**
 * Records progress, and extends the upload's lifetime.
 *
 * @returns the upload's new state
 * @throws {UploadLost} if another request writes to it; the transaction must roll back
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

export async function receiptsOf(db: Queryable, id: string): Promise<string[]> {
  const pieces = db.selectFrom('upload_pieces').select('receipt').where('upload_id', '=', id);
  return (await pieces.orderBy('number').execute()).map(({ receipt }) => receipt);
}

/**
 * Changes the row of an incomplete upload, and extends its lifetime and that of its objects.
 *
 * @param writer the expected writer; if absent, the upload must not have expired
 * @throws {UploadLost}
 * @throws {StagingExpired} if an object has been swept; the transaction must roll back
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
  if (!row) throw new UploadLost('The upload is complete, has expired, or is written to by another request.');
  const keys = row.rest_key === null ? [row.object_key] : [row.object_key, row.rest_key];
  await updateOwned(trx, ownerOf(id), keys, { expires_at: row.expires_at });
  return row;
}
