import { z } from 'zod';
import { quoted } from '#capture/agents/names.ts';
import { FLAVOR } from '#catalogue/events/flavor.ts';
import { refusal } from '#platform/http/errors/refusal.ts';

const MOST_TAGS = 1000;
const TAG = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

export const NO_FLAVOR = refusal(
  400,
  "Missing form parameter 'flavor'; it must stand before the file it is about.",
);
export const WRONG_FLAVOR = refusal(
  400,
  (flavor: string) =>
    `The form parameter 'flavor' is ${quoted(flavor)}; allowed are a type and a subtype of 1 to 128 characters without blanks, and one slash between them.`,
  ['presenter'],
);
export const WRONG_TAGS = refusal(
  400,
  (tags: string) =>
    `The form parameter 'tags' is ${quoted(tags)}; allowed are up to ${MOST_TAGS} tags of up to 255 visible characters, with commas between them.`,
  ['\u0007'],
);

/** The form fields of a part of a media package, as the reference document has them. */
export const ElementFields = {
  flavor: z
    .string()
    .meta({ description: 'What it shows. Before the file it is about.', example: 'presenter/source' }),
  tags: z.string().optional().describe('With commas between them; may be empty.'),
};

/** @throws {HttpError} 400 */
export function flavorIn(text: string | undefined): string {
  const flavor = text?.trim();
  if (!flavor) throw NO_FLAVOR();
  if (!FLAVOR.test(flavor)) throw WRONG_FLAVOR(flavor);
  return flavor;
}

/** @throws {HttpError} 400 */
export function tagsIn(text = ''): string[] {
  const tags = [...new Set(text.split(',').map((tag) => tag.trim()))].filter((tag) => tag !== '');
  if (tags.length > MOST_TAGS || !tags.every((tag) => TAG.test(tag))) throw WRONG_TAGS(text);
  return tags;
}
