import { z } from 'zod';
import type { Principal } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { parseJson } from '#metadata/parse-metadata.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { mediaType, versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { jsonText, parseInput, TextByName } from '#platform/http/endpoint/endpoint-schemas.ts';
import { findProperties, lockSeries, recordChange } from '../series-queries.ts';
import {
  ACL_MISSING,
  AN_SERIES_MISSING,
  GONE,
  PROPERTIES_TOO_LONG,
  PROPERTIES_UNPARSABLE,
  TOO_MANY_PROPERTIES,
} from '../series-refusals.ts';
import { seriesParams } from './series.endpoints.ts';

const NAME_BYTES = 255;
const VALUE_BYTES = 100_000;
const UNPARSABLE = PROPERTIES_UNPARSABLE.example;

const PropertyName = fitting(NAME_BYTES);

/** The value of a property: a text, or the JSON text of any other value but null. */
const PropertyValue = z
  .unknown()
  .transform((value, context) => {
    try {
      if (value !== null) return typeof value === 'string' ? value : JSON.stringify(value);
    } catch {
      // JSON.stringify fails on nesting that JSON.parse accepts.
    }
    context.addIssue(UNPARSABLE);
    return z.NEVER;
  })
  .pipe(fitting(VALUE_BYTES));

/** The form field `properties`. */
const PropertiesRequest = z.record(PropertyName, PropertyValue).meta({
  id: 'SeriesPropertiesRequest',
  description: 'Texts by name. Any other value, except null, is stored as its JSON text.',
});

const SeriesProperties = TextByName.meta({ id: 'SeriesProperties' });

/** The properties as they were sent; values may be of any type. */
const PropertiesEcho = z.record(z.string(), z.unknown());

/** Rejects NUL and lone surrogates, which PostgreSQL's JSON cannot store. */
function fitting(bytes: number) {
  return z
    .string()
    .refine((text) => !text.includes('\0') && text.isWellFormed(), { error: UNPARSABLE, abort: true })
    .refine((text) => Buffer.byteLength(text) <= bytes, {
      error: ({ input }) => `'${String(input).slice(0, 50).toWellFormed()}...' is longer than ${bytes} bytes of UTF-8.`,
    });
}

const MAX_PROPERTIES = 1000;
/** The limit for all names and values of a series together. */
const TOTAL_BYTES = 2 ** 20;

/** Reads the form field `properties` (compatibility 4.9). @throws {HttpError} 400 */
function parseProperties(text: string): Map<string, string> {
  if (text.trim() === '') throw ACL_MISSING();
  const json = parseJson(text, PROPERTIES_UNPARSABLE);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw PROPERTIES_UNPARSABLE();
  return new Map(
    Object.entries(json).map(([name, value]) => [parseInput(PropertyName, name), parseInput(PropertyValue, value)]),
  );
}

/**
 * Adds or replaces properties of a series.
 *
 * @throws {HttpError} 404 for a series the principal may not read, 401 for one it may only read, 400 above the limits
 */
async function mergeProperties(
  trx: Transaction,
  principal: Principal,
  id: string,
  changes: Map<string, string>,
): Promise<void> {
  await lockSeries(trx, principal, id, GONE);
  const present = await findProperties(trx, id, principal);
  const merged = new Map([...Object.entries(present ?? {}), ...changes]);
  if (merged.size > MAX_PROPERTIES) throw TOO_MANY_PROPERTIES(MAX_PROPERTIES);
  const properties = JSON.stringify(Object.fromEntries(merged));
  if (Buffer.byteLength(properties) > TOTAL_BYTES) throw PROPERTIES_TOO_LONG(TOTAL_BYTES);
  await trx.updateTable('series').set({ properties }).where('id', '=', id).execute();
  await recordChange(trx, { id, principal, part: 'properties' });
}

const PROPERTIES = { theme: '3', live: 'false' };

export const readProperties = defineEndpoint({
  method: 'get',
  path: '/api/series/{series_id}/properties',
  access: apiRole('SERIES_PROPERTIES_VIEW'),
  summary: 'Read the properties of a series',
  description: 'Properties are texts that clients store with a series.',
  params: seriesParams,
  answers: { 200: { description: 'The properties.', body: SeriesProperties, example: PROPERTIES } },
  refusals: [AN_SERIES_MISSING],
  handle: async ({ c, params }, { database }: { database: Database }) => {
    const properties = await findProperties(database, params.series_id, c.var.principal);
    if (!properties) throw AN_SERIES_MISSING(params.series_id);
    return versionedJson(c, properties);
  },
});

export const putProperties = defineEndpoint({
  method: 'put',
  path: '/api/series/{series_id}/properties',
  access: apiRole('SERIES_PROPERTIES_EDIT'),
  summary: 'Set properties of a series',
  description: 'Adds or replaces the given properties and keeps all other ones.',
  params: seriesParams,
  form: {
    schema: z.object({ properties: jsonText(PropertiesRequest, 'Texts by name.') }),
    example: { properties: JSON.stringify(PROPERTIES) },
  },
  answers: {
    200: { description: 'The properties as they were sent.', body: PropertiesEcho, example: PROPERTIES },
  },
  refusals: [ACL_MISSING, PROPERTIES_UNPARSABLE, GONE],
  handle: async ({ c, params, fields }, { database }: { database: Database }) => {
    const { principal } = c.var;
    const text = (await fields()).get('properties') ?? '';
    const changes = parseProperties(text);
    await inTransaction(database, (trx) => mergeProperties(trx, principal, params.series_id, changes));
    // The text as it was sent, not as it is stored.
    return c.body(text, 200, { 'Content-Type': mediaType(c.var.version), Vary: 'Accept' });
  },
});
