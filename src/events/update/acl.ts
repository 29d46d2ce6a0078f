import { sql } from 'kysely';
import { effectiveAclOf, mayAccess, replaceAcl } from '../../access/acl/acl.queries.ts';
import { MAX_ENTRIES } from '../../access/acl/acl.schemas.ts';
import type { AclEntry } from '../../access/acl/acl.ts';
import type { Principal } from '../../access/principal.ts';
import { recordChanges } from '../../changes/record.ts';
import type { Transaction } from '../../database/kysely.ts';
import { isActive } from '../../workflows/states.ts';
import { ACL_FULL, NO_ACL_ENTRY } from '../refusals.ts';
import { countVersion, type LockedEvent } from './lock-event.ts';
import type { Refusals } from './refusals.ts';

/** What is to become of an event's own access control list. */
export type AclEdit =
  | { kind: 'replace'; entries: readonly AclEntry[] }
  /** An entry for the same pair of action and role, whatever it says, gives way to this one. */
  | { kind: 'add'; entry: AclEntry }
  | { kind: 'remove'; action: string; role: string };

/**
 * Changes the access control list of a locked event. While a workflow is active it stays as it is. One that has that of its
 * series gets one of its own, which begins as that one.
 *
 * @returns whether that changed anything
 * @throws {HttpError} 404 for an entry that is not there, 400 for one more than there may be
 */
export async function editAcl(
  trx: Transaction,
  event: LockedEvent,
  edit: AclEdit,
  refusals: Refusals,
): Promise<boolean> {
  const { entries: current, own } = await effectiveAclOf(trx, event);
  const edited = entriesAfter(edit, current);
  if (isActive(event.processing_state)) throw refusals.processing(event.id);
  if (own && isSameList(current, edited)) return false;
  await replaceAcl(trx, 'events', event.id, edited);
  return true;
}

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
  const eventIds = owning.map(({ id }) => id);
  const any = sql<string>`ANY(${eventIds})`;
  await trx.deleteFrom('event_acl').where('event_id', '=', any).execute();
  await trx
    .updateTable('events')
    .set({ own_acl: false })
    .where('id', '=', any)
    .where('own_acl', '=', true)
    .execute();
  await countVersion(trx, eventIds);
  const actor = principal.username;
  const data = { parts: ['acl'] };
  await recordChanges(
    trx,
    eventIds.map((eventId) => ({ kind: 'event.changed', eventId, actor, data })),
  );
}

function entriesAfter(edit: AclEdit, current: readonly AclEntry[]): readonly AclEntry[] {
  switch (edit.kind) {
    case 'replace':
      return edit.entries;
    case 'add':
      return withEntry(current, edit.entry);
    case 'remove':
      return withoutEntry(current, edit);
  }
}

function withEntry(acl: readonly AclEntry[], entry: AclEntry): AclEntry[] {
  if (!acl.some((each) => isAbout(each, entry))) {
    if (acl.length < MAX_ENTRIES) return [...acl, entry];
    throw ACL_FULL(MAX_ENTRIES);
  }
  return acl.map((each) => (isAbout(each, entry) ? entry : each));
}

function withoutEntry(acl: readonly AclEntry[], pair: { action: string; role: string }): AclEntry[] {
  const rest = acl.filter((entry) => !isAbout(entry, pair));
  if (rest.length < acl.length) return rest;
  throw NO_ACL_ENTRY(pair.action, pair.role);
}

function isAbout(entry: AclEntry, { action, role }: { action: string; role: string }): boolean {
  return entry.action === action && entry.role === role;
}

function isSameList(a: readonly AclEntry[], b: readonly AclEntry[]): boolean {
  return a.length === b.length && a.every((entry, i) => isSame(entry, b[i]));
}

function isSame(a: AclEntry, b: AclEntry | undefined): boolean {
  return b !== undefined && isAbout(a, b) && a.allow === b.allow;
}
