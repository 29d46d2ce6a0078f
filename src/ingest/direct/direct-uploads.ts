import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { EVENT_ID } from '#catalogue/events/event-examples.ts';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import type { ApiVersion } from '#platform/http/answer/version.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { type Draft, openDraft, readDraft } from '../drafts.ts';
import { discardUpload, newUploadId } from '../tus/tus-uploads.ts';

/** The path prefix of upload URLs. */
export const UPLOAD_URL_PREFIX = '/direct-uploads';

/** The account on whose behalf the event is created. */
export interface Author {
  username: string;
  name: string;
  email: string;
  provider: string;
  /** If undefined, those that the account has when the event is created. */
  roles?: readonly string[];
}

export interface AwaitedFile {
  field: string | undefined;
  flavor: string;
}

export interface DirectFile extends AwaitedFile {
  uploadId: string;
  begun: boolean;
  filename: string | undefined;
  /** In bytes; undefined while unknown. */
  length: number | undefined;
  /** Durable bytes. */
  offset: number;
  complete: boolean;
}

/** The stored request from which the event is created. */
export interface DirectRequest {
  author: Author;
  requestId: string;
  /** The form fields of the event in the given version of the API. */
  fields: Readonly<Record<string, string>>;
  version: ApiVersion;
  maxBytes: number;
}

export const EVENT_MADE = refusal(409, (id: string) => `The direct upload has already become the event '${id}'.`, [
  EVENT_ID,
]);

/** A draft whose files are sent to upload URLs, without an account. Its owner is the account that requested them. */
export interface DirectUpload extends Draft {
  request: DirectRequest;
  files: DirectFile[];
}

const TOKEN_BYTES = 32;
/** The time for which a closed direct upload can be read. */
const KEPT_MS = 7 * 86_400_000;

/** Returns the reference to the draft of a direct upload. The caller checks access. */
export function directDraft(id: string) {
  return { id, door: 'direct', principal: undefined };
}

/** Opens a direct upload. @returns its identifier, and for each file the token of its URL, of which only a hash is stored */
export async function openDirectUpload(
  trx: Transaction,
  account: string,
  { files, closesAt, ...request }: DirectRequest & { files: readonly AwaitedFile[]; closesAt: Date },
): Promise<{ id: string; tokens: string[] }> {
  const lifetimeMs = closesAt.getTime() - Date.now() + KEPT_MS;
  const owner = { username: account };
  const { id } = await openDraft(trx, { door: 'direct', principal: owner, lifetimeMs, closesAt, request });
  const tokens = files.map(() => randomBytes(TOKEN_BYTES).toString('base64url'));
  const rows = files.map(({ field, flavor }, position) => ({
    ...{ draft_id: id, position, field, flavor, upload_id: newUploadId() },
    token_sha256: digestOf(tokens[position] ?? ''),
  }));
  await trx.insertInto('draft_uploads').values(rows).execute();
  return { id, tokens };
}

/**
 * Reads a direct upload, even if it is no longer open.
 *
 * @param options.lock prevents changes by other transactions until this one ends
 */
export async function findDirectUpload(
  db: Queryable,
  id: string,
  options?: { lock: boolean },
): Promise<DirectUpload | undefined> {
  const draft = await readDraft(db, directDraft(id), options);
  return draft && { ...draft, request: draft.request as DirectRequest, files: await filesOf(db, id) };
}

/** Finds the file whose upload URL ends with the token. */
export async function findByToken(
  db: Queryable,
  token: string,
): Promise<{ direct: DirectUpload; file: DirectFile } | undefined> {
  const row = await db
    .selectFrom('draft_uploads')
    .select(['draft_id', 'position'])
    .where('token_sha256', '=', digestOf(token))
    .executeTakeFirst();
  const direct = row && (await findDirectUpload(db, row.draft_id));
  // By position: the upload may have been replaced since the query.
  const file = row && direct?.files[row.position];
  return direct && file && { direct, file };
}

/**
 * Deletes the upload of a file, unless an event has it. The next upload to its URL gets another identifier, so that no
 * request confuses the two.
 *
 * @throws {HttpError} 409 if an event has it
 */
export async function startOver(trx: Transaction, id: string, uploadId: string): Promise<void> {
  const draft = await readDraft(trx, directDraft(id), { lock: true });
  if (draft?.accepted) throw EVENT_MADE(draft.accepted.eventId);
  await discardUpload(trx, uploadId);
  const files = trx.updateTable('draft_uploads').set({ upload_id: newUploadId() });
  await files.where('upload_id', '=', uploadId).execute();
}

/** Stores the names and sizes of all files, because the uploads expire earlier. */
export async function keepFiles(trx: Transaction, id: string): Promise<void> {
  await trx
    .updateTable('draft_uploads')
    .from('uploads')
    .set((is) => ({ filename: is.ref('uploads.filename'), bytes: is.ref('uploads.length') }))
    .where('draft_id', '=', id)
    .whereRef('uploads.id', '=', 'upload_id')
    .execute();
}

async function filesOf(db: Queryable, id: string): Promise<DirectFile[]> {
  const rows = await db
    .selectFrom('draft_uploads as file')
    .leftJoin('uploads', (on) =>
      on.onRef('uploads.id', '=', 'file.upload_id').on('uploads.expires_at', '>', sql<Date>`now()`),
    )
    .select(['file.field', 'file.flavor', 'file.upload_id', 'file.filename as kept_name', 'file.bytes'])
    .select(['uploads.id', 'uploads.filename', 'uploads.length', 'uploads.stored', 'uploads.rest_bytes'])
    .select('uploads.completed_at')
    .where('draft_id', '=', id)
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

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
