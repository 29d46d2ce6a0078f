import type { z } from 'zod';
import { badRequest } from './errors.ts';

/**
 * What a schema makes of a value. The schema's messages are the sentences that clients get; of several the first counts.
 *
 * @throws {HttpError} 400
 */
export function checked<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw badRequest(parsed.error.issues[0]?.message ?? 'The request is invalid.');
}
