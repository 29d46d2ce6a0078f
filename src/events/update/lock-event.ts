import { type Selectable, sql } from 'kysely';
import { type Action, mayAccess } from '../../access/acl/acl.queries.ts';
import type { Principal } from '../../access/principal.ts';
import { UNAUTHORIZED } from '../../access/refusals.ts';
import type { Transaction } from '../../database/kysely.ts';
import { Outdated } from '../../database/retry.ts';
import type { Event } from '../../database/schema.ts';

/** The row of an event that nobody else can change until the transaction ends. */
export type LockedEvent = Selectable<Event>;

/**
 * Locks an event for a change, in the order that all writers keep: its series (shared), then the event. Run it in
 * `inTransaction`: it throws `Outdated` when the event changes its series meanwhile.
 *
 * @param options.joining the series that the event is about to join, if any
 * @param options.missing what to throw for an event that the principal may not read
 * @throws {HttpError} that, and 401 for an event that it may not write
 */
export async function lockEvent(
  trx: Transaction,
  id: string,
  principal: Principal,
  { joining, missing }: { joining: string | undefined; missing: (id: string) => Error },
): Promise<LockedEvent> {
  const found = await trx.selectFrom('events').select('series_id').where('id', '=', id).executeTakeFirst();
  if (!found) throw missing(id);
  await sql`SELECT FROM series WHERE id IN (${found.series_id}, ${joining ?? null})
    ORDER BY id FOR SHARE`.execute(trx);
  const may = (action: Action) => mayAccess('events', principal, action);
  const locked = await trx
    .selectFrom('events')
    .selectAll('events')
    .select([may('read').as('readable'), may('write').as('writable')])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!locked?.readable) throw missing(id);
  if (!locked.writable) throw UNAUTHORIZED();
  if (locked.series_id !== found.series_id) throw new Outdated('The event has joined another series.');
  const { readable, writable, ...event } = locked;
  return event;
}

/** Counts another version of the metadata, ACL or tracks of each of these events, once however often it is named. */
export async function countVersion(trx: Transaction, eventIds: readonly string[]): Promise<void> {
  await trx
    .updateTable('events')
    .set((eb) => ({ archive_version: eb('archive_version', '+', 1) }))
    .where('id', '=', (eb) => eb.fn.any(eb.val([...eventIds])))
    .execute();
}
