import { z } from 'zod';
import { EXAMPLE_URL, NO_WHOLE_NUMBER } from '../endpoint/endpoint-schemas.ts';
import type { ShownRefusal } from '../errors/errors.ts';
import { PageQuery } from './list-page.ts';
import { type ListedResource, UNKNOWN_FILTER, UNKNOWN_SORT } from './listed-resource.ts';

interface ListFacts<Path extends string, Filter extends z.ZodType, Flags extends z.ZodRawShape> {
  path: Path;
  /** The parameter `filter`, and what its description says beside the names. */
  filter: Filter;
  filterHint: string;
  filterExample: string;
  sortExample: string;
  /** Further parameters. */
  flags: Flags;
  page: { description: string; body: z.ZodType; example: readonly unknown[] };
  /** Refusals beside those of all lists. */
  refusals: readonly ShownRefusal[];
}

/** Declares the path, parameters, answer and refusals of a list with filters and sort criteria. */
export function listDeclaration<Path extends string, Filter extends z.ZodType, Flags extends z.ZodRawShape, Row>(
  resource: ListedResource<Row>,
  { path, filter, filterHint, filterExample, sortExample, flags, page, refusals }: ListFacts<Path, Filter, Flags>,
) {
  const description = `${filterHelp(resource)} ${filterHint}`;
  return {
    path,
    query: z.object({
      filter: filter.meta({ description, example: filterExample }),
      sort: sortParameter(resource, sortExample),
      ...PageQuery.shape,
      ...flags,
    }),
    answers: { 200: { ...page, headers: listHeaders(path) } },
    refusals: [UNKNOWN_FILTER, UNKNOWN_SORT, ...refusals, NO_WHOLE_NUMBER],
  };
}

/** Declares the headers of a list. @param path of the list, for the example */
export function listHeaders(path: string) {
  return z.object({
    'X-Total-Count': z.string().meta({
      description: 'Number of items on all pages, counted as far as that is cheap.',
      example: '3',
    }),
    'X-Total-Count-Relation': z.enum(['eq', 'gte']).meta({
      description: '`eq`: the count is exact; `gte`: it is a lower bound.',
      example: 'eq',
    }),
    Link: z
      .string()
      .optional()
      .meta({
        description:
          'URLs of the pages `first`, `prev`, `next` and `last` that exist; omitted where too long for a header.',
        example: `<${EXAMPLE_URL}${path}?limit=20&offset=20>; rel="next"`,
      }),
  });
}

function filterHelp({ filters, filtersSince = {} }: ListedResource): string {
  const names = Object.keys(filters).map((name) => {
    const since = filtersSince[name];
    return since === undefined ? `\`${name}\`` : `\`${name}\` (${since})`;
  });
  return `Filters as \`name:value\`, separated by commas; all must match. Names, with the version that introduced them if it is not the first: ${names.join(', ')}.`;
}

export function sortParameter({ sorts }: ListedResource, example: string) {
  const names = Object.keys(sorts.criteria).map((name) => `\`${name}\``);
  return z
    .string()
    .optional()
    .meta({
      description: `Criteria as \`name:ASC\` or \`name:DESC\`, separated by commas, the most significant first. Names: ${names.join(', ')}.`,
      example,
    });
}
