import { z } from 'zod';

/** A moment in UTC, to the second: `YYYY-MM-DDThh:mm:ssZ`. */
export const Instant = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/)
  .meta({ id: 'Instant', description: 'A moment in UTC, to the second.', format: 'date-time' });

/** Text by name. */
export const TextByName = z.record(z.string(), z.string());

const sentAsText = new Map<string, z.ZodType>();

/** The schemas of JSON that form fields hold as text, by their identifiers. */
export function schemasOfTexts(): z.ZodType[] {
  return [...sentAsText.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, schema]) => schema);
}

/** A form field that holds JSON as text. @param schema one with an identifier */
export function jsonText(schema: z.ZodType, description: string) {
  const id = schema.meta()?.id ?? '';
  sentAsText.set(id, schema);
  return z.string().meta({
    description,
    contentMediaType: 'application/json',
    contentSchema: { $ref: `#/components/schemas/${id}` },
  });
}

/** What stands in a path between braces. */
export function pathParameter(description: string, example: string) {
  return z.string().meta({ description, example });
}

/** The headers of an answer that may be asked for again. */
export const TAGGED_HEADERS = z.object({
  ETag: z.string().meta({ description: 'For `If-None-Match`.', example: '"4kYtT8Dq"' }),
});

/** The headers of an answer to what has been created. @param example address of it */
export function createdHeaders(example: string) {
  return z.object({ Location: z.url().meta({ description: 'Where it is.', example }) });
}

/** The address of the server in the reference document's examples. */
export const EXAMPLE_URL = 'https://inlet.example.org';

/** What creating something answers. */
export const Created = z.object({ identifier: z.string() }).meta({ id: 'Created' });
