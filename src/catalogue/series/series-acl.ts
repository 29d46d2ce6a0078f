import { mayAccess, replaceAcl } from '#access/acl/acl.queries.ts';
import { type AclEntry, parseStrictAcl } from '#access/acl/acl.ts';
import type { Principal } from '#access/principal.ts';
import { parseJson } from '#metadata/parse-metadata.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { writeEvents } from '../events/write-events.ts';
import { lockSeries, recordChange } from './series-queries.ts';
import { ACL_MISSING, ACL_UNPARSABLE, GONE } from './series-refusals.ts';

/**
 * Removes the access control lists of the events of a locked series, so that they use the one of the series. Events that
 * the principal may not write keep their lists. Counts a new version of each changed event.
 */
async function dropAclsOfSeries(trx: Transaction, seriesId: string, principal: Principal): Promise<void> {
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

/**
 * Reads the form field `acl` of `PUT /api/series/{id}/acl` (compatibility 4.8).
 *
 * @throws {HttpError} 400 with the sentences clients know
 */
export function parseSeriesAcl(text: string): AclEntry[] {
  if (text.trim() === '') throw ACL_MISSING();
  if (!Array.isArray(parseJson(text, ACL_UNPARSABLE))) throw ACL_UNPARSABLE();
  return parseStrictAcl(text);
}

/**
 * Replaces the access control list of a series. With `override`, also removes the lists of its events that the principal
 * may write: the right to change a series does not include its events.
 *
 * @throws {HttpError} 404 for a series the principal may not read, 401 for one it may only read
 */
export async function replaceSeriesAcl(
  trx: Transaction,
  change: { principal: Principal; id: string; entries: readonly AclEntry[]; override: boolean },
): Promise<void> {
  const { principal, id, entries, override } = change;
  await lockSeries(trx, principal, id, GONE);
  await replaceAcl(trx, 'series', id, entries);
  await recordChange(trx, { id, principal, part: 'acl' });
  if (override) await dropAclsOfSeries(trx, id, principal);
}
