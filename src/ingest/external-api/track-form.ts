import { z } from 'zod';
import { FLAVOR } from '#catalogue/events/flavor.ts';
import { TextFlag } from '#platform/http/endpoint/query.schemas.ts';
import { refusal } from '#platform/http/errors/refusal.ts';

const TAG_LENGTH = 255;
const MOST_TAGS = 1000;
const NO_FLAVOR = 'the form must have a field flavor with a type and a subtype';

export const UNPARSABLE_FLAVOR = refusal(
  400,
  (flavor: string, reason: string) => `Could not parse flavor ${flavor}; ${reason}`,
  ['captions', 'it must be a type and a subtype with one slash between them'],
);
/** Whatever else is wrong with a track. */
export const CANNOT_ADD = refusal(400, (reason: string) => `Could not add track: ${reason}`, [
  'the form holds no file in the part track.',
]);

/** The flavor of a track: a type and a subtype. The messages say what is wrong with one. */
const Flavor = z
  .string({ error: NO_FLAVOR })
  .trim()
  .min(1, { error: NO_FLAVOR, abort: true })
  .refine((text) => text.split('/').length === 2, {
    error: 'it must be a type and a subtype with one slash between them',
    abort: true,
  })
  .regex(FLAVOR, { error: 'its type and subtype must have 1 to 128 characters each and no blanks' });

const Tag = z
  .string()
  .max(TAG_LENGTH, { error: `a tag is longer than ${TAG_LENGTH} characters.`, abort: true })
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, { error: 'a tag holds a character that nobody can see.' });

/** What a client asks for beside the file of a track. The messages are reasons why it cannot be added. */
export const TrackForm = z.object({
  flavor: Flavor.meta({ description: 'What the track shows.', example: 'captions/source' }),
  tags: z
    .string()
    .optional()
    .transform((text = '') => [...new Set(text.split(',').map((tag) => tag.trim()))].filter((tag) => tag))
    .pipe(z.array(z.string()).max(MOST_TAGS, { error: `there may be ${MOST_TAGS} tags, and here are more.` }))
    .pipe(z.array(Tag))
    .describe('With commas between them.'),
  overwriteExisting: z
    .string()
    .trim()
    .optional()
    .pipe(TextFlag)
    .describe('`true` replaces the tracks of the flavor (and of the same `lang:` tag, if there is one).'),
});

/** What a client asks for beside the file of a track; `overwriteExisting`: whether its like make room for it. */
export type TrackRequest = z.infer<typeof TrackForm>;

/** Reads the form fields of a track. @throws {HttpError} 400 with the sentences clients know (compatibility 3.13) */
export function parseTrackRequest(fields: ReadonlyMap<string, string>): TrackRequest {
  const parsed = TrackForm.safeParse(Object.fromEntries(fields));
  if (parsed.success) return parsed.data;
  const { path = [], message = '' } = parsed.error.issues[0] ?? {};
  if (path[0] !== 'flavor') throw CANNOT_ADD(message);
  const shown = (fields.get('flavor') ?? '').trim().slice(0, 300).replaceAll(/\p{C}/gu, '');
  throw UNPARSABLE_FLAVOR(shown, message);
}
