import { z } from 'zod';
import { TextFlag } from '../http/query.schemas.ts';

const FLAVOR = /^[^/\s\p{C}]{1,128}\/[^/\s\p{C}]{1,128}$/u;
const TAG_LENGTH = 255;
const MOST_TAGS = 1000;
const NO_FLAVOR = 'the form must have a field flavor with a type and a subtype';

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
