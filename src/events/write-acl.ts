import { aclsOf, replaceAcl } from '../access/acl.queries.ts';
import type { AclEntry } from '../access/acl.ts';
import type { Transaction } from '../database/kysely.ts';

/**
 * Replaces the ACL of a locked event.
 *
 * @returns whether that changed anything
 */
export async function writeAcl(
  trx: Transaction,
  eventId: string,
  acl: readonly AclEntry[],
): Promise<boolean> {
  const current = (await aclsOf(trx, 'events', [eventId])).get(eventId) ?? [];
  if (current.length === acl.length && current.every((entry, i) => isSame(entry, acl[i]))) return false;
  await replaceAcl(trx, 'events', eventId, acl);
  return true;
}

function isSame(a: AclEntry, b: AclEntry | undefined): boolean {
  return a.role === b?.role && a.action === b.action && a.allow === b.allow;
}
