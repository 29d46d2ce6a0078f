import { z } from 'zod';
import { NEEDS_ROLE } from '#access/access-errors.ts';
import { mayAccess } from '#access/acl/acl.queries.ts';
import { parseForeignAcl, UNREADABLE_POLICY } from '#access/acl/foreign-acl.ts';
import type { Principal } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { createSeries } from '#catalogue/series/create-series.ts';
import { replaceSeriesAcl } from '#catalogue/series/series-acl.ts';
import { SERIES_ID } from '#catalogue/series/series-examples.ts';
import { updateSeriesMetadata } from '#catalogue/series/series-metadata.ts';
import { findSeries } from '#catalogue/series/series-queries.ts';
import { SERIES_MISSING } from '#catalogue/series/series-refusals.ts';
import { type CatalogValues, isEmpty, takesList } from '#metadata/catalog.ts';
import type { CatalogSet, Catalogs } from '#metadata/catalogs.ts';
import { valuesOf } from '#metadata/core-fields.ts';
import { dublinCore, dublinCoreTerms, readDublinCore } from '#metadata/dublincore.ts';
import { readValue } from '#metadata/field-values.ts';
import { SERIES, SERIES_CORE_FIELDS } from '#metadata/series-fields.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { pathParameter } from '#platform/http/endpoint/endpoint-schemas.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { parseOrRefuse } from '../received-text.ts';
import { XML_ANSWER, xmlResponse } from '../text-answers.ts';

interface Services {
  database: Database;
  catalogs: Pick<Catalogs, 'series'>;
}

/** The namespace of the terms of Dublin Core. */
const TERMS = 'http://purl.org/dc/terms/';

const UNREADABLE_SERIES = refusal(400, (reason: string) => `The series is invalid: ${reason}.`, ["it has no 'title'"]);

/** Reads a series. Stud.IP looks for the series of a course here, and creates another one if it is not found. */
export const readDublinCoreSeries = defineEndpoint({
  method: 'get',
  path: '/series/{series_id}.json',
  operationId: 'getDublinCoreSeries',
  access: apiRole('SERIES_VIEW'),
  summary: 'Read a series as Dublin Core',
  description: 'The values of each term, in the namespace of Dublin Core. Empty terms are omitted.',
  params: { series_id: pathParameter('Identifier of the series.', SERIES_ID) },
  answers: {
    200: {
      description: 'The series.',
      plain: true,
      body: z.record(z.string(), z.record(z.string(), z.array(z.object({ value: z.string() })))),
      example: { [TERMS]: { title: [{ value: 'Algebra I' }], identifier: [{ value: SERIES_ID }] } },
    },
  },
  refusals: [SERIES_MISSING],
  handle: async ({ c, params }, { database }: Services) => {
    const id = params.series_id;
    const series = await findSeries(database, id, c.var.principal);
    if (!series) throw SERIES_MISSING(id);
    const values = valuesOf(SERIES_CORE_FIELDS, series).set('identifier', id);
    const terms = [...dublinCoreTerms(SERIES, values)];
    return c.json({ [TERMS]: Object.fromEntries(terms.map(([name, all]) => [name, all.map((value) => ({ value }))])) });
  },
});

/** Creates a series from Dublin Core terms in form fields, or from a catalog. */
export const postSeries = defineEndpoint({
  method: 'post',
  path: '/series',
  operationId: 'postDublinCoreSeries',
  access: apiRole('SERIES_CREATE'),
  summary: 'Create or change a series by Dublin Core',
  description:
    'Changes the series with the same `identifier` if the account may write it and has the roles to change series.',
  form: {
    schema: z.object({
      title: z.string().optional(),
      identifier: z.string().optional().meta({ example: SERIES_ID }),
      publisher: z.string().optional(),
      series: z.string().optional().describe('Dublin Core as XML, instead of the terms.'),
      acl: z.string().optional().describe('The access control list as JSON, XML or XACML.'),
    }),
    example: {
      title: 'Algebra I',
      publisher: 'Example University',
      acl: '{"acl":{"ace":[{"role":"ROLE_STUDENT","action":"read"}]}}',
    },
  },
  answers: {
    201: { description: 'The series was created.', ...XML_ANSWER, example: '<dublincore/>' },
    204: { description: 'The series was changed.' },
  },
  refusals: [UNREADABLE_SERIES, UNREADABLE_POLICY],
  handle: async ({ c, fields }, { database, catalogs }: Services) => {
    const { principal, log } = c.var;
    const given = await fields();
    const set = catalogs.series;
    const values = valuesIn(given, set);
    const acl = given.get('acl')?.trim() ? parseForeignAcl(given.get('acl') ?? '') : undefined;
    const id = String(values.get('identifier') ?? '');
    const metadata = new Map([[set.common.flavor, values]]);
    const created = await inTransaction(database, async (trx) => {
      if (id !== '' && (await isWritable(trx, id, principal))) {
        requireRights(c.var.signedIn ?? principal, acl !== undefined);
        await updateSeriesMetadata(trx, { principal, id, changes: async () => metadata, catalogs: set });
        if (acl) await replaceSeriesAcl(trx, { principal, id, entries: acl, override: false });
        return undefined;
      }
      const made = await createSeries(trx, { metadata, acl: acl ?? [], theme: undefined }, principal, set);
      log.info({ seriesId: made }, 'series created');
      return made;
    });
    if (created === undefined) return c.body(null, 204);
    const shown = new Map(values).set('identifier', created);
    return xmlResponse(c, dublinCore(set.common, shown), 201);
  },
});

/** Requires the roles to change a series, which differ from those to create one. @throws {HttpError} 403 */
function requireRights(account: Principal, withAcl: boolean): void {
  const needed = [...apiRole('SERIES_EDIT'), ...(withAcl ? apiRole('SERIES_ACL_EDIT') : [])];
  const missing = needed.filter((role) => !account.isAdmin() && !account.hasRole(role));
  if (missing.length > 0) throw NEEDS_ROLE(missing);
}

/** Returns true if the account may write the series. If not, creating it fails because the identifier exists. */
async function isWritable(trx: Transaction, id: string, principal: Principal): Promise<boolean> {
  const series = trx.selectFrom('series').select('id').where('id', '=', id);
  return (await series.where(mayAccess('series', principal, 'write')).executeTakeFirst()) !== undefined;
}

/** @throws {HttpError} 400 */
function valuesIn(fields: ReadonlyMap<string, string>, { common }: CatalogSet): CatalogValues {
  const xml = fields.get('series')?.trim();
  const values = xml ? readDublinCore(parseOrRefuse(xml, UNREADABLE_SERIES), common, UNREADABLE_SERIES) : new Map();
  for (const field of common.fields) {
    const text = field.term === undefined ? undefined : fields.get(field.term);
    if (xml || text === undefined || field.outputOnly) continue;
    const value = takesList(field) ? [text] : text;
    values.set(field.id, readValue(field, field.id, value, { refuse: UNREADABLE_SERIES, emptyBadDates: true }));
  }
  if (isEmpty(values.get('title') ?? '')) throw UNREADABLE_SERIES("it has no 'title'");
  return values;
}
