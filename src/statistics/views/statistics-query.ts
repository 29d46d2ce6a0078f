import { z } from 'zod';
import { refusal } from '#platform/http/errors/errors.ts';
import { utcInstant } from '#platform/http/list/index.ts';
import { tryParseJson } from '#platform/text/json.ts';
import { PROVIDERS } from './providers.ts';
import { mostPeriods, RESOLUTIONS, RESOURCE_TYPES, type ResourceType, type TimeRange } from './time-series.queries.ts';

const MAX_QUERIES = 100;
const MAX_PERIODS = 50_000;

export const UNPARSABLE_QUERY = refusal(400, (reason: string) => `Unable to parse form parameter 'data': ${reason}`, [
  "Parameter 'from' is missing",
]);

const word = (missing: string) => z.string({ error: missing }).refine((text) => text.trim() !== '', { error: missing });
const parameter = (name: string) => word(`Parameter '${name}' is missing`);
const object = (name: string) => ({ error: `'${name}' must be a JSON object` });

const instant = (name: string) =>
  parameter(name)
    .describe('An instant in UTC, such as `2026-04-13T08:15:00Z`.')
    .transform((text, context) => {
      const date = utcInstant(text);
      if (!date) context.addIssue(`Parameter '${name}' not in ISO 8601 UTC format, such as 2026-04-13T08:15:00Z`);
      return date ?? z.NEVER;
    });

const oneOf = <T extends string>(name: string, values: readonly [T, ...T[]]) =>
  parameter(name)
    .describe(`One of \`${values.join('`, `')}\`.`)
    .transform((text, context) => {
      const found = values.find((value) => value === text.toLowerCase());
      if (!found) context.addIssue(`Illegal value for '${name}'; allowed are ${values.join(', ')}`);
      return found ?? z.NEVER;
    });

/** A query of a provider. */
export const StatisticsQuery = z
  .object(
    {
      provider: z.object({ identifier: word('Identifier of provider is missing') }, object('provider')),
      parameters: z
        .looseObject(
          {
            resourceId: parameter('resourceId').describe('Identifier of the event, series or organization.'),
            from: instant('from'),
            to: instant('to'),
            dataResolution: oneOf('dataResolution', RESOLUTIONS),
            detailLevel: oneOf('detailLevel', RESOURCE_TYPES).optional(),
          },
          object('parameters'),
        )
        .refine(({ from, to }) => from < to, { error: "'from' date must be before 'to' date" }),
    },
    { error: 'a query must be a JSON object' },
  )
  .meta({ id: 'StatisticsQuery' });

export const StatisticsQueries = z
  .array(StatisticsQuery, { error: 'the queries must be a JSON array' })
  .max(MAX_QUERIES, { error: `more than ${MAX_QUERIES} queries` })
  .meta({ id: 'StatisticsQueries' });

/** A query that a provider can answer. */
export interface ParsedQuery {
  provider: (typeof PROVIDERS)[number];
  resourceId: string;
  range: TimeRange;
  /** The kind of resource that an export has rows for. */
  detailLevel: ResourceType;
  /** The parameters as they were sent. */
  sent: unknown;
}

interface Setting {
  isEnabled: boolean;
  timeZone: string;
}

/** Parses the queries of a request. @throws {HttpError} 400 */
export function parseQueries(text: string, setting: Setting): ParsedQuery[] {
  const queries = parse(StatisticsQueries, text, setting);
  const periods = queries.reduce((sum, { range }) => sum + mostPeriods(range), 0);
  if (periods > MAX_PERIODS) throw TOO_MANY_PERIODS();
  return queries;
}

/** Parses the query of an export. @throws {HttpError} 400 */
export function parseQuery(text: string, setting: Setting): ParsedQuery {
  const [query] = parse(
    StatisticsQuery.transform((each) => [each]),
    text,
    setting,
  );
  if (!query || mostPeriods(query.range) > MAX_PERIODS) throw TOO_MANY_PERIODS();
  return query;
}

const TOO_MANY_PERIODS = () =>
  UNPARSABLE_QUERY(
    `more than ${MAX_PERIODS} values; choose a later 'from', an earlier 'to' or a coarser 'dataResolution'`,
  );

function parse(
  schema: z.ZodType<z.output<typeof StatisticsQueries>>,
  text: string,
  { isEnabled, timeZone }: Setting,
): ParsedQuery[] {
  if (text.trim() === '') throw UNPARSABLE_QUERY('No query data provided');
  const json = tryParseJson(text);
  if (json === undefined) throw UNPARSABLE_QUERY('JSON malformed');
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw UNPARSABLE_QUERY(parsed.error.issues[0]?.message ?? 'JSON malformed');
  return parsed.data.map(({ provider: { identifier }, parameters }, i) => {
    const provider = isEnabled ? PROVIDERS.find((each) => each.identifier === identifier) : undefined;
    if (!provider) throw UNPARSABLE_QUERY('Provider not found');
    const { resourceId, from, to, dataResolution: resolution, detailLevel = provider.resourceType } = parameters;
    const sent = ([json].flat()[i] as { parameters: unknown }).parameters;
    return { provider, resourceId, range: { from, to, resolution, timeZone }, detailLevel, sent };
  });
}
