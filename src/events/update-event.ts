import type { AclEntry } from '../access/acl.ts';
import type { Principal } from '../access/principal.ts';
import type { Database, Transaction } from '../database/kysely.ts';
import { inTransaction } from '../database/retry.ts';
import { badRequest } from '../http/errors.ts';
import { withoutUntouched } from '../metadata/catalogs.queries.ts';
import type { CatalogSet } from '../metadata/catalogs.ts';
import { requireValues } from '../metadata/parse.ts';
import { isActive } from '../workflows/states.ts';
import type { EventParts } from './event-parts.ts';
import { countVersion, type LockedEvent, lockEvent } from './lock-event.ts';
import { writeAcl } from './write-acl.ts';
import { seriesToJoin, writeMetadata } from './write-metadata.ts';

/**
 * Applies the parts of an update, all of them or none (compatibility 3.6). Metadata may change while a workflow runs,
 * the ACL may not; publications stay as they are until a workflow publishes anew.
 *
 * @throws {HttpError} 404 and 401 as `lockEvent`, 400 for a part that cannot be applied
 */
export async function updateEvent(
  id: string,
  parts: EventParts,
  { database, catalogs, principal }: { database: Database; catalogs: CatalogSet; principal: Principal },
): Promise<void> {
  await inTransaction(database, async (trx) => {
    const sent = parts.catalogs ?? new Map();
    const event = await lockEvent(trx, id, principal, { joining: seriesToJoin(sent, catalogs) });
    const given = await withoutUntouched(trx, 'events', id, sent, catalogs);
    requireValues(given, catalogs);
    const metadataChanged = await writeMetadata(trx, event, given, { principal, catalogs });
    const aclChanged = parts.acl !== undefined && (await updateAcl(trx, event, parts.acl));
    if (parts.processing) {
      throw badRequest("Processing can't be updated for events that are already uploaded.");
    }
    if (metadataChanged || aclChanged) await countVersion(trx, id);
  });
}

async function updateAcl(trx: Transaction, event: LockedEvent, acl: AclEntry[]): Promise<boolean> {
  if (isActive(event.processing_state)) {
    throw badRequest('Unable to update the ACL of this event as it is currently processing.');
  }
  return writeAcl(trx, event.id, acl);
}
