import { z } from 'zod';

export const FLAVOR = /^[^/]+\/[^/]+$/;

const filled = z.string().refine((text) => text.trim() !== '');

/** Values other than texts and lists are stored as their JSON text. Null is the empty value. */
const Value = z.union([
  z.null(),
  z.string(),
  z.array(z.unknown()),
  z.number(),
  z.boolean(),
  z.record(z.string(), z.unknown()),
]);

/** The flavor of a catalog: `type/subtype`. */
export const CatalogType = z.string().regex(FLAVOR);

/** Returns the query parameter `type`. It accepts any text, because each endpoint refuses it with its own sentence. */
export function catalogTypeParameter(example: string) {
  // The document shows a schema with `catch` as required.
  return z.string().catch('').meta({ description: 'Flavor of the catalog.', pattern: FLAVOR.source, example });
}

/** A field in requests. Other properties are ignored. */
export const FieldRequest = z.looseObject({
  id: filled.meta({ description: 'Identifier of the field', example: 'title' }),
  value: Value.meta({ description: 'The new value; null empties the field', example: 'Lecture 1' }),
});

/** `[{id, value}]`: the changed fields of one catalog. */
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
    locked: z.string().optional().meta({ description: 'Present while an active workflow locks the catalog' }),
  })
  .meta({ id: 'MetadataCatalog' });
export type CatalogJson = z.infer<typeof CatalogJson>;
