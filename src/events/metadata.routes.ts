import { Hono } from 'hono';
import { requireAccess } from '../access/acl.queries.ts';
import type { Database } from '../database/kysely.ts';
import { inTransaction } from '../database/retry.ts';
import { badRequest, forbidden, notFound } from '../http/errors.ts';
import { readFields } from '../http/form.ts';
import { versionedJson } from '../http/version.ts';
import type { MetadataCatalog } from '../metadata/catalog.ts';
import type { CatalogSet } from '../metadata/catalogs.ts';
import { fieldsJson } from '../metadata/json.ts';
import { parseFieldEntries, readFieldEntries } from '../metadata/parse-fields.ts';
import { CatalogType } from '../metadata/schemas.ts';
import { isLocked, metadataOfEvents, valuesOfEvents } from './metadata.ts';
import { findEvent } from './queries.ts';
import type { MetadataEdit } from './update/metadata.ts';
import { updateEvent } from './update/update-event.ts';

export interface MetadataDependencies {
  database: Database;
  catalogs: CatalogSet;
}

/** `/api/events/{id}/metadata`: all catalogs of an event, or the one of the flavor `type` (compatibility 3.9). */
export function eventMetadataRoutes({ database, catalogs }: MetadataDependencies): Hono {
  const app = new Hono({ strict: false });

  app.get('/api/events/:id/metadata', async (c) => {
    const id = c.req.param('id');
    const type = c.req.query('type')?.trim() ?? '';
    const event = await findEvent(database, id, c.var.principal);
    if (!event) throw notFound(`Cannot find an event with id '${id}'.`);
    if (type === '') {
      const metadata = await metadataOfEvents(database, [event], catalogs, 'metadata');
      return versionedJson(c, metadata.get(id) ?? []);
    }
    const catalog = findCatalog(type, id, catalogs);
    const values = (await valuesOfEvents(database, [event], catalogs)).get(id)?.get(catalog.flavor);
    return versionedJson(c, fieldsJson(catalog, values ?? new Map(), { locked: isLocked(event) }));
  });

  app.put('/api/events/:id/metadata', async (c) => {
    const { principal } = c.var;
    const id = c.req.param('id');
    const type = c.req.query('type')?.trim() ?? '';
    const entries = parseFieldEntries((await readFields(c.req.raw)).get('metadata'), 'event');
    await requireAccess(database, 'events', principal, id, 'write');
    const catalog = findCatalog(type, id, catalogs);
    const values = readFieldEntries(entries, catalog, { resource: 'event', id, flavor: type });
    const given = new Map([[catalog.flavor, values]]);
    const metadata: MetadataEdit = { kind: 'values', given, catalogs };
    await inTransaction(database, (trx) => updateEvent(trx, id, { metadata }, { principal }));
    return c.body(null, 204);
  });

  app.delete('/api/events/:id/metadata', async (c) => {
    const { principal } = c.var;
    const id = c.req.param('id');
    const type = c.req.query('type')?.trim() ?? '';
    await requireAccess(database, 'events', principal, id, 'read');
    requireFlavor(type);
    if (catalogs.find(type) === catalogs.common) {
      throw forbidden(`Unable to delete mandatory metadata catalog with type '${type}' for event '${id}'`);
    }
    const metadata: MetadataEdit = { kind: 'remove', flavor: type, catalogs };
    await inTransaction(database, (trx) => updateEvent(trx, id, { metadata }, { principal }));
    return c.body(null, 204);
  });

  return app;
}

function findCatalog(type: string, eventId: string, catalogs: CatalogSet): MetadataCatalog {
  requireFlavor(type);
  const catalog = catalogs.find(type);
  if (catalog) return catalog;
  throw notFound(`Cannot find a catalog with type '${type}' for event with id '${eventId}'.`);
}

function requireFlavor(type: string): void {
  if (CatalogType.safeParse(type).success) return;
  throw badRequest(`Unable to parse type '${type}' as a flavor so unable to find the matching catalog.`);
}
