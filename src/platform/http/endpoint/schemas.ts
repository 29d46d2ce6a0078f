import { z } from 'zod';

/** An instant in UTC, to the second: `YYYY-MM-DDThh:mm:ssZ`. */
export const Instant = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/)
  .meta({ id: 'Instant', description: 'An instant in UTC, to the second.', format: 'date-time' });

export const TextByName = z.record(z.string(), z.string());

const sentAsText = new Map<string, z.ZodType>();

/** Returns the schemas of JSON in form fields, sorted by identifier. */
export function schemasOfTexts(): z.ZodType[] {
  return [...sentAsText.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, schema]) => schema);
}

/** Declares a form field that holds JSON as text. @param schema must have an identifier */
export function jsonText(schema: z.ZodType, description: string) {
  const id = schema.meta()?.id ?? '';
  sentAsText.set(id, schema);
  return z.string().meta({
    description,
    contentMediaType: 'application/json',
    contentSchema: { $ref: `#/components/schemas/${id}` },
  });
}

export function pathParameter(description: string, example: string) {
  return z.string().meta({ description, example });
}

export const TAGGED_HEADERS = z.object({
  ETag: z.string().meta({ description: 'For `If-None-Match`.', example: '"4kYtT8Dq"' }),
});

/** Declares the headers of a 201 response. @param example URL of the new resource */
export function createdHeaders(example: string) {
  return z.object({ Location: z.url().meta({ description: 'URL of the new resource.', example }) });
}

/** The base URL in examples of the reference document. */
export const EXAMPLE_URL = 'https://inlet.example.org';

export const Created = z.object({ identifier: z.string() }).meta({ id: 'Created' });
