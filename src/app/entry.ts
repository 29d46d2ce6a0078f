import { ListenError } from '#platform/http/server/serve.ts';
import { ConfigError } from '#platform/setting/config-error.ts';
import type { Logger } from '#platform/telemetry/log.ts';

/**
 * Runs the start of a process. What an operator can mend is said in one line; anything else with its stack. Either way
 * the process ends with 1.
 */
export async function runEntry(start: () => Promise<void>): Promise<void> {
  try {
    await start();
    // Starting leaves more behind than serving needs, and V8 would keep that memory until it is short of it.
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  } catch (error) {
    tellFailure(error);
    process.exit(1);
  }
}

/** Says why a start failed, before there is a log. */
export function tellFailure(error: unknown): void {
  const plain = error instanceof ConfigError || error instanceof ListenError;
  const text = error instanceof Error ? (plain ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`${text}\n`);
}

/** What the runtime warns of goes where everything else goes, in the same form, instead of to standard error. */
export function logWarnings(log: Logger): void {
  process.removeAllListeners('warning');
  process.on('warning', (warning) => log.warn({ err: warning }, 'the runtime warns'));
}

/** A promise nobody waited for must not end the uploads of everybody else; it is a fault to mend all the same. */
export function logStrayRejections(log: Logger): void {
  process.on('unhandledRejection', (reason) => log.error({ err: reason }, 'a rejection was not handled'));
}
