import { z } from 'zod';
import { refusal } from '../errors/refusal.ts';

const DIGITS = /^\d{1,16}$/;

export const NO_WHOLE_NUMBER = refusal(
  400,
  (name: string, text: string) =>
    `The parameter '${name}' is ${JSON.stringify(text)}; allowed is a whole number from 0 to ${Number.MAX_SAFE_INTEGER}.`,
  ['limit', 'ten'],
);

/** Returns a schema of a flag in a query: only `true`, in any case, is true (compatibility 2.6). */
export function flag(description: string) {
  // Zod omits defaults of preprocessed values from documents.
  return z
    .preprocess(isTrue, z.boolean())
    .default(false)
    .meta({ description, override: { default: false } });
}

export const TextFlag = z.string().optional().transform(isTrue);

export const PAGE = {
  /** 0 also means all. */
  limit: wholeNumber('limit')
    .transform((limit) => limit || undefined)
    .optional()
    .meta({ description: 'Maximum number of items.', example: 20 }),
  offset: wholeNumber('offset').optional().meta({
    description: 'Number of items to skip. For deep paging, follow `Link: rel="next"` instead.',
    example: 0,
  }),
};

function isTrue(value: unknown): boolean {
  return typeof value === 'string' && value.toLowerCase() === 'true';
}

/** Accepts digits. Empty text counts as missing. */
function wholeNumber(name: string) {
  const refuse = ({ input }: { input?: unknown }) => NO_WHOLE_NUMBER.sentence(name, String(input).slice(0, 100));
  return z.preprocess(
    (text) => (text === '' ? undefined : numberOf(text)),
    z.int({ error: refuse }).min(0, { error: refuse }).optional(),
  );
}

/** Returns other text unchanged, to quote it in the error. */
function numberOf(text: unknown): unknown {
  const number = Number(text);
  return typeof text === 'string' && DIGITS.test(text) && Number.isSafeInteger(number) ? number : text;
}
