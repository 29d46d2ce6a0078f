import { z } from 'zod';
import { badRequest, refusal } from '../errors/errors.ts';

/** An instant in UTC, to the second: `YYYY-MM-DDThh:mm:ssZ`. */
export const Instant = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/)
  .meta({ id: 'Instant', description: 'An instant in UTC, to the second.', format: 'date-time' });

export const TextByName = z.record(z.string(), z.string());

const sentAsText = new Map<string, z.ZodType>();

/** Returns the schemas of JSON in form fields, sorted by identifier. */
export function schemasOfTexts(): z.ZodType[] {
  return [...sentAsText.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, schema]) => schema);
}

/** Declares a form field that holds JSON as text. @param schema must have an identifier */
export function jsonText(schema: z.ZodType, description: string) {
  const id = schema.meta()?.id ?? '';
  sentAsText.set(id, schema);
  return z.string().meta({
    description,
    contentMediaType: 'application/json',
    contentSchema: { $ref: `#/components/schemas/${id}` },
  });
}

export function pathParameter(description: string, example: string) {
  return z.string().meta({ description, example });
}

export const TAGGED_HEADERS = z.object({
  ETag: z.string().meta({ description: 'For `If-None-Match`.', example: '"4kYtT8Dq"' }),
});

/** Declares the headers of a 201 response. @param example URL of the new resource */
export function createdHeaders(example: string) {
  return z.object({ Location: z.url().meta({ description: 'URL of the new resource.', example }) });
}

/** The base URL in examples of the reference document. */
export const EXAMPLE_URL = 'https://inlet.example.org';

export const Created = z.object({ identifier: z.string() }).meta({ id: 'Created' });

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

/** A message for an issue whose schema has none. */
export type IssueMessage = NonNullable<z.core.ParseContext<z.core.$ZodIssue>['error']>;

/** Parses a value. Clients get the message of the first issue. @throws {HttpError} 400 */
export function parseInput<S extends z.ZodType>(schema: S, value: unknown, complaint?: IssueMessage): z.output<S> {
  const parsed = schema.safeParse(value, complaint && { error: complaint });
  if (parsed.success) return parsed.data;
  throw badRequest(parsed.error.issues[0]?.message ?? 'The request is invalid.');
}
