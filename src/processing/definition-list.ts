import { parseFilters, parseSort, UNKNOWN_FILTER } from '#platform/http/list/index.ts';
import { UNKNOWN_CRITERION } from './definition.schemas.ts';
import type { WorkflowDefinition } from './definition.ts';

const MAX_SHOWN = 200;

const COMPARE: Readonly<Record<string, (a: WorkflowDefinition, b: WorkflowDefinition) => number>> = {
  identifier: (a, b) => compare(a.id, b.id),
  title: (a, b) => a.title.localeCompare(b.title, 'en'),
  displayorder: (a, b) => a.display_order - b.display_order,
};

/** What a request wants of the definitions. */
export interface DefinitionListRequest {
  filter?: string | undefined;
  sort?: string | undefined;
}

/**
 * Definitions as a request wants them: with one of the tags, in its order, or else by their identifiers.
 *
 * @throws {HttpError} 400 for a filter or a sort that cannot be read
 */
export function listedDefinitions(
  all: readonly WorkflowDefinition[],
  { filter = '', sort }: DefinitionListRequest,
): WorkflowDefinition[] {
  const tags = tagsOf(filter);
  const comparisons = [...parseSort(sort), { name: 'identifier', descending: false }].map(
    ({ name, descending }) => {
      const comparison = Object.hasOwn(COMPARE, name) ? COMPARE[name] : undefined;
      if (!comparison) throw UNKNOWN_CRITERION(name.slice(0, MAX_SHOWN));
      return (a: WorkflowDefinition, b: WorkflowDefinition) =>
        descending ? comparison(b, a) : comparison(a, b);
    },
  );
  return all
    .filter((definition) => tags.length === 0 || tags.some((tag) => definition.tags.includes(tag)))
    .sort((a, b) => comparisons.map((comparison) => comparison(a, b)).find((order) => order !== 0) ?? 0);
}

function tagsOf(filter: string): string[] {
  return parseFilters([filter], { colons: true })
    .flat()
    .map(({ name, value }) => {
      if (name !== 'tag') throw UNKNOWN_FILTER(name.slice(0, MAX_SHOWN));
      return value;
    });
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
