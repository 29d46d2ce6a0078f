import { Hono } from 'hono';
import { aclsOf, requireAccess } from '../access/acl.queries.ts';
import type { Database } from '../database/kysely.ts';
import { inTransaction } from '../database/retry.ts';
import { offers } from '../http/api-changes.ts';
import { readFields } from '../http/form.ts';
import { mediaType, versionedJson } from '../http/version.ts';
import { parseSeriesAcl, replaceSeriesAcl } from './change-acl.ts';
import { Override } from './series.schemas.ts';

/** `/api/series/{id}/acl`: who may read and write a series, and those of its events that have no ACL of their own. */
export function seriesAclRoutes({ database }: { database: Database }): Hono {
  const app = new Hono({ strict: false });

  app.get('/api/series/:id/acl', async (c) => {
    const id = c.req.param('id');
    await requireAccess(database, 'series', c.var.principal, id, 'read');
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
