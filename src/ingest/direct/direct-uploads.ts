import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import type { DirectUpload as Row } from '#platform/database/schema.ts';
import type { ApiVersion } from '#platform/http/answer/version.ts';
import { newUploadId } from '../tus/uploads.ts';

/** Where the addresses are that are handed out. */
export const ADDRESSES = '/direct-uploads';

/** As whom an event is to be made. */
export interface Author {
  username: string;
  name: string;
  email: string;
  provider: string;
  /** Undefined: those that the account of that name has when the event is made. */
  roles: readonly string[] | undefined;
}

/** A file that is to come. */
export interface FileOf {
  /** The form field it would have come in, if it was asked for by one. */
  field: string | undefined;
  flavor: string;
}

/** What is known of a file, whether or not anything of it has come. */
export interface DirectFile extends FileOf {
  /** The upload that it comes by; there may be none yet. */
  uploadId: string;
  begun: boolean;
  filename: string | undefined;
  /** In bytes; undefined while nobody knows. */
  length: number | undefined;
  /** How many bytes are durable. */
  offset: number;
  complete: boolean;
}

/** What somebody asked for: files that people without an account may send, and the event that becomes of them. */
export interface DirectUpload {
  id: string;
  /** The account that asked for it. */
  account: string;
  author: Author;
  /** The request that asked for it. */
  requestId: string;
  /** Form fields of the event, as they were sent in a version of the API. */
  fields: Readonly<Record<string, string>>;
  version: ApiVersion;
  /** Of each file. */
  maxBytes: number;
  expiresAt: Date;
  expired: boolean;
  /** The event that was made of it. */
  eventId: string | undefined;
  /** Why no event could be made of it; a sentence. */
  failure: string | undefined;
  files: DirectFile[];
}

const TOKEN_BYTES = 32;

/** Enters a direct upload. @returns its name, and for each file the secret end of its address, which is not kept */
export async function insertDirectUpload(
  trx: Transaction,
  {
    author: { roles, ...author },
    files,
    ...asked
  }: Pick<
    DirectUpload,
    'account' | 'author' | 'requestId' | 'fields' | 'version' | 'maxBytes' | 'expiresAt'
  > & { files: readonly FileOf[] },
): Promise<{ id: string; tokens: string[] }> {
  const id = randomUUID();
  const tokens = files.map(() => randomBytes(TOKEN_BYTES).toString('base64url'));
  await trx
    .insertInto('direct_uploads')
    .values({
      id,
      account: asked.account,
      principal: JSON.stringify(author),
      roles: roles ? [...roles] : null,
      request_id: asked.requestId,
      fields: JSON.stringify(asked.fields),
      version: asked.version,
      max_bytes: asked.maxBytes,
      expires_at: asked.expiresAt,
    })
    .execute();
  await trx
    .insertInto('direct_upload_files')
    .values(
      files.map(({ field, flavor }, position) => ({
        direct_upload_id: id,
        position,
        token_sha256: digestOf(tokens[position] ?? ''),
        field: field ?? null,
        flavor,
        upload_id: newUploadId(),
      })),
    )
    .execute();
  return { id, tokens };
}

/** A direct upload by its name, also one that is over. */
export async function findDirectUpload(db: Queryable, id: string): Promise<DirectUpload | undefined> {
  const row = await db
    .selectFrom('direct_uploads')
    .selectAll()
    .select(sql<boolean>`expires_at <= now()`.as('expired'))
    .where('id', '=', id)
    .executeTakeFirst();
  return row && directUploadOf(row, await filesOf(db, id));
}

/** The direct upload that has a file whose address ends so, and that file. */
export async function findByToken(
  db: Queryable,
  token: string,
): Promise<{ direct: DirectUpload; file: DirectFile } | undefined> {
  const row = await db
    .selectFrom('direct_upload_files')
    .select(['direct_upload_id', 'position'])
    .where('token_sha256', '=', digestOf(token))
    .executeTakeFirst();
  const direct = row && (await findDirectUpload(db, row.direct_upload_id));
  // By its place: it may come by another upload since.
  const file = row && direct?.files[row.position];
  return direct && file && { direct, file };
}

async function filesOf(db: Queryable, id: string): Promise<DirectFile[]> {
  const rows = await db
    .selectFrom('direct_upload_files as file')
    .leftJoin('uploads', (on) =>
      on.onRef('uploads.id', '=', 'file.upload_id').on('uploads.expires_at', '>', sql<Date>`now()`),
    )
    .select(['file.field', 'file.flavor', 'file.upload_id', 'file.filename as kept_name', 'file.bytes'])
    .select(['uploads.id', 'uploads.filename', 'uploads.length', 'uploads.stored', 'uploads.rest_bytes'])
    .select('uploads.completed_at')
    .where('direct_upload_id', '=', id)
    .orderBy('position')
    .execute();
  return rows.map((row) => ({
    field: row.field ?? undefined,
    flavor: row.flavor,
    uploadId: row.upload_id,
    begun: row.id !== null,
    filename: row.kept_name ?? row.filename ?? undefined,
    length: row.bytes ?? row.length ?? undefined,
    offset: row.bytes ?? (row.stored ?? 0) + (row.rest_bytes ?? 0),
    complete: row.bytes !== null || row.completed_at !== null,
  }));
}

function directUploadOf(row: Selectable<Row> & { expired: boolean }, files: DirectFile[]): DirectUpload {
  return {
    id: row.id,
    account: row.account,
    author: { ...(row.principal as unknown as Omit<Author, 'roles'>), roles: row.roles ?? undefined },
    requestId: row.request_id,
    fields: row.fields as Record<string, string>,
    version: row.version as ApiVersion,
    maxBytes: row.max_bytes,
    expiresAt: row.expires_at,
    expired: row.expired,
    eventId: row.event_id ?? undefined,
    failure: row.failure ?? undefined,
    files,
  };
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
