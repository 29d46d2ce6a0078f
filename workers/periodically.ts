import type { Round } from '../src/pulse.ts';
import type { Logger } from '../src/telemetry.ts';

const COMPLAIN_MS = 10_000;

/** Work done again and again, never twice at a time. */
export interface Loop extends Round {
  /** Runs it now, or once more right after the run under way. */
  wake(): void;
  /** Runs it no more; resolves when the run under way has ended. */
  close(): Promise<void>;
}

/** A part of a worker process that lives by loops. */
export interface Part {
  readonly loops: readonly Loop[];
  close(): Promise<void>;
}

/** Starts at once, then with a pause after each run. A failed run is logged, at most every ten seconds. */
export function periodically(name: string, pauseMs: number, log: Logger, run: () => Promise<unknown>): Loop {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let again = false;
  let closed = false;
  let complained = 0;
  let startedAt = 0;

  const start = () => {
    clearTimeout(timer);
    startedAt = performance.now();
    running = (async () => {
      try {
        again = false;
        await run();
      } catch (error) {
        again = false;
        if (Date.now() - complained > COMPLAIN_MS) {
          complained = Date.now();
          log.warn({ err: error }, `the ${name} failed and will be run again`);
        }
      }
      running = undefined;
      if (closed) return;
      if (again) start();
      else timer = setTimeout(start, pauseMs);
    })();
  };
  start();

  return {
    name,
    runningMs: () => (running ? performance.now() - startedAt : 0),
    wake: () => {
      if (closed) return;
      if (running) again = true;
      else start();
    },
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
