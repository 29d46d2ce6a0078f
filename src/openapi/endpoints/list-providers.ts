import { z } from 'zod';
import { TextByName } from '../../http/schemas.ts';
import { ListQuery } from '../../metadata/schemas.ts';
import type { Endpoint } from '../endpoint.ts';

/** Values for fields with a fixed set of them. */
export const LIST_PROVIDERS: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/api/listproviders/providers.json',
    tag: 'List providers',
    summary: 'The names of all list providers',
    description: 'An array that holds one array of names.',
    answers: {
      200: {
        description: 'The names.',
        body: z.tuple([z.array(z.string())]).meta({ id: 'ListProviderNames' }),
        example: [['LANGUAGES', 'LICENSES']],
      },
    },
  },
  {
    method: 'get',
    path: '/api/listproviders/{name}.json',
    tag: 'List providers',
    summary: 'The values of a list provider',
    description: 'The label of each value, by value.',
    query: ListQuery,
    answers: {
      200: {
        description: 'Labels by value.',
        body: TextByName,
        example: { deu: 'LANGUAGES.GERMAN', eng: 'LANGUAGES.ENGLISH' },
      },
    },
    refusals: { 404: '' },
  },
];
