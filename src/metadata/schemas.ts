import { z } from 'zod';
import { PAGE } from '#platform/http/endpoint/query.schemas.ts';

const FLAVOR = /^[^/]+\/[^/]+$/;

const filled = z.string().refine((text) => text.trim() !== '');

/** Values that are neither text nor list are taken as their JSON text; null is the empty value. */
const Value = z.union([
  z.null(),
  z.string(),
  z.array(z.unknown()),
  z.number(),
  z.boolean(),
  z.record(z.string(), z.unknown()),
]);

/** The parameter `type`: the flavor of a catalog, a type and a subtype with a slash between them. */
export const CatalogType = z.string().regex(FLAVOR);

/**
 * The query parameter that names a catalog by its flavor. It is read as it was sent, since each endpoint says in its own
 * words what is wrong with it.
 */
export function catalogTypeParameter(description: string, example: string) {
  // What is caught is documented as if it were required.
  return z.string().catch('').meta({ description, pattern: FLAVOR.source, example });
}

/** The same, of an endpoint that answers about all catalogs when none is named. */
export function optionalCatalogType(description: string) {
  return z.string().optional().meta({ description, pattern: FLAVOR.source });
}

/** Which values of a list provider to answer. */
export const ListQuery = z.object({
  filter: z.string().optional().describe('Only values or labels that hold this.'),
  ...PAGE,
});

/** A field in requests. Further properties, such as those that responses have, are ignored. */
export const FieldRequest = z.looseObject({
  id: filled.meta({ description: 'Identifier of the field', example: 'title' }),
  value: Value.meta({ description: 'The new value; null empties the field', example: 'Lecture 1' }),
});

/** `[{id, value}]`: the fields of one catalog that are to change. */
export const FieldsRequest = z.array(FieldRequest).meta({ id: 'MetadataValues' });

/** A catalog in requests. */
export const CatalogRequest = z.looseObject({
  flavor: filled.meta({ description: 'Flavor of the catalog', example: 'dublincore/episode' }),
  fields: FieldsRequest.nullish(),
  label: z.unknown().optional().meta({ description: 'Ignored' }),
  title: z.unknown().optional().meta({ description: 'Ignored' }),
});

/** The form field `metadata` of a new event or series, and of a full update. */
export const CatalogsRequest = z.array(CatalogRequest).meta({ id: 'MetadataCatalogs' });

/** A field in responses. */
export const FieldJson = z
  .object({
    id: z.string(),
    label: z.string().meta({ description: 'Translation key' }),
    value: z.union([z.string(), z.array(z.string()), z.boolean()]),
    type: z.enum(['text', 'text_long', 'ordered_text', 'mixed_text', 'boolean', 'number', 'date', 'time']),
    readOnly: z.boolean(),
    required: z.boolean(),
    translatable: z.boolean().optional(),
    delimiter: z.string().optional(),
    collection: z
      .record(z.string(), z.string())
      .optional()
      .meta({ description: 'Suggested values, each with its label' }),
  })
  .meta({ id: 'MetadataField' });
export type FieldJson = z.infer<typeof FieldJson>;

/** A catalog in responses. */
export const CatalogJson = z
  .object({
    flavor: z.string(),
    title: z.string().meta({ description: 'Translation key' }),
    label: z.string().meta({ description: 'The same as title' }),
    fields: z.array(FieldJson),
    locked: z
      .string()
      .optional()
      .meta({ description: 'Present while a workflow keeps the catalog from being changed' }),
  })
  .meta({ id: 'MetadataCatalog' });
export type CatalogJson = z.infer<typeof CatalogJson>;
