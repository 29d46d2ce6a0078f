import { z } from 'zod';
import { EXAMPLE_URL } from '../endpoint/schemas.ts';
import type { ListedResource } from './resource.ts';

/** Declares the headers of a list. @param path of the list, for the example */
export function listHeaders(path: string) {
  return z.object({
    'X-Total-Count': z.string().meta({
      description: 'How many there are on all pages, counted as far as that is cheap.',
      example: '3',
    }),
    'X-Total-Count-Relation': z.enum(['eq', 'gte']).meta({
      description: '`eq`: there are exactly so many; `gte`: at least so many.',
      example: 'eq',
    }),
    Link: z
      .string()
      .optional()
      .meta({
        description:
          'Addresses of the pages `first`, `prev`, `next` and `last`, as far as there are such; left out where they would be too long for a header.',
        example: `<${EXAMPLE_URL}${path}?limit=20&offset=20>; rel="next"`,
      }),
  });
}

/** Describes the parameter `filter` of a list. */
export function filterHelp({ filters, filtersSince = {} }: ListedResource): string {
  const names = Object.keys(filters).map((name) => {
    const since = filtersSince[name];
    return since === undefined ? `\`${name}\`` : `\`${name}\` (${since})`;
  });
  return `Filters as \`name:value\` with commas between them, all of which must match. Names, with the version that brought them unless it was the first: ${names.join(', ')}.`;
}

/** Declares the parameter `sort` of a list. */
export function sortParameter({ sorts }: ListedResource, example: string) {
  const names = Object.keys(sorts.criteria).map((name) => `\`${name}\``);
  return z
    .string()
    .optional()
    .meta({
      description: `Criteria as \`name:ASC\` or \`name:DESC\` with commas between them, the first one first. Names: ${names.join(', ')}.`,
      example,
    });
}
