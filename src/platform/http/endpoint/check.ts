import type { z } from 'zod';
import { badRequest } from '../errors/errors.ts';

/** A message for an issue whose schema has none. */
export type IssueMessage = NonNullable<z.core.ParseContext<z.core.$ZodIssue>['error']>;

/** Parses a value. Clients get the message of the first issue. @throws {HttpError} 400 */
export function parseInput<S extends z.ZodType>(schema: S, value: unknown, complaint?: IssueMessage): z.output<S> {
  const parsed = schema.safeParse(value, complaint && { error: complaint });
  if (parsed.success) return parsed.data;
  throw badRequest(parsed.error.issues[0]?.message ?? 'The request is invalid.');
}
