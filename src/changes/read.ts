import { type RawBuilder, sql } from 'kysely';
import type { Database, Queryable } from '#platform/database/kysely.ts';
import type { Change } from './change.ts';

const NUMBERED_AT_ONCE = 5_000;
/** A reader takes so many at a time. */
export const READ_AT_ONCE = 1_000;

/**
 * Gives what has been committed its place in the log. Transactions commit in another order than they write; numbers are
 * given one after the other, by whoever holds the counter, to what everybody can see. So none ever appears before
 * another that readers have passed, and what happened to one thing keeps its order.
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
      // A statement of its own: it sees what others have numbered while this one waited for the counter.
      await sql`
        WITH fresh AS (
          SELECT id, row_number() OVER (ORDER BY id) AS place FROM changes WHERE number IS NULL
          ORDER BY id LIMIT ${NUMBERED_AT_ONCE}
        ), given AS (
          UPDATE changes SET number = counter.last + fresh.place FROM fresh, changes_counter AS counter
          WHERE changes.id = fresh.id RETURNING changes.number
        )
        UPDATE changes_counter SET last = coalesce((SELECT max(number) FROM given), last)`.execute(trx);
    });
  }
}

/** The number of the newest change that has one; 0 for an empty log. */
export async function lastNumber(db: Queryable): Promise<number> {
  const { last } = await db.selectFrom('changes_counter').select('last').executeTakeFirstOrThrow();
  return Number(last);
}

/**
 * The changes after a number, in order; those that are kept no longer are left out. Of what is there, the roles that may
 * read it now come along.
 */
export function readChanges(db: Queryable, after: number, most = READ_AT_ONCE): Promise<Change[]> {
  return selectChanges(db, sql`changes.number > ${after}`, most);
}

/** The same of one event. */
export function readChangesOf(db: Queryable, eventId: string, after: number): Promise<Change[]> {
  return selectChanges(db, sql`changes.event_id = ${eventId} AND changes.number > ${after}`, READ_AT_ONCE);
}

/** The last changes of an event in their order, those without a number as well; also of an event that is gone. */
export async function lastChangesOf(db: Queryable, eventId: string, most: number): Promise<Change[]> {
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
  // They are chosen before anything is joined: the planner would read all that follow, and then sort.
  const { rows } = await sql<Change>`
    SELECT coalesce(changes.number, 0) AS number, changes.at, changes.kind, changes.event_id AS "eventId",
      CASE WHEN changes.event_id IS NULL THEN changes.series_id END AS "seriesId", changes.agent_id AS "agentId", changes.actor, changes.data,
      CASE WHEN changes.event_id IS NOT NULL THEN coalesce(events.read_roles, changes.read_roles, '{}')
        WHEN changes.series_id IS NOT NULL THEN coalesce(series.read_roles, changes.read_roles, '{}')
        END AS "readRoles", coalesce(changes.series_id, events.series_id) AS "inSeries"
    FROM (SELECT * FROM changes WHERE ${which} ORDER BY ${order} LIMIT ${most}) AS changes
      LEFT JOIN events ON events.id = changes.event_id AND ${isOfPresent('event')}
      LEFT JOIN series ON series.id = changes.series_id AND ${isOfPresent('series')}
    ORDER BY ${order}`.execute(db);
  return rows;
}

/**
 * Whether a change is about what has its identifier now: whoever posts something with the identifier of what was deleted
 * decides by its access control list about what happens from then on alone.
 */
function isOfPresent(what: 'event' | 'series'): RawBuilder<boolean> {
  const column = `${what}_id`;
  return sql<boolean>`changes.id > coalesce((SELECT max(d.id) FROM changes AS d
    WHERE ${sql.ref(`d.${column}`)} = ${sql.ref(`changes.${column}`)} AND d.kind = ${sql.lit(`${what}.deleted`)}), 0)`;
}
