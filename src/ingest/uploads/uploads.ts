import { randomBytes } from 'node:crypto';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Principal } from '../../access/principal.ts';
import type { Database, Queryable, Transaction } from '../../database/kysely.ts';
import type { Upload as Row } from '../../database/schema.ts';
import type { BegunObject, Piece } from '../../storage/port.ts';
import type { StagingLedger } from '../../storage/staging.ts';
import { extendOwned, releaseOwned } from '../../storage/staging-entries.ts';

/** A file that comes in several requests, before it becomes a track. */
export interface Upload extends BegunObject {
  id: string;
  /** The user name of the account it belongs to. */
  owner: string;
  filename: string;
  /** What its track is to be, where whoever uploads has said so. */
  flavor: string | undefined;
  /** `Upload-Metadata` as it was sent. */
  metadata: string;
  /** In bytes; undefined until whoever uploads knows. */
  length: number | undefined;
  /** Bytes in pieces of its object. */
  stored: number;
  /** What came after them; an object of its own. */
  rest: { key: string; bytes: number } | undefined;
  /** How many bytes are durable. */
  offset: number;
  /** The number under which whoever read this may write. */
  writer: number;
  expiresAt: Date;
  /** Whether the last byte is durable and the object whole. */
  complete: boolean;
}

/** Somebody else writes to the upload, or it is gone. */
export class UploadLost extends Error {
  override name = 'UploadLost';
}

/** What a new upload is. */
export interface NewUpload extends BegunObject {
  /** The user name of the account it belongs to. */
  owner: string;
  filename: string;
  flavor: string | undefined;
  metadata: string;
  length: number | undefined;
  /** How long it lives without another byte, in milliseconds. */
  lifetimeMs: number;
  /** Until when at most, whatever comes. */
  expiresBy?: Date;
}

const ID_BYTES = 24;

/** A name for an upload that nobody guesses. */
export function newUploadId(): string {
  return randomBytes(ID_BYTES).toString('base64url');
}

/**
 * Enters an upload whose object this process has begun and staged; from then on that lives as long as the upload.
 *
 * @throws {StagingExpired} when it has been swept; the transaction must roll back
 */
export async function insertUpload(
  trx: Transaction,
  id: string,
  { key, length, lifetimeMs, expiresBy, ...rest }: NewUpload,
  staging: StagingLedger,
): Promise<Upload> {
  const row = await trx
    .insertInto('uploads')
    .values({
      ...rest,
      id,
      object_key: key,
      length,
      expires_by: expiresBy ?? null,
      expires_at: inTime(lifetimeMs, sql`${expiresBy ?? null}::timestamptz`),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await staging.handToOwner(trx, [key], { owner: ownerOf(id), expiresAt: row.expires_at });
  return uploadOf(row);
}

/** An upload that is there and has not expired, for its account or an administrator; undefined for anybody else. */
export async function findUpload(
  db: Queryable,
  id: string,
  principal: Principal,
): Promise<Upload | undefined> {
  const row = await visible(db, principal).where('id', '=', id).executeTakeFirst();
  return row && uploadOf(row);
}

/** An upload that is there and has not expired, whoever asks. */
export async function findAnyUpload(db: Queryable, id: string): Promise<Upload | undefined> {
  const row = await living(db).where('id', '=', id).executeTakeFirst();
  return row && uploadOf(row);
}

/** Makes the caller the one who writes; whoever wrote before can no longer. Take its lock first. */
export async function beginWriting(db: Queryable, id: string): Promise<Upload> {
  const row = await db
    .updateTable('uploads')
    .set((is) => ({ writer: is('writer', '+', 1) }))
    .where('id', '=', id)
    .where('expires_at', '>', sql<Date>`now()`)
    .returningAll()
    .executeTakeFirst();
  if (!row) throw new UploadLost('The upload is gone.');
  return uploadOf(row);
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
  if (restIsOver && upload.rest) await releaseOwned(trx, owner, [upload.rest.key]);
  const keys = [row.object_key, ...(row.rest_key ? [row.rest_key] : [])];
  await extendOwned(trx, owner, keys, row.expires_at);
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

/** Gives an upload up that no event has; its objects are removed soon after the commit. */
export async function discardUpload(trx: Transaction, id: string): Promise<void> {
  await trx.deleteFrom('uploads').where('id', '=', id).execute();
  await releaseOwned(trx, ownerOf(id));
}

/**
 * Forgets uploads that have expired. Their objects expire with them, for the sweep of the staging ledger to remove.
 *
 * @returns how many there were
 */
export async function expireUploads(database: Database): Promise<number> {
  const { numDeletedRows } = await database
    .deleteFrom('uploads')
    .where('id', 'in', (from) =>
      from
        .selectFrom('uploads')
        .select('id')
        .where('expires_at', '<=', sql<Date>`now()`)
        .forUpdate()
        .skipLocked(),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** What an upload is called on the staging ledger; no process is called so. */
export function ownerOf(id: string): string {
  return `upload ${id}`;
}

function living(db: Queryable) {
  return db.selectFrom('uploads').selectAll().where('expires_at', '>', sql<Date>`now()`);
}

function visible(db: Queryable, principal: Principal) {
  const uploads = living(db);
  return principal.isAdmin() ? uploads : uploads.where('owner', '=', principal.username);
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

function uploadOf(row: Selectable<Row>): Upload {
  return {
    id: row.id,
    owner: row.owner,
    filename: row.filename,
    flavor: row.flavor ?? undefined,
    metadata: row.metadata,
    length: row.length ?? undefined,
    key: row.object_key,
    handle: row.handle,
    stored: row.stored,
    rest: row.rest_key === null ? undefined : { key: row.rest_key, bytes: row.rest_bytes },
    offset: row.stored + row.rest_bytes,
    writer: row.writer,
    expiresAt: row.expires_at,
    complete: row.completed_at !== null,
  };
}

/** So many milliseconds from now, or before when it has to be. */
function inTime(milliseconds: number, atLast: RawBuilder<unknown>) {
  return sql<Date>`least(now() + make_interval(secs => ${milliseconds / 1000}), ${atLast})`;
}
