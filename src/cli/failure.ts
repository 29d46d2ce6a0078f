import { ConfigError } from '../config.ts';
import { EmbeddedDatabaseError } from '../database/embedded/error.ts';

/** A command cannot go on. The message is for the person at the terminal. */
export class CommandError extends Error {
  override name = 'CommandError';
}

/** What to print about an error: the message of an expected one, everything about a fault of Inlet's own. */
export function explain(error: unknown): string {
  if (
    error instanceof CommandError ||
    error instanceof ConfigError ||
    error instanceof EmbeddedDatabaseError
  ) {
    return error.message;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** The message of a failed connection; Node wraps one error for each address it tried. */
export function connectionFailure(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error ? first.message : String(first);
}
