import { ListenError } from '#platform/http/server/serve.ts';
import { ConfigError } from '#platform/setting/config-error.ts';
import type { Logger } from '#platform/telemetry/log.ts';

/**
 * Runs the start of a process; a failure exits with 1. Errors that an operator can fix are one line, others have a
 * stack.
 */
export async function runEntry(start: () => Promise<void>): Promise<void> {
  try {
    await start();
    // Starting allocates more than serving needs, and V8 would keep that memory.
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  } catch (error) {
    tellFailure(error);
    process.exit(1);
  }
}

/** Prints why a start failed, before a log exists. */
export function tellFailure(error: unknown): void {
  const plain = error instanceof ConfigError || error instanceof ListenError;
  const text = error instanceof Error ? (plain ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`${text}\n`);
}

/** Logs runtime warnings instead of printing them to standard error. */
export function logWarnings(log: Logger): void {
  process.removeAllListeners('warning');
  process.on('warning', (warning) => log.warn({ err: warning }, 'the runtime warns'));
}

/** Logs unhandled rejections: they must not end the uploads of other clients. */
export function logStrayRejections(log: Logger): void {
  process.on('unhandledRejection', (reason) => log.error({ err: reason }, 'a rejection was not handled'));
}
