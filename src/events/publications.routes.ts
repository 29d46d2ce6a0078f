import { Hono } from 'hono';
import { requireAccess } from '../access/acl.queries.ts';
import type { Database } from '../database/kysely.ts';
import { notFound } from '../http/errors.ts';
import { versionedJson } from '../http/version.ts';
import {
  isAddressable,
  type PublicationAddresses,
  presentationOf,
  publicationJson,
  publicationsJson,
  publicationsOfEvents,
} from '../publications/index.ts';
import { PublicationQuery, PublicationsQuery } from '../publications/query.schemas.ts';

/** `/api/events/{id}/publications` and one of them. */
export function eventPublicationRoutes({
  database,
  ...addresses
}: PublicationAddresses & { database: Database }): Hono {
  const app = new Hono({ strict: false });

  app.get('/api/events/:id/publications', async (c) => {
    const { principal, version } = c.var;
    const id = c.req.param('id');
    await requireAccess(database, 'events', principal, id, 'read', missing(id));
    const publications = (await publicationsOfEvents(database, [id])).get(id) ?? [];
    const query = PublicationsQuery.parse(c.req.query());
    return versionedJson(c, publicationsJson(publications, { version, query }, addresses));
  });

  app.get('/api/events/:id/publications/:publicationId', async (c) => {
    const { principal, version } = c.var;
    const { id, publicationId } = c.req.param();
    await requireAccess(database, 'events', principal, id, 'read', missing(id));
    const publications = (await publicationsOfEvents(database, [id])).get(id) ?? [];
    const publication = publications.find((each) => each.id === publicationId);
    if (!publication || !isAddressable(publication, version)) {
      throw notFound(`Unable to find publication with id '${publicationId}' in event with id '${id}'`);
    }
    const query = PublicationQuery.parse(c.req.query());
    return versionedJson(c, publicationJson(publication, presentationOf({ version, query }, addresses)));
  });

  return app;
}

function missing(id: string): string {
  return `Unable to find event with id '${id}'`;
}
