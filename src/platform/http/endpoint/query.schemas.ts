import { z } from 'zod';
import { refusal } from '../errors/refusal.ts';

const DIGITS = /^\d{1,16}$/;

export const NO_WHOLE_NUMBER = refusal(
  400,
  (name: string, text: string) =>
    `The parameter '${name}' is ${JSON.stringify(text)}; allowed is a whole number from 0 to ${Number.MAX_SAFE_INTEGER}.`,
  ['limit', 'ten'],
);

/** A switch in a query: only the word `true`, in any case of letters, is true (compatibility 2.6). */
export function flag(description: string) {
  // Zod leaves the default of what is converted out of a document.
  return z
    .preprocess(isTrue, z.boolean())
    .default(false)
    .meta({ description, override: { default: false } });
}

/** A switch in a form, where it is text. */
export const TextFlag = z.string().optional().transform(isTrue);

/** Where a page of a list begins and how long it is. */
export const PAGE = {
  /** Undefined for all, which is also what 0 means. */
  limit: wholeNumber('limit')
    .transform((limit) => limit || undefined)
    .optional()
    .meta({ description: 'How many to return at most.', example: 20 }),
  offset: wholeNumber('offset').optional().meta({
    description: 'How many to skip. For deep paging follow `Link: rel="next"` instead.',
    example: 0,
  }),
};

function isTrue(value: unknown): boolean {
  return typeof value === 'string' && value.toLowerCase() === 'true';
}

/** Digits as a number. An empty text is none. */
function wholeNumber(name: string) {
  const refuse = ({ input }: { input?: unknown }) => NO_WHOLE_NUMBER.sentence(name, String(input).slice(0, 100));
  return z.preprocess(
    (text) => (text === '' ? undefined : numberOf(text)),
    z.int({ error: refuse }).min(0, { error: refuse }).optional(),
  );
}

/** What is no number stays what it is, to be shown to whoever sent it. */
function numberOf(text: unknown): unknown {
  const number = Number(text);
  return typeof text === 'string' && DIGITS.test(text) && Number.isSafeInteger(number) ? number : text;
}
