import { type RawBuilder, sql } from 'kysely';
import type { Database, Queryable, Transaction } from '#platform/database/kysely.ts';
import type { Change } from './change.ts';
import { recordTimes } from './resource-times.ts';

const NUMBERED_AT_ONCE = 5_000;
/** The maximum number of changes per read. */
export const READ_AT_ONCE = 1_000;

/**
 * Numbers committed changes. Transactions commit in another order than they write; the holder of the counter numbers
 * what all readers can see. So no change appears behind a reader's position, and changes of one resource keep their
 * order.
 */
export async function numberChanges(database: Database): Promise<void> {
  for (;;) {
    const waiting = await database
      .selectFrom('changes')
      .select('id')
      .where('number', 'is', null)
      .limit(1)
      .executeTakeFirst();
    if (!waiting) return;
    await database.transaction().execute(async (trx) => {
      await trx.selectFrom('changes_counter').select('last').forUpdate().execute();
      // A separate statement sees what other processes numbered while this one waited for the counter.
      await sql`
        WITH fresh AS (
          SELECT id, row_number() OVER (ORDER BY id) AS place FROM changes WHERE number IS NULL
          ORDER BY id LIMIT ${NUMBERED_AT_ONCE}
        ), given AS (
          UPDATE changes SET number = counter.last + fresh.place FROM fresh, changes_counter AS counter
          WHERE changes.id = fresh.id RETURNING changes.number
        )
        UPDATE changes_counter SET last = coalesce((SELECT max(number) FROM given), last)`.execute(trx);
      await recordTimes(trx);
    });
  }
}

/** Returns the last number in the log; 0 for an empty log. */
export async function lastNumber(db: Queryable): Promise<number> {
  const { last } = await db.selectFrom('changes_counter').select('last').executeTakeFirstOrThrow();
  return Number(last);
}

/** Locks the position of a persistent reader. @returns undefined if `skipLocked` is set and another transaction has it */
export async function lockPosition(
  trx: Transaction,
  name: string,
  { skipLocked = false } = {},
): Promise<number | undefined> {
  await trx
    .insertInto('changes_readers')
    .values({ name, position: 0 })
    .onConflict((row) => row.doNothing())
    .execute();
  const reader = trx.selectFrom('changes_readers').select('position').where('name', '=', name).forUpdate();
  return (await reader.$if(skipLocked, (query) => query.skipLocked()).executeTakeFirst())?.position;
}

/** Moves the locked position of a persistent reader. */
export async function movePosition(trx: Transaction, name: string, position: number): Promise<void> {
  await trx.updateTable('changes_readers').set({ position }).where('name', '=', name).execute();
}

/** Returns the changes after a number, in order, with the roles that may read them now. Deleted changes are skipped. */
export function readChanges(db: Queryable, after: number, most = READ_AT_ONCE): Promise<Change[]> {
  return selectChanges(db, sql`changes.number > ${after}`, most);
}

/** Returns the changes of one event after a number. */
export function readChangesOfEvent(db: Queryable, eventId: string, after: number): Promise<Change[]> {
  return selectChanges(db, sql`changes.event_id = ${eventId} AND changes.number > ${after}`, READ_AT_ONCE);
}

/** Returns the last changes of an event, even a deleted one, in order, including changes without a number. */
export async function readLastChangesOfEvent(db: Queryable, eventId: string, most: number): Promise<Change[]> {
  const newestFirst = sql`changes.number DESC NULLS FIRST, changes.id DESC`;
  const changes = await selectChanges(db, sql`changes.event_id = ${eventId}`, most, newestFirst);
  return changes.reverse();
}

async function selectChanges(
  db: Queryable,
  which: RawBuilder<unknown>,
  most: number,
  order: RawBuilder<unknown> = sql`changes.number`,
): Promise<Change[]> {
  // Selects changes before any join: the planner would otherwise read and sort all later changes.
  const { rows } = await sql<Change>`
    SELECT coalesce(changes.number, 0) AS number, changes.at, changes.kind, changes.event_id AS "eventId",
      CASE WHEN changes.event_id IS NULL THEN changes.series_id END AS "seriesId",
      changes.playlist_id AS "playlistId", changes.agent_id AS "agentId", changes.actor, changes.data,
      CASE WHEN changes.event_id IS NOT NULL THEN coalesce(events.read_roles, changes.read_roles, '{}')
        WHEN changes.series_id IS NOT NULL THEN coalesce(series.read_roles, changes.read_roles, '{}')
        WHEN changes.playlist_id IS NOT NULL THEN coalesce(playlists.read_roles, changes.read_roles, '{}')
        END AS "readRoles", coalesce(changes.series_id, events.series_id) AS "inSeries"
    FROM (SELECT * FROM changes WHERE ${which} ORDER BY ${order} LIMIT ${most}) AS changes
      LEFT JOIN events ON events.id = changes.event_id AND ${isOfPresent('event')}
      LEFT JOIN series ON series.id = changes.series_id AND ${isOfPresent('series')}
      LEFT JOIN playlists ON playlists.id = changes.playlist_id
    ORDER BY ${order}`.execute(db);
  return rows;
}

/**
 * Returns a condition: the change is about the current resource with this identifier, not about a deleted one, so the
 * ACL of a new resource does not open the changes of its predecessor.
 */
function isOfPresent(what: 'event' | 'series'): RawBuilder<boolean> {
  const column = `${what}_id`;
  return sql<boolean>`changes.id > coalesce((SELECT max(d.id) FROM changes AS d
    WHERE ${sql.ref(`d.${column}`)} = ${sql.ref(`changes.${column}`)} AND d.kind = ${sql.lit(`${what}.deleted`)}), 0)`;
}
