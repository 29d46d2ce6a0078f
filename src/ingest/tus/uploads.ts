import { randomBytes } from 'node:crypto';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Principal } from '#access/principal.ts';
import type { Database, Queryable, Transaction } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import type { Upload as Row } from '#platform/database/schema.ts';
import { safeFilename } from '#platform/http/form/filename.ts';
import type { BegunObject, ObjectStorage } from '#platform/storage/port.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import { releaseOwned } from '#platform/storage/staging-entries.ts';
import type { Digests } from './digests.ts';

const ID_BYTES = 24;
/** Each may have thousands of pieces, which go with it. */
const EXPIRED_BATCH = 200;
const EXPIRED_BATCHES = 100;

/** A file that comes in several requests, before it becomes a track. Sizes in bytes. */
export interface Upload extends BegunObject {
  id: string;
  /** The user name of the account it belongs to. */
  owner: string;
  filename: string;
  /** The flavor of its track, if known. */
  flavor: string | undefined;
  /** `Upload-Metadata` as it was sent. */
  metadata: string;
  /** Undefined while it is deferred. */
  length: number | undefined;
  /** The size of the pieces of its object. */
  stored: number;
  /** The object that holds what came after the pieces. */
  rest: { key: string; bytes: number } | undefined;
  /** How much is durable. */
  offset: number;
  /** The number under which the reader of this may write. */
  writer: number;
  createdAt: Date;
  /** When more of it came last. */
  changedAt: Date;
  expiresAt: Date;
  /** Whether the last byte is durable and the object whole. */
  complete: boolean;
}

/** The services that uploads are received with. */
export interface UploadParts {
  database: Database;
  storage: ObjectStorage;
  staging: StagingLedger;
  digests: Digests;
  /** How long an upload lives without another byte, in milliseconds. */
  lifetimeMs: number;
}

/** Another request writes to the upload, or it is gone. */
export class UploadLost extends Error {
  override name = 'UploadLost';
}

/** A new upload. */
export interface NewUpload extends Pick<Upload, 'owner' | 'filename' | 'flavor' | 'metadata' | 'length'> {
  maxBytes: number;
  /** When it expires at the latest, whatever comes. */
  expiresBy?: Date;
}

/** Makes an identifier that cannot be guessed. */
export function newUploadId(): string {
  return randomBytes(ID_BYTES).toString('base64url');
}

/**
 * Begins an upload: its object, its entry on the staging ledger, and its row.
 *
 * @param alongside writes in the same transaction; a rejection leaves nothing behind
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

/** Finds an upload that has not expired. @param account whose it must be; administrators see all, and so does nobody in particular */
export async function findUpload(db: Queryable, id: string, account?: Principal): Promise<Upload | undefined> {
  const uploads = living(db).selectAll().where('id', '=', id);
  const seen = account && !account.isAdmin() ? uploads.where('owner', '=', account.username) : uploads;
  const row = await seen.executeTakeFirst();
  return row && uploadOf(row);
}

/** Summarizes the uploads that belong to no event, the last changed first. @param most how many to list */
export async function waitingUploads(
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

/** Discards an upload that no event has; the sweep removes its objects soon after the commit. */
export async function discardUpload(trx: Transaction, id: string): Promise<void> {
  await trx.deleteFrom('uploads').where('id', '=', id).execute();
  await releaseOwned(trx, ownerOf(id), { doubtful: true });
}

/**
 * Deletes the rows of expired uploads, at most so many that the caller can show that it lives. Objects that no event has
 * expire on the staging ledger, at the same time.
 *
 * @returns how many rows
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

/** The owner of an upload's objects on the staging ledger. */
export function ownerOf(id: string): string {
  return `upload ${id}`;
}

/** A time by the clock of the database. @param latest when it is at the latest */
export function inTime(milliseconds: number, latest: RawBuilder<unknown>) {
  return sql<Date>`least(now() + make_interval(secs => ${milliseconds / 1000}), ${latest})`;
}

function living(db: Queryable) {
  return db.selectFrom('uploads').where('expires_at', '>', sql<Date>`now()`);
}

/** Reads a row. */
export function uploadOf(row: Selectable<Row>): Upload {
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
