import { z } from 'zod';

/** NUL cannot be stored, and of half a character only its place is kept. */
const Storable = z
  .string()
  .refine((text) => !text.includes('\0'))
  .overwrite((text) => text.toWellFormed());

/** Anything but text is kept as its JSON. */
const Value = z
  .unknown()
  .transform((value, context) => {
    try {
      return typeof value === 'string' ? value : JSON.stringify(value);
    } catch {
      // JSON.parse reads more levels than JSON.stringify can write.
      context.addIssue('It has too many levels.');
      return z.NEVER;
    }
  })
  .pipe(Storable);

/** Which workflow to run on a new event, and with which values. */
export const Processing = z
  .object({
    workflow: z.string().trim().describe('Identifier of the workflow definition.'),
    configuration: z
      .record(Storable, Value)
      .nullish()
      .describe('Values of its configuration keys: `straightToPublishing` is `false` for what is to be kept internal.'),
  })
  .meta({ id: 'Processing' });
