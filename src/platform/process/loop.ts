import type { Logger } from '../telemetry/log.ts';
import { roundSeconds } from '../telemetry/metrics.ts';
import type { MonitoredLoop } from '../telemetry/pulse.ts';

const COMPLAIN_MS = 10_000;

export interface Loop extends MonitoredLoop {
  /** Runs now, or once more after the current run. */
  wake(): void;
  /** Stops; resolves when the current run has finished. */
  close(): Promise<void>;
}

/**
 * Repeats work, starting immediately. Logs a failed run, at most every ten seconds.
 *
 * @param pace.restMs minimum between two runs, even when woken
 */
export function startLoop(
  name: string,
  { pauseMs, restMs = 0 }: { pauseMs: number; restMs?: number },
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
