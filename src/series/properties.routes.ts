import { Hono } from 'hono';
import type { Database } from '../database/kysely.ts';
import { inTransaction } from '../database/retry.ts';
import { notFound } from '../http/errors.ts';
import { readFields } from '../http/form.ts';
import { mediaType, versionedJson } from '../http/version.ts';
import { mergeProperties, parseProperties } from './properties.ts';
import { findProperties } from './queries.ts';

/** `/api/series/{id}/properties`. */
export function seriesPropertiesRoutes({ database }: { database: Database }): Hono {
  const app = new Hono({ strict: false });

  app.get('/api/series/:id/properties', async (c) => {
    const id = c.req.param('id');
    const properties = await findProperties(database, id, c.var.principal);
    if (!properties) throw notFound(`Cannot find an series with id '${id}'.`);
    return versionedJson(c, properties);
  });

  app.put('/api/series/:id/properties', async (c) => {
    const { principal } = c.var;
    const id = c.req.param('id');
    const text = (await readFields(c.req.raw)).get('properties') ?? '';
    const changes = parseProperties(text);
    await inTransaction(database, (trx) => mergeProperties(trx, { principal, id, changes }));
    // As it was sent: a value that is no string stays what it is, although it is stored as one.
    return c.body(text, 200, { 'Content-Type': mediaType(c.var.version), Vary: 'Accept' });
  });

  return app;
}
