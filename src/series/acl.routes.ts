import { Hono } from 'hono';
import { aclsOf } from '../access/acl.queries.ts';
import type { Database } from '../database/kysely.ts';
import { inTransaction } from '../database/retry.ts';
import { offers } from '../http/api-changes.ts';
import { notFound } from '../http/errors.ts';
import { readFields } from '../http/form.ts';
import { mediaType, versionedJson } from '../http/version.ts';
import { parseSeriesAcl, replaceSeriesAcl } from './change-acl.ts';
import { findSeries } from './queries.ts';
import { Override } from './series.schemas.ts';

/** `/api/series/{id}/acl`: who may read and write a series, and those of its events that have no ACL of their own. */
export function seriesAclRoutes({ database }: { database: Database }): Hono {
  const app = new Hono({ strict: false });

  app.get('/api/series/:id/acl', async (c) => {
    const id = c.req.param('id');
    const series = await findSeries(database, id, c.var.principal);
    if (!series) throw notFound(`Cannot find a series with id '${id}'.`);
    if (!series.acl_defined) throw notFound(`Acl for series with id '${id}' is not defined.`);
    return versionedJson(c, (await aclsOf(database, 'series', [id])).get(id) ?? []);
  });

  app.put('/api/series/:id/acl', async (c) => {
    const { principal, version } = c.var;
    const id = c.req.param('id');
    const fields = await readFields(c.req.raw);
    const text = fields.get('acl') ?? '';
    const entries = parseSeriesAcl(text);
    const override =
      offers(version, 'seriesParameters', 'override') && Override.parse(fields.get('override'));
    await inTransaction(database, (trx) => replaceSeriesAcl(trx, { principal, id, entries, override }));
    // The list as it was sent, not as it is stored: clients compare the two.
    return c.body(text, 200, { 'Content-Type': mediaType(version), Vary: 'Accept' });
  });

  return app;
}
