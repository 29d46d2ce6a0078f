import { type Selectable, sql } from 'kysely';
import { type Action, mayAccess } from '../access/acl.queries.ts';
import type { Principal } from '../access/principal.ts';
import type { Transaction } from '../database/kysely.ts';
import { Outdated } from '../database/retry.ts';
import type { Event } from '../database/schema.ts';
import { notFound, unauthorized } from '../http/errors.ts';

/** The row of an event that nobody else can change until the transaction ends. */
export type LockedEvent = Selectable<Event>;

/**
 * Locks an event for a change, in the order that all writers keep: its series (shared), then the event. Run it in
 * `inTransaction`: it throws `Outdated` when the event changes its series meanwhile.
 *
 * @param options.joining the series that the event is about to join, if any
 * @param options.missing the sentence of the 404
 * @throws {HttpError} 404 for an event that the principal may not read, 401 for one that it may not write
 */
export async function lockEvent(
  trx: Transaction,
  id: string,
  principal: Principal,
  options: { joining?: string | undefined; missing?: string } = {},
): Promise<LockedEvent> {
  const missing = options.missing ?? `Cannot find an event with id '${id}'.`;
  const found = await trx.selectFrom('events').select('series_id').where('id', '=', id).executeTakeFirst();
  if (!found) throw notFound(missing);
  await sql`SELECT FROM series WHERE id IN (${found.series_id}, ${options.joining ?? null})
    ORDER BY id FOR SHARE`.execute(trx);
  const may = (action: Action) => mayAccess('events', principal, action);
  const locked = await trx
    .selectFrom('events')
    .selectAll('events')
    .select([may('read').as('readable'), may('write').as('writable')])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!locked?.readable) throw notFound(missing);
  if (!locked.writable) throw unauthorized();
  if (locked.series_id !== found.series_id) throw new Outdated('The event has joined another series.');
  const { readable, writable, ...event } = locked;
  return event;
}

/** Counts another version of the event's metadata, ACL or tracks. */
export async function countVersion(trx: Transaction, eventId: string): Promise<void> {
  await trx
    .updateTable('events')
    .set((eb) => ({ archive_version: eb('archive_version', '+', 1) }))
    .where('id', '=', eventId)
    .execute();
}
