import { z } from 'zod';

/** A moment in UTC, to the second: `YYYY-MM-DDThh:mm:ssZ`. */
export const Instant = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/)
  .meta({ id: 'Instant', description: 'A moment in UTC, to the second.', format: 'date-time' });

/** Text by name. */
export const TextByName = z.record(z.string(), z.string());

/** A form field that holds JSON as text. */
export function jsonText(schema: { meta(): { id?: string } | undefined }, description: string) {
  const id = schema.meta()?.id;
  return z.string().meta({
    description,
    contentMediaType: 'application/json',
    contentSchema: { $ref: `#/components/schemas/${id}` },
  });
}
