import { type RawBuilder, sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';
import { EVENT_GONE, INVALID_LOCK, LOCKED } from './editing-refusals.ts';

/** Time without a refresh after which a lock is free, in seconds. */
const EXPIRY_SECONDS = 300;
/** The interval at which editors refresh their lock. */
export const REFRESH_MS = 60_000;
const UUID = /^[A-Za-z0-9-]{1,100}$/;

/** The expiry of a lock whose user has sent the recording for processing. */
const FINISHED = sql`timestamptz '-infinity'`;
const isFinished = sql<boolean>`editor_locks.expires_at = ${FINISHED}`;
const isHeld = sql<boolean>`editor_locks.expires_at > now()`;

/** The lock of an editor, which chooses its identifier. */
interface EditorLock {
  eventId: string;
  uuid: string;
  username: string;
}

/** Returns the identifier of a lock that a client sent. @throws {HttpError} 400 */
export function parseLockId(text: string | undefined): string {
  // The editor sends its form as a JSON text, so that the last value ends in a quotation mark.
  const uuid = text?.trim().replace(/"$/, '') ?? '';
  if (!UUID.test(uuid)) throw INVALID_LOCK();
  return uuid;
}

/** Takes or refreshes a lock. @throws {HttpError} 409 if another editor holds it, 404 if the event is gone */
export async function takeLock(db: Queryable, { eventId, uuid, username }: EditorLock): Promise<void> {
  const { rows } = await sql`
    INSERT INTO editor_locks (event_id, uuid, username, expires_at)
    SELECT id, ${uuid}, ${username}, ${expiry()} FROM events WHERE id = ${eventId} FOR KEY SHARE
    ON CONFLICT (event_id) DO UPDATE SET uuid = excluded.uuid, username = excluded.username,
      expires_at = CASE WHEN editor_locks.uuid = excluded.uuid AND ${isFinished} THEN ${FINISHED} ELSE excluded.expires_at END
    WHERE (editor_locks.uuid, editor_locks.username) = (excluded.uuid, excluded.username) OR NOT ${isHeld}
    RETURNING event_id`.execute(db);
  if (rows.length > 0) return;
  const holder = await lockHolder(db, eventId);
  throw holder ? LOCKED(eventId, holder.username) : EVENT_GONE(eventId);
}

function expiry(): RawBuilder<Date> {
  return sql<Date>`now() + make_interval(secs => ${EXPIRY_SECONDS})`;
}

/** Releases a lock; a free one stays free. @throws {HttpError} 409 if another editor holds it */
export async function releaseLock(db: Queryable, { eventId, uuid, username }: EditorLock): Promise<void> {
  await db
    .deleteFrom('editor_locks')
    .where('event_id', '=', eventId)
    .where('uuid', '=', uuid)
    .where('username', '=', username)
    .where(sql<boolean>`NOT ${isFinished}`)
    .execute();
  const holder = await lockHolder(db, eventId);
  if (holder) throw LOCKED(eventId, holder.username);
}

/** Ends the lock of a user for good: the editor refreshes it as long as its last page is open. */
export async function finishLock(db: Queryable, eventId: string, username: string): Promise<void> {
  const own = db.updateTable('editor_locks').where('event_id', '=', eventId).where('username', '=', username);
  await own.set({ expires_at: sql<Date>`${FINISHED}` }).execute();
}

/** Returns the identifier of the lock that a user holds. */
export async function ownLock(db: Queryable, eventId: string, username: string): Promise<string | undefined> {
  const lock = db.selectFrom('editor_locks').select('uuid').where('event_id', '=', eventId);
  return (await lock.where('username', '=', username).where(isHeld).executeTakeFirst())?.uuid;
}

/** Refuses a change while another user edits the event. @throws {HttpError} 409 */
export async function requireNoOtherLock(db: Queryable, eventId: string, username: string): Promise<void> {
  const holder = await lockHolder(db, eventId);
  if (holder && holder.username !== username) throw LOCKED(eventId, holder.username);
}

/** Returns the account that has an event open in an editor. */
export function lockHolder(db: Queryable, eventId: string) {
  return db
    .selectFrom('editor_locks')
    .select(['username', 'expires_at'])
    .where('event_id', '=', eventId)
    .where(isHeld)
    .executeTakeFirst();
}
