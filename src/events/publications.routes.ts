import { Hono } from 'hono';
import { requireEventAccess } from '../access/acl.queries.ts';
import type { Database } from '../database/kysely.ts';
import { notFound } from '../http/errors.ts';
import { versionedJson } from '../http/version.ts';
import { publicationJson, publicationsOfEvents } from '../publications/index.ts';

/** `/api/events/{id}/publications` and one of them. */
export function eventPublicationRoutes({
  publicUrl,
  database,
}: {
  publicUrl: string;
  database: Database;
}): Hono {
  const app = new Hono({ strict: false });

  app.get('/api/events/:id/publications', async (c) => {
    const { principal, version } = c.var;
    const id = c.req.param('id');
    await requireEventAccess(database, principal, id, 'read', missing(id));
    const publications = (await publicationsOfEvents(database, [id])).get(id) ?? [];
    return versionedJson(
      c,
      publications.map((each) => publicationJson(each, { publicUrl, version })),
    );
  });

  app.get('/api/events/:id/publications/:publicationId', async (c) => {
    const { principal, version } = c.var;
    const { id, publicationId } = c.req.param();
    await requireEventAccess(database, principal, id, 'read', missing(id));
    const publications = (await publicationsOfEvents(database, [id])).get(id) ?? [];
    const publication = publications.find((each) => each.id === publicationId);
    if (!publication) {
      throw notFound(`Unable to find publication with id '${publicationId}' in event with id '${id}'.`);
    }
    return versionedJson(c, publicationJson(publication, { publicUrl, version }));
  });

  return app;
}

function missing(id: string): string {
  return `Unable to find event with id '${id}'`;
}
