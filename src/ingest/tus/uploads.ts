import { randomBytes } from 'node:crypto';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Principal } from '#access/principal.ts';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import type { Upload as Row } from '#platform/database/schema.ts';
import type { BegunObject } from '#platform/storage/port.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import { releaseOwned } from '#platform/storage/staging-entries.ts';

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

/** Gives an upload up that no event has; its objects are removed soon after the commit. */
export async function discardUpload(trx: Transaction, id: string): Promise<void> {
  await trx.deleteFrom('uploads').where('id', '=', id).execute();
  await releaseOwned(trx, ownerOf(id), { doubtful: true });
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

/** An upload as its row has it. */
export function uploadOf(row: Selectable<Row>): Upload {
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

/** So many milliseconds from now by the clock of the database, or before when it has to be. */
export function inTime(milliseconds: number, atLast: RawBuilder<unknown>) {
  return sql<Date>`least(now() + make_interval(secs => ${milliseconds / 1000}), ${atLast})`;
}
