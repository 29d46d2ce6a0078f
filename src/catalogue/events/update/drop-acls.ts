import { mayAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { writeEvents } from '../write-events.ts';

/**
 * Takes their own access control lists from the events of a locked series, so that they follow the series; those the
 * principal may not write keep them. Each has another list then, which counts as another version of it.
 */
export async function dropAclsOfSeries(
  trx: Transaction,
  seriesId: string,
  principal: Principal,
): Promise<void> {
  const owning = await trx
    .selectFrom('events')
    .select('id')
    .where('series_id', '=', seriesId)
    .where(mayAccess('events', principal, 'write'))
    .where((eb) =>
      eb.or([
        eb('own_acl', '=', true),
        eb.exists(eb.selectFrom('event_acl').whereRef('event_acl.event_id', '=', 'events.id')),
      ]),
    )
    .orderBy('id')
    .forUpdate()
    .execute();
  const ids = owning.map(({ id }) => id);
  if (ids.length === 0) return;
  await writeEvents(trx, {
    ids,
    actor: principal.username,
    rows: { kind: 'changed', columns: { own_acl: false }, parts: ['acl'] },
    acl: [],
  });
}
