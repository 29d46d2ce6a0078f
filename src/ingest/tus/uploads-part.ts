import { z } from 'zod';
import { FLAVOR } from '#catalogue/events/flavor.ts';
import { jsonText } from '#platform/http/endpoint/schemas.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { FLAVORS, flavorOf } from '../event-form.ts';
import { TAKE_REFUSALS, type UploadOf } from './take.ts';

const MOST = 10;
const NAME = 'uploads';
const FIELDS = Object.keys(FLAVORS);
/** What may be the name of an upload. */
const ID = /^[\w-]{1,64}$/;
const NO_ID = 'it must be the last part of the address of an upload';

export const UNPARSABLE_UPLOADS = refusal(
  400,
  (reason: string) => `The part '${NAME}' cannot be read: ${reason}.`,
  ["it must be a JSON array of objects with an 'id' and a 'field' or 'flavor'"],
);

const upload = z
  .object(
    {
      id: z
        .string({ error: NO_ID })
        .regex(ID, { error: NO_ID })
        .meta({ description: 'The last part of the address of the upload.' }),
      field: z
        .enum(FIELDS, { error: `it must be one of ${FIELDS.join(', ')}` })
        .optional()
        .meta({ description: 'As which part it would have come.' }),
      flavor: z
        .string()
        .regex(FLAVOR, { error: 'it must be a type and a subtype with a slash between them' })
        .optional()
        .meta({ description: 'What it shows; without one and without a `field`, as it was begun.' }),
    },
    { error: "it must be an object with an 'id' and a 'field' or 'flavor'" },
  )
  .refine(({ field, flavor }) => field === undefined || flavor === undefined, {
    error: "it has a 'field' and a 'flavor', where one is needed",
  });
const Uploads = z
  .array(upload, { error: "it must be a JSON array of objects with an 'id' and a 'field' or 'flavor'" })
  .max(MOST, { error: `it names more than ${MOST} uploads` })
  .refine((all) => new Set(all.map(({ id }) => id)).size === all.length, {
    error: 'it names an upload twice',
  });

/** The form field that names finished uploads. */
export const uploadsPart = jsonText(
  Uploads.meta({
    id: 'FinishedUploads',
    example: [{ id: '0Zb1cUuY4mWkqS3eX7tFvJ9hNpLrDaGi', field: 'presenter' }],
  }),
  'Finished uploads that become tracks, beside and after those in parts with files.',
);

/** What a request that names finished uploads may meet. */
export const FINISHED_UPLOADS_REFUSALS = [UNPARSABLE_UPLOADS, ...TAKE_REFUSALS];

/**
 * Reads the form field `uploads`; an empty one counts as absent.
 *
 * @throws {HttpError} 400 for what is no such list
 */
export function parseUploads(fields: ReadonlyMap<string, string>): UploadOf[] {
  const text = fields.get(NAME)?.trim();
  if (!text) return [];
  const parsed = Uploads.safeParse(jsonOf(text));
  if (!parsed.success) {
    const { path = [], message = '' } = parsed.error.issues[0] ?? {};
    throw UNPARSABLE_UPLOADS([...path.map((step) => `${String(step)}:`), message].join(' '));
  }
  return parsed.data.map(({ id, field, flavor }) => ({ id, flavor: field ? flavorOf(field) : flavor }));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
