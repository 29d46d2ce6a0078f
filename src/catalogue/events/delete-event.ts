import { requireAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import { lockAgentOf } from '#capture/schedules/write-schedules.ts';
import { recordChanges } from '#changes/record.ts';
import type { Database } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import { releaseObjects } from '#platform/storage/staging-entries.ts';
import { tellTaken } from '#processing/locked-workflow.ts';
import { operationsUnderWay } from '#processing/queries.ts';
import { NOTHING_TO_DELETE } from './refusals.ts';

/**
 * Deletes an event with everything that belongs to it, also while it is being processed: the worker loses its claim
 * and drops its result. The transaction enters the objects in the staging ledger, so that none can outlive the rows.
 *
 * @throws {HttpError} 404 for an event the principal may not read, 401 for one it may not write
 */
export async function deleteEvent(
  id: string,
  principal: Principal,
  { database, staging }: { database: Database; staging: StagingLedger },
): Promise<void> {
  const keys = await inTransaction(database, async (trx) => {
    const requireWrite = () => requireAccess(trx, 'events', principal, id, 'write', NOTHING_TO_DELETE);
    // Whoever may not delete the event locks nothing.
    await requireWrite();
    // In the order in which workers lock: workflow, then event.
    await trx.selectFrom('workflows').select('id').where('event_id', '=', id).forUpdate().execute();
    await trx.selectFrom('events').select('id').where('id', '=', id).forUpdate().execute();
    await lockAgentOf(trx, id);
    // While that waited, the event may have gone, and the right with its ACL.
    await requireWrite();
    const objects = await trx
      .selectFrom('tracks')
      .select('object_key')
      .where('event_id', '=', id)
      .union(trx.selectFrom('publication_elements').select('object_key').where('event_id', '=', id))
      .union(trx.selectFrom('attachments').select('object_key').where('event_id', '=', id))
      .execute();
    const objectKeys = objects.map(({ object_key }) => object_key);
    await releaseObjects(trx, objectKeys);
    await tellTaken(trx, await operationsUnderWay(trx, id));
    const gone = await trx
      .deleteFrom('events')
      .where('id', '=', id)
      .returning(['title', 'read_roles', 'series_id'])
      .executeTakeFirstOrThrow();
    const { username: actor } = principal;
    const { title, read_roles: readRoles, series_id } = gone;
    const seriesId = series_id ?? undefined;
    await recordChanges(trx, [{ kind: 'event.deleted', eventId: id, seriesId, actor, readRoles, data: { title } }]);
    return objectKeys;
  });
  await staging.discard(keys);
}
