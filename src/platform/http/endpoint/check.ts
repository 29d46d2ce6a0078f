import type { z } from 'zod';
import { badRequest } from '../errors/errors.ts';

/** Says what is wrong where the schema itself has no message for it. */
export type Complaint = NonNullable<z.core.ParseContext<z.core.$ZodIssue>['error']>;

/**
 * What a schema makes of a value. The schema's messages are the sentences that clients get; of several the first counts.
 *
 * @throws {HttpError} 400
 */
export function checked<S extends z.ZodType>(schema: S, value: unknown, complaint?: Complaint): z.output<S> {
  const parsed = schema.safeParse(value, complaint && { error: complaint });
  if (parsed.success) return parsed.data;
  throw badRequest(parsed.error.issues[0]?.message ?? 'The request is invalid.');
}
