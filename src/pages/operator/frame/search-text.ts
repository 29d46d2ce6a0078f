import { z } from 'zod';
import { quoted } from '#platform/text/excerpt.ts';

/** The longest text to search for, in characters. */
export const MAX_SEARCH = 255;
const CONTROL = /\p{Cc}/u;

/** Returns the schema of a parameter with a text to search for. */
export function searchText(parameter: string) {
  return z
    .string()
    .refine((text) => [...text].length <= MAX_SEARCH && !CONTROL.test(text) && text.isWellFormed(), {
      error: ({ input }) =>
        `The parameter '${parameter}' is ${quoted(input)}; it must have at most ${MAX_SEARCH} characters, none of them a control character.`,
    })
    .optional();
}
