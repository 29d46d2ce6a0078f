import { z } from 'zod';
import { NO_WHOLE_NUMBER } from '../endpoint/endpoint-schemas.ts';
import type { ShownRefusal } from '../errors/errors.ts';
import { PageQuery } from './list-page.ts';
import {
  filterHelp,
  type ListedResource,
  listHeaders,
  sortParameter,
  UNKNOWN_FILTER,
  UNKNOWN_SORT,
} from './listed-resource.ts';

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
