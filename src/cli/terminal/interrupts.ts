const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
/** npm repeats the Ctrl-C that the terminal has already delivered. */
const REPEAT_MS = 500;

export interface Interrupts {
  /** Aborted by the first Ctrl-C, SIGTERM or SIGHUP. */
  stop: AbortSignal;
  /** Aborted by the second. */
  hurry: AbortSignal;
  /** Returns the exit code for the signal; undefined without one. */
  exitCode(): number | undefined;
}

export function watchInterrupts(): Interrupts {
  const stop = new AbortController();
  const hurry = new AbortController();
  let exitCode: number | undefined;
  let first = 0;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (exitCode === undefined) {
        exitCode = EXIT_CODES[signal];
        first = performance.now();
        stop.abort();
      } else if (performance.now() - first >= REPEAT_MS) hurry.abort();
    });
  }
  return { stop: stop.signal, hurry: hurry.signal, exitCode: () => exitCode };
}
