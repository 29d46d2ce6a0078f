const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
/** npm passes on the Ctrl-C that the terminal has delivered already. */
const REPEAT_MS = 500;

/** What a person at the terminal wants. */
export interface Interrupts {
  /** Aborts with the first Ctrl-C, SIGTERM or SIGHUP. */
  stop: AbortSignal;
  /** Aborts with the second. */
  hurry: AbortSignal;
  /** The exit code that says by which signal the process was stopped; undefined when it was not. */
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
