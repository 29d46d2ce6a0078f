import { z } from 'zod';
import { jsonText } from '#platform/http/endpoint/endpoint-schemas.ts';
import type { MetadataCatalog } from './catalog.ts';
import { typeJson } from './catalog-json.ts';
import type { CoreField } from './core-fields.ts';
import { CatalogJson, catalogTypeParameter, FieldJson, FieldsRequest, FLAVOR } from './metadata.schemas.ts';

/** Returns examples of some fields of a default catalog. */
export function exampleFields(fields: readonly CoreField[], ids: readonly string[]): FieldJson[] {
  return fields
    .filter(({ id }) => ids.includes(id))
    .map(({ id, label, type, readOnly, required, example = '' }) => ({
      id,
      label,
      value: typeof example === 'string' ? example : [...example],
      type: typeJson(type),
      readOnly,
      required,
    }));
}

/** Returns the example of a catalog, without its fields. */
export function exampleCatalog({ flavor, title }: MetadataCatalog) {
  return { flavor, title, label: title };
}

/** Returns the properties of fields that a client sends. */
export function sentFields(fields: readonly { id: string; value: unknown }[]) {
  return fields.map(({ id, value }) => ({ id, value }));
}

/** The common declarations of the metadata endpoints of events and series. */

export const readsCatalogs = (example: readonly object[]) => ({
  description: 'Returns all catalogs, the default one last. With `type`, returns the fields of that catalog.',
  query: z.object({
    type: z.string().optional().meta({ description: 'Flavor of a catalog.', pattern: FLAVOR.source }),
  }),
  answers: {
    200: {
      description: 'All catalogs, or the fields of the requested one.',
      body: z.union([z.array(CatalogJson), z.array(FieldJson)]),
      example,
    },
  },
});

export const changesFields = (flavor: string, fields: readonly FieldJson[]) => ({
  description: 'Missing fields keep their values. Read-only fields are ignored.',
  query: z.object({ type: catalogTypeParameter(flavor) }),
  form: {
    schema: z.object({ metadata: jsonText(FieldsRequest, 'The fields to change.') }),
    example: { metadata: JSON.stringify(sentFields(fields).slice(0, 2)) },
  },
});

export const deletesCatalog = (flavor: string) => ({
  description: 'Deletes the catalog with all its values. The default catalog cannot be deleted.',
  query: z.object({ type: catalogTypeParameter(flavor) }),
  answers: { 204: { description: 'The catalog was deleted.' } },
});
