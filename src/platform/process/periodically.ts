import type { Logger } from '../telemetry/log.ts';
import { roundSeconds } from '../telemetry/metrics.ts';
import type { Round } from '../telemetry/pulse.ts';

const COMPLAIN_MS = 10_000;

/** Work done again and again, never twice at a time. */
export interface Loop extends Round {
  /** Runs it now, or once more after the run under way. */
  wake(): void;
  /** Runs it no more; resolves when the run under way has ended. */
  close(): Promise<void>;
}

/** When work is done again, in milliseconds. */
export interface Pace {
  /** After a run that nobody asks for another of. */
  pauseMs: number;
  /** Between two runs, however often it is woken: what is done for many wakes together is done once for them. */
  restMs?: number;
}

/** Starts at once, then with a pause after each run. A failed run is logged, at most every ten seconds. */
export function periodically(
  name: string,
  { pauseMs, restMs = 0 }: Pace,
  log: Logger,
  run: () => Promise<unknown>,
): Loop {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let again = false;
  let closed = false;
  let complained = 0;
  let startedAt = 0;
  let endedAt = Number.NEGATIVE_INFINITY;

  const start = () => {
    clearTimeout(timer);
    startedAt = performance.now();
    running = (async () => {
      let outcome = 'done';
      try {
        again = false;
        await run();
      } catch (error) {
        again = false;
        outcome = 'failed';
        if (Date.now() - complained > COMPLAIN_MS) {
          complained = Date.now();
          log.warn({ err: error }, `the ${name} failed and will be run again`);
        }
      }
      running = undefined;
      endedAt = performance.now();
      roundSeconds.observe({ loop: name, outcome }, (endedAt - startedAt) / 1000);
      if (closed) return;
      if (again) soon();
      else timer = setTimeout(start, pauseMs);
    })();
  };
  const soon = () => {
    const restLeft = restMs - (performance.now() - endedAt);
    clearTimeout(timer);
    if (restLeft <= 0) start();
    else timer = setTimeout(start, restLeft);
  };
  start();

  return {
    name,
    runningMs: () => (running ? performance.now() - startedAt : 0),
    wake: () => {
      if (closed) return;
      if (running) again = true;
      else soon();
    },
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
