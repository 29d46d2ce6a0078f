import { requireAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import { lockAgentOf } from '#capture/schedules/write-schedules.ts';
import { recordChanges } from '#changes/record-changes.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import { releaseObjects } from '#platform/storage/staging-sweep.ts';
import { notifyTaken } from '#processing/locked-workflow.ts';
import { operationsUnderWay } from '#processing/workflow-queries.ts';
import { NOTHING_TO_DELETE } from './event-refusals.ts';

/**
 * Deletes an event with everything that belongs to it. A worker that processes it loses its claim and drops its result.
 * The transaction enters the objects in the staging ledger, so that they are removed even after a crash.
 *
 * @param requireState throws if the locked event may not be deleted in its state
 * @throws {HttpError} 404 for an event the principal may not read, 401 for one it may not write
 */
export async function deleteEvent(
  id: string,
  principal: Principal,
  services: DeletionServices,
  requireState: (trx: Transaction) => Promise<void> = async () => undefined,
): Promise<void> {
  const requireWrite = (trx: Transaction) => requireAccess(trx, 'events', principal, id, 'write', NOTHING_TO_DELETE);
  await removeEvent({ id, actor: principal.username, require: requireWrite, requireState }, services);
}

interface DeletionServices {
  database: Database;
  staging: StagingLedger;
}

interface Deletion {
  id: string;
  /** The user name in the log. */
  actor: string;
  /** Throws if the actor may not delete the event. */
  require: (trx: Transaction) => Promise<void>;
  requireState?: (trx: Transaction) => Promise<void>;
}

/** Deletes an event like `deleteEvent`. @throws the errors of the requirements */
export async function removeEvent(
  { id, actor, require, requireState }: Deletion,
  { database, staging }: DeletionServices,
): Promise<void> {
  const keys = await inTransaction(database, async (trx) => {
    // Before the locks: an account without the right must not be able to block others.
    await require(trx);
    // The lock order of workers: workflow, then event.
    await trx.selectFrom('workflows').select('id').where('event_id', '=', id).forUpdate().execute();
    await trx.selectFrom('events').select('id').where('id', '=', id).forUpdate().execute();
    await lockAgentOf(trx, id);
    // Again after waiting for the locks: the event or its ACL may have changed.
    await require(trx);
    await requireState?.(trx);
    const objects = await trx
      .selectFrom('tracks')
      .select('object_key')
      .where('event_id', '=', id)
      .union(trx.selectFrom('publication_elements').select('object_key').where('event_id', '=', id))
      .union(trx.selectFrom('attachments').select('object_key').where('event_id', '=', id))
      .execute();
    const objectKeys = objects.map(({ object_key }) => object_key);
    await releaseObjects(trx, objectKeys);
    await notifyTaken(trx, await operationsUnderWay(trx, id));
    const deleted = await trx
      .deleteFrom('events')
      .where('id', '=', id)
      .returning(['title', 'read_roles', 'series_id'])
      .executeTakeFirst();
    if (!deleted) return [];
    const { title, read_roles: readRoles, series_id } = deleted;
    const about = { eventId: id, seriesId: series_id ?? undefined, actor, readRoles };
    await recordChanges(trx, [{ kind: 'event.deleted', ...about, data: { title } }]);
    return objectKeys;
  });
  await staging.discard(keys);
}
