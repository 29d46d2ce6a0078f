import { Hono } from 'hono';
import { aclsOf } from '../access/acl.queries.ts';
import type { Database } from '../database/kysely.ts';
import { inTransaction } from '../database/retry.ts';
import { conditionalJson } from '../http/conditional-json.ts';
import { notFound } from '../http/errors.ts';
import { readFields } from '../http/form.ts';
import { versionedJson } from '../http/version.ts';
import type { Idempotency } from '../idempotency/idempotency.ts';
import type { CatalogSet } from '../metadata/catalogs.ts';
import { createSeries, parseNewSeries } from './create-series.ts';
import { seriesJson } from './json.ts';
import { findSeries, lockSeries } from './queries.ts';
import { SeriesQuery } from './query.schemas.ts';

export interface SeriesDependencies {
  /** Base of the URLs handed out, without a slash at its end. */
  publicUrl: string;
  database: Database;
  idempotency: Idempotency;
  /** What the metadata of a series may hold. */
  catalogs: CatalogSet;
}

/** Creating, reading and deleting a series. */
export function seriesRoutes({ publicUrl, database, idempotency, catalogs }: SeriesDependencies): Hono {
  const app = new Hono({ strict: false });

  app.post('/api/series', async (c) => {
    const { principal, log } = c.var;
    const fields = await readFields(c.req.raw);
    return idempotency.answer(c, { fields }, async (remember) => {
      const series = parseNewSeries(fields, catalogs);
      const { id, answer } = await inTransaction(database, async (trx) => {
        const id = await createSeries(trx, series, principal, catalogs);
        const Location = `${publicUrl}/api/series/${encodeURIComponent(id)}`;
        const answer = versionedJson(c, { identifier: id }, 201, { Location });
        await remember(trx, answer);
        return { id, answer };
      });
      log.info({ seriesId: id }, 'series created');
      return answer;
    });
  });

  app.get('/api/series/:id', async (c) => {
    const { principal, version } = c.var;
    const id = c.req.param('id');
    const series = await findSeries(database, id, principal);
    if (!series) throw notFound(`Cannot find an series with id '${id}'.`);
    const { withacl } = SeriesQuery.parse(c.req.query());
    const acls = withacl ? await aclsOf(database, 'series', [id]) : undefined;
    return conditionalJson(c, seriesJson(series, version, acls && { acl: acls.get(id) ?? [] }));
  });

  app.delete('/api/series/:id', async (c) => {
    const { principal, log } = c.var;
    const id = c.req.param('id');
    // Its events keep the identifier and lose the title and the rights that came from it (sql/0009).
    await inTransaction(database, async (trx) => {
      await lockSeries(trx, principal, id);
      await trx.deleteFrom('series').where('id', '=', id).execute();
    });
    log.info({ seriesId: id }, 'series deleted');
    return c.body(null, 204);
  });

  return app;
}
