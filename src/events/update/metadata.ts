import type { Principal } from '../../access/principal.ts';
import type { Transaction } from '../../database/kysely.ts';
import type { CatalogValues } from '../../metadata/catalog.ts';
import {
  deleteCatalog,
  saveCatalog,
  storedCatalogs,
  withoutUntouched,
} from '../../metadata/catalogs.queries.ts';
import type { CatalogSet } from '../../metadata/catalogs.ts';
import { requireValues } from '../../metadata/parse.ts';
import { changedColumns, chosenSeries } from '../columns.ts';
import { namedPresenters, requireSeries } from '../references.ts';
import { NO_CATALOG_TO_DELETE } from '../refusals.ts';
import type { LockedEvent } from './lock-event.ts';

/** Values of catalogs by flavor, as they are given: what is not there stays as it is. */
type GivenCatalogs = ReadonlyMap<string, CatalogValues>;

/** What is to become of an event's metadata, and which catalogs there are. */
export type MetadataEdit = { catalogs: CatalogSet } & (
  | { kind: 'values'; given: GivenCatalogs }
  /** Catalogs as they are shown: whoever writes back an empty one that was never stored has not filled it in. */
  | { kind: 'written back'; given: GivenCatalogs }
  /** The catalog goes with all its values. */
  | { kind: 'remove'; flavor: string }
);

/** The series that an event is to join by an edit, if any. */
export function seriesToJoin(edit: MetadataEdit): string | undefined {
  if (edit.kind === 'remove') return undefined;
  return chosenSeries(edit.given.get(edit.catalogs.common.flavor) ?? new Map()) ?? undefined;
}

/**
 * Changes the metadata of an event; that may be while a workflow runs.
 *
 * @param event locked together with the series it is to join
 * @returns whether that changed anything
 * @throws {HttpError} 400 for a value that is none of its field, or a series the event cannot join; 404 for a catalog
 * to remove that it does not have
 */
export async function editMetadata(
  trx: Transaction,
  event: LockedEvent,
  edit: MetadataEdit,
  principal: Principal,
): Promise<boolean> {
  const { catalogs } = edit;
  if (edit.kind === 'remove') return removeCatalog(trx, event.id, edit.flavor, catalogs);
  if (edit.kind === 'values') return writeValues(trx, event, edit.given, { principal, catalogs });
  const given = await withoutUntouched(trx, 'events', event.id, edit.given, catalogs);
  requireValues(given, catalogs);
  return writeValues(trx, event, given, { principal, catalogs });
}

async function removeCatalog(
  trx: Transaction,
  eventId: string,
  flavor: string,
  catalogs: CatalogSet,
): Promise<boolean> {
  const catalog = catalogs.find(flavor);
  if (catalog && (await deleteCatalog(trx, 'events', eventId, catalog.flavor))) return true;
  throw NO_CATALOG_TO_DELETE(flavor, eventId);
}

async function writeValues(
  trx: Transaction,
  event: LockedEvent,
  given: GivenCatalogs,
  { principal, catalogs }: { principal: Principal; catalogs: CatalogSet },
): Promise<boolean> {
  let changed = false;
  for (const [flavor, values] of given) {
    const wrote =
      flavor === catalogs.common.flavor
        ? await writeColumns(trx, event, values, principal)
        : await writeCatalog(trx, event.id, flavor, values);
    changed ||= wrote;
  }
  return changed;
}

async function writeColumns(
  trx: Transaction,
  event: LockedEvent,
  given: CatalogValues,
  principal: Principal,
): Promise<boolean> {
  const presenters = given.get('creator');
  const values = Array.isArray(presenters)
    ? new Map(given).set('creator', await namedPresenters(trx, presenters))
    : given;
  const changes = changedColumns(values, event);
  if (Object.keys(changes).length === 0) return false;
  if (changes.series_id) await requireSeries(trx, changes.series_id, principal);
  await trx.updateTable('events').set(changes).where('id', '=', event.id).execute();
  return true;
}

async function writeCatalog(
  trx: Transaction,
  eventId: string,
  flavor: string,
  values: CatalogValues,
): Promise<boolean> {
  const stored = (await storedCatalogs(trx, 'events', [eventId])).get(eventId)?.get(flavor);
  const same = [...values].every(([id, value]) => JSON.stringify(value) === JSON.stringify(stored?.get(id)));
  if (same) return false;
  await saveCatalog(trx, 'events', eventId, flavor, values);
  return true;
}
