/** Timers of the runtimes have 32 bits: a longer delay fires immediately. */
const LONGEST_MS = 2 ** 31 - 1;
/** Event loop turns in a patient wait. */
const TURNS = 10;

/** Calls back after any delay; use it instead of `setTimeout` for unbounded ones. @returns cancels it */
export function runAfter(ms: number, run: () => void): () => void {
  const due = performance.now() + ms;
  let timer: NodeJS.Timeout;
  const wait = () => {
    const left = Math.ceil(due - performance.now());
    if (left > LONGEST_MS) timer = setTimeout(wait, LONGEST_MS);
    else timer = setTimeout(run, left);
  };
  wait();
  return () => clearTimeout(timer);
}

/** A countdown that can be paused. */
export type Clock = ReturnType<typeof startClock>;

/** Calls back once when the clock has run for so many milliseconds, without pauses. */
export function startClock(ms: number, run: () => void) {
  let left = ms;
  let since = performance.now();
  let cancel: (() => void) | undefined = runAfter(left, run);
  let stopped = false;
  const hold = () => {
    if (!cancel) return;
    cancel();
    cancel = undefined;
    left -= performance.now() - since;
  };
  return {
    hold,
    resume: () => {
      if (cancel || stopped) return;
      since = performance.now();
      cancel = runAfter(left, run);
    },
    stop: () => {
      stopped = true;
      hold();
    },
  };
}

/**
 * Calls back after a delay that is split over several turns of the event loop: on a busy process, awaited data may have
 * arrived without being processed.
 *
 * @returns cancels it
 */
export function startTolerantTimer(ms: number, late: () => void): () => void {
  let turns = 0;
  let cancel: () => void;
  const wait = () => {
    // The slices add up to exactly `ms`.
    const slice = Math.floor((ms * (turns + 1)) / TURNS) - Math.floor((ms * turns) / TURNS);
    cancel = runAfter(slice, () => {
      turns += 1;
      if (turns === TURNS) late();
      else wait();
    });
  };
  wait();
  return () => cancel();
}

/** Settles like the promise, or rejects with the message after so many milliseconds. */
export async function withTimeout<T>(promise: Promise<T>, ms: number, message: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const cancel = startTolerantTimer(ms, () => late.reject(new Error(message)));
  return Promise.race([promise, late.promise]).finally(cancel);
}
