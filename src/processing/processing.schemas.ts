import { z } from 'zod';

/** NUL cannot be stored, and half a surrogate pair is replaced. */
const Storable = z
  .string()
  .refine((text) => !text.includes('\0'))
  .overwrite((text) => text.toWellFormed());

/** Values other than text are kept as their JSON. */
const Value = z
  .unknown()
  .transform((value, context) => {
    try {
      return typeof value === 'string' ? value : JSON.stringify(value);
    } catch {
      // JSON.parse reads more levels than JSON.stringify can write.
      context.addIssue('too deeply nested');
      return z.NEVER;
    }
  })
  .pipe(Storable);

/** The workflow to run on a new event, and its configuration. */
export const Processing = z
  .object({
    workflow: z.string().trim().describe('Identifier of the workflow definition.'),
    configuration: z
      .record(Storable, Value)
      .nullish()
      .describe('Values of its configuration keys: `straightToPublishing: false` keeps the recording internal.'),
  })
  .meta({ id: 'Processing' });
