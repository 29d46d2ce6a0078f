import { BackupError } from '#maintenance/backup/manifest.ts';
import { SourceUnusable } from '#maintenance/import/catalogue-source.ts';
import { ExportFolderError } from '#maintenance/import/folder-format.ts';
import { EmbeddedDatabaseError } from '#platform/database/embedded/embedded-paths.ts';
import { ConfigError } from '#platform/setting/value-kinds.ts';

/** An expected failure of a command. Only the message is shown. */
export class CommandError extends Error {
  override name = 'CommandError';
}

const EXPECTED = [CommandError, BackupError, ExportFolderError, SourceUnusable, ConfigError, EmbeddedDatabaseError];
/** Limits circular causes. */
const MOST_CAUSES = 8;

/** Returns the text to print: the message of an expected error, stack and causes of other errors. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (EXPECTED.some((expected) => error instanceof expected)) return error.message;
  return [error.stack ?? error.message, ...causes(error).map((text) => `Caused by: ${text}`)].join('\n');
}

/** Returns the messages of the causes, which the stack lacks. Other properties may be secret. */
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

/** Returns the message of a failed connection. Node wraps one error for each address that it tried. */
export function connectionFailure(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error ? first.message : String(first);
}
