/** What the metadata endpoints of events and of series declare alike; refusals and answers to changes differ. */
import { z } from 'zod';
import { jsonText } from '#platform/http/endpoint/schemas.ts';
import { sentFields } from './examples.ts';
import { CatalogJson, catalogTypeParameter, FieldJson, FieldsRequest, optionalCatalogType } from './schemas.ts';

/** Reads all catalogs or the fields of one. @param example all catalogs */
export const readsCatalogs = (example: readonly object[]) => ({
  description: 'All catalogs, the default one last; with `type` the fields of that catalog.',
  query: z.object({ type: optionalCatalogType('Flavor of a catalog.') }),
  answers: {
    200: {
      description: 'The catalogs, or the fields of the one asked for.',
      body: z.union([z.array(CatalogJson), z.array(FieldJson)]),
      example,
    },
  },
});

/** Changes fields of a catalog. @param fields those of the catalog as they are read */
export const changesFields = (flavor: string, fields: readonly FieldJson[]) => ({
  description: 'Fields that are not listed stay; those that can only be read are ignored.',
  query: z.object({ type: catalogTypeParameter('Flavor of the catalog.', flavor) }),
  form: {
    schema: z.object({ metadata: jsonText(FieldsRequest, 'The fields to be changed.') }),
    example: { metadata: JSON.stringify(sentFields(fields).slice(0, 2)) },
  },
});

/** Deletes a catalog. @param flavor of one that may go */
export const deletesCatalog = (flavor: string) => ({
  description: 'With all its values. The default catalog stays.',
  query: z.object({ type: catalogTypeParameter('Flavor of the catalog.', flavor) }),
  answers: { 204: { description: 'It is gone.' } },
});
