import { z } from 'zod';
import { refusal } from '#platform/http/errors/errors.ts';
import { quoted } from '#platform/text/excerpt.ts';

/** The latest date of the database. */
const LATEST_MS = Date.UTC(9999, 11, 31);

export const WRONG_TIME = refusal(
  400,
  (name: string, text: unknown) =>
    `The parameter '${name}' is ${quoted(text)}; allowed are milliseconds since 1970, such as 1790000000000.`,
  ['start', 'tomorrow'],
);

/** Declares a time in milliseconds since 1970. Empty text counts as missing. */
export function milliseconds(name: string) {
  const error = ({ input }: { input?: unknown }) => WRONG_TIME.sentence(name, input);
  return z
    .string()
    .trim()
    .regex(/^\d{0,15}$/, { error })
    .refine((text) => Number(text) <= LATEST_MS, { error })
    .optional()
    .transform((text) => (text ? new Date(Number(text)) : undefined));
}
