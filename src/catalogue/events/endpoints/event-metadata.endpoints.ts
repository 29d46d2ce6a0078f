import { requireAccess } from '#access/acl/acl.queries.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import type { MetadataCatalog } from '#metadata/catalog.ts';
import { fieldsJson } from '#metadata/catalog-json.ts';
import type { CatalogSet, Catalogs } from '#metadata/catalogs.ts';
import { CatalogType } from '#metadata/metadata.schemas.ts';
import { changesFields, deletesCatalog, readsCatalogs } from '#metadata/metadata-declarations.ts';
import {
  FIELD_NOT_FOUND,
  FIELD_REQUIRED,
  MANDATORY_CATALOG,
  NO_CATALOG,
  UNREADABLE_FIELDS,
} from '#metadata/metadata-refusals.ts';
import { parseFieldEntries, readFieldEntries } from '#metadata/parse-metadata.ts';
import type { Database } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { EVENT_CATALOGS, EVENT_FIELDS, EVENT_ID } from '../event-examples.ts';
import { findEvent, isLocked, metadataOfEvents, valuesOfEvents } from '../event-json.ts';
import { EVENT_MISSING, NO_CATALOG_TO_DELETE, NO_FLAVOR } from '../event-refusals.ts';
import type { MetadataEdit } from '../update/event-edits.ts';
import { updateEvent } from '../update/update-event.ts';
import { eventParams } from './events.endpoints.ts';

interface Services {
  database: Database;
  catalogs: Pick<Catalogs, 'event'>;
}

const FLAVOR = 'dublincore/episode';

export const readEventMetadata = defineEndpoint({
  method: 'get',
  path: '/api/events/{event_id}/metadata',
  access: apiRole('EVENTS_METADATA_VIEW'),
  summary: 'Read the metadata of an event',
  ...readsCatalogs(EVENT_CATALOGS),
  params: eventParams,
  refusals: [NO_FLAVOR, EVENT_MISSING, NO_CATALOG],
  handle: async ({ c, params, query }, { database, catalogs }: Services) => {
    const id = params.event_id;
    const type = query().type?.trim() ?? '';
    const event = await findEvent(database, id, c.var.principal);
    if (!event) throw EVENT_MISSING(id);
    if (type === '') {
      const metadata = await metadataOfEvents(database, [event], catalogs.event, 'metadata');
      return versionedJson(c, metadata.get(id) ?? []);
    }
    const catalog = findCatalog(type, id, catalogs.event);
    const values = (await valuesOfEvents(database, [event], catalogs.event)).get(id)?.get(catalog.flavor);
    return versionedJson(c, fieldsJson(catalog, values ?? new Map(), { locked: isLocked(event) }));
  },
});

export const putEventFields = defineEndpoint({
  method: 'put',
  path: '/api/events/{event_id}/metadata',
  access: apiRole('EVENTS_METADATA_EDIT'),
  summary: 'Change fields of a catalog of an event',
  ...changesFields(FLAVOR, EVENT_FIELDS),
  params: eventParams,
  answers: { 204: { description: 'The fields were changed.' } },
  refusals: [
    UNREADABLE_FIELDS,
    FIELD_REQUIRED.about('event', 'title', FLAVOR),
    NO_FLAVOR,
    EVENT_MISSING,
    NO_CATALOG,
    FIELD_NOT_FOUND.about('colour', EVENT_ID, FLAVOR),
  ],
  handle: async ({ c, params, query, fields }, { database, catalogs }: Services) => {
    const { principal } = c.var;
    const id = params.event_id;
    const type = query().type.trim();
    const entries = parseFieldEntries((await fields()).get('metadata'), 'event');
    await requireAccess(database, 'events', principal, id, 'write', EVENT_MISSING);
    const catalog = findCatalog(type, id, catalogs.event);
    const values = readFieldEntries(entries, catalog, { resource: 'event', id, flavor: type });
    const given = new Map([[catalog.flavor, values]]);
    const metadata: MetadataEdit = { kind: 'values', given, catalogs: catalogs.event };
    await inTransaction(database, (trx) => updateEvent(trx, id, { metadata }, { principal }));
    return c.body(null, 204);
  },
});

export const deleteEventCatalog = defineEndpoint({
  method: 'delete',
  path: '/api/events/{event_id}/metadata',
  access: apiRole('EVENTS_METADATA_DELETE'),
  summary: 'Delete a catalog of an event',
  ...deletesCatalog('license/episode'),
  params: eventParams,
  refusals: [NO_FLAVOR, MANDATORY_CATALOG, EVENT_MISSING, NO_CATALOG_TO_DELETE],
  handle: async ({ c, params, query }, { database, catalogs }: Services) => {
    const { principal } = c.var;
    const id = params.event_id;
    const type = query().type.trim();
    await requireAccess(database, 'events', principal, id, 'read', EVENT_MISSING);
    requireFlavor(type);
    if (catalogs.event.find(type) === catalogs.event.common) throw MANDATORY_CATALOG('event', type, id);
    const metadata: MetadataEdit = { kind: 'remove', flavor: type, catalogs: catalogs.event };
    await inTransaction(database, (trx) => updateEvent(trx, id, { metadata }, { principal }));
    return c.body(null, 204);
  },
});

function findCatalog(type: string, eventId: string, catalogs: CatalogSet): MetadataCatalog {
  requireFlavor(type);
  const catalog = catalogs.find(type);
  if (catalog) return catalog;
  throw NO_CATALOG('event', type, eventId);
}

function requireFlavor(type: string): void {
  if (!CatalogType.safeParse(type).success) throw NO_FLAVOR(type);
}
