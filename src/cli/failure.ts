import { EmbeddedDatabaseError } from '#platform/database/embedded/error.ts';
import { ConfigError } from '#platform/setting/config-error.ts';

/** A command cannot go on. The message is for the person at the terminal. */
export class CommandError extends Error {
  override name = 'CommandError';
}

/** However causes go round. */
const MOST_CAUSES = 8;

/** What to print about an error: the message of an expected one, everything about a fault of Inlet's own. */
export function explain(error: unknown): string {
  if (error instanceof CommandError || error instanceof ConfigError || error instanceof EmbeddedDatabaseError) {
    return error.message;
  }
  if (!(error instanceof Error)) return String(error);
  return [error.stack ?? error.message, ...causes(error).map((text) => `Caused by: ${text}`)].join('\n');
}

/** The messages of what caused an error, which no stack has. Nothing else: what errors carry beside may be secret. */
function causes(error: Error): string[] {
  const messages: string[] = [];
  for (let cause = causeOf(error), i = 0; cause !== undefined && i < MOST_CAUSES; i += 1) {
    const message = cause instanceof Error ? cause.message : typeof cause === 'string' ? cause : '';
    if (message !== '') messages.push(message);
    cause = causeOf(cause);
  }
  return messages;
}

function causeOf(error: unknown): unknown {
  if (error instanceof AggregateError) return error.errors[0];
  return error instanceof Error ? error.cause : undefined;
}

/** The message of a failed connection; Node wraps one error for each address it tried. */
export function connectionFailure(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error ? first.message : String(first);
}
