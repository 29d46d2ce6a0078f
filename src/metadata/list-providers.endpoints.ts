import { z } from 'zod';
import { apiRole } from '#access/roles/api-roles.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { PAGE, pathParameter, TextByName } from '#platform/http/endpoint/endpoint-schemas.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import type { ListEntry, ListProviders } from './list-providers.ts';

const NO_SUCH_LIST = refusal(404, '');

interface Services {
  catalogs: { lists: ListProviders };
}

export const listProviderNames = defineEndpoint({
  method: 'get',
  path: '/api/listproviders/providers.json',
  since: '1.10.0',
  access: apiRole('LISTPROVIDERS_VIEW'),
  summary: 'The names of all list providers',
  description: 'Returns an array that contains one array of names.',
  answers: {
    200: {
      description: 'The names.',
      body: z.tuple([z.array(z.string())]).meta({ id: 'ListProviderNames' }),
      example: [['LANGUAGES', 'LICENSES']],
    },
  },
  handle: ({ c }, { catalogs }: Services) => versionedJson(c, [[...catalogs.lists.keys()]]),
});

export const listProvider = defineEndpoint({
  method: 'get',
  path: '/api/listproviders/{name}.json',
  since: '1.10.0',
  access: apiRole('LISTPROVIDERS_VIEW'),
  summary: 'The values of a list provider',
  description: 'Returns the values that clients may offer for metadata fields, each with its label.',
  params: { name: pathParameter('Name of the list provider.', 'LANGUAGES') },
  query: z.object({ filter: z.string().optional().describe('Only values or labels that contain this text.'), ...PAGE }),
  answers: {
    200: {
      description: 'Labels by value.',
      body: TextByName,
      example: { deu: 'LANGUAGES.GERMAN', eng: 'LANGUAGES.ENGLISH' },
    },
  },
  refusals: [NO_SUCH_LIST],
  handle: ({ c, params, query }, { catalogs }: Services) => {
    const entries = catalogs.lists.get(params.name);
    if (!entries) throw NO_SUCH_LIST();
    const { filter, limit, offset = 0 } = query();
    const chosen = entries.filter(matching(filter ?? ''));
    const page = chosen.slice(offset, limit && offset + limit);
    return versionedJson(c, Object.fromEntries(page.map(({ key, label, text }) => [key, text ?? label])));
  },
});

/** Returns a test for entries whose value or label contains a text, ignoring case. */
function matching(filter: string): (entry: ListEntry) => boolean {
  const part = filter.toLowerCase();
  return ({ key, label }) => key.toLowerCase().includes(part) || label.toLowerCase().includes(part);
}
