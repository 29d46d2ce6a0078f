import { type Insertable, sql } from 'kysely';
import type { Transaction } from '../../database/kysely.ts';
import type { Event } from '../../database/schema.ts';
import { IDENTIFIER_TAKEN } from '../refusals.ts';

/** What sets new events of one request apart. */
export type OwnColumns = Required<
  Pick<Insertable<Event>, 'id' | 'title' | 'start_date' | 'created' | 'duration'>
>;
/** What they share. */
type SharedColumns = Omit<Insertable<Event>, keyof OwnColumns>;

/**
 * Refuses an identifier that another event has; until the transaction ends no other one gets it. Needed before anything
 * is written that belongs to an event of that identifier.
 *
 * @throws {HttpError} 409
 */
export async function requireFreeIdentifier(trx: Transaction, id: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${id}, 0))`.execute(trx);
  const taken = await trx.selectFrom('events').select('id').where('id', '=', id).executeTakeFirst();
  if (taken) throw IDENTIFIER_TAKEN(id);
}

/** Inserts events, however many, in one statement that carries what they share only once. */
export async function insertEvents(
  trx: Transaction,
  shared: SharedColumns,
  events: readonly OwnColumns[],
): Promise<void> {
  const columns = Object.keys(shared).map((column) => sql.ref(column));
  await sql`
    INSERT INTO events (id, title, start_date, created, duration, ${sql.join(columns)})
    SELECT id, title, start_date, created, duration, ${sql.join(Object.values(shared))}
    FROM unnest(${events.map(({ id }) => id)}::text[], ${events.map(({ title }) => title)}::text[],
      ${events.map(({ start_date }) => start_date)}::timestamptz[],
      ${events.map(({ created }) => created)}::timestamptz[],
      ${events.map(({ duration }) => duration)}::bigint[])
      AS own (id, title, start_date, created, duration)`.execute(trx);
}
