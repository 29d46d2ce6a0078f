import { z } from 'zod';
import { TextByName } from '#platform/http/endpoint/schemas.ts';
import { PROPERTIES_UNPARSABLE } from './refusals.ts';

const NAME_BYTES = 255;
const VALUE_BYTES = 100_000;
const UNPARSABLE = PROPERTIES_UNPARSABLE.example;

/** The name of a property. */
export const PropertyName = fitting(NAME_BYTES);

/** The value of a property: anything but null; what is no text is taken as its JSON. */
export const PropertyValue = z
  .unknown()
  .transform((value, context) => {
    try {
      if (value !== null) return typeof value === 'string' ? value : JSON.stringify(value);
    } catch {
      // JSON.parse reads more levels than JSON.stringify can write.
    }
    context.addIssue(UNPARSABLE);
    return z.NEVER;
  })
  .pipe(fitting(VALUE_BYTES));

/** The form field `properties`. */
export const PropertiesRequest = z.record(PropertyName, PropertyValue).meta({
  id: 'SeriesPropertiesRequest',
  description: 'Text by name. Any other value but null is kept as its JSON text.',
});

/** Properties of a series. */
export const SeriesProperties = TextByName.meta({ id: 'SeriesProperties' });

/** Properties as they were sent: values that are no text are kept as text, but answered as they came. */
export const PropertiesEcho = z.record(z.string(), z.unknown());

/** PostgreSQL's JSON holds neither NUL nor half a surrogate pair. */
function fitting(bytes: number) {
  return z
    .string()
    .refine((text) => !text.includes('\0') && text.isWellFormed(), { error: UNPARSABLE, abort: true })
    .refine((text) => Buffer.byteLength(text) <= bytes, {
      error: ({ input }) =>
        `'${String(input).slice(0, 50).toWellFormed()}...' is longer than ${bytes} bytes of UTF-8.`,
    });
}
