/** The runtimes keep times in 32 bits: a timer that is to wait for longer fires at once. */
const LONGEST_MS = 2 ** 31 - 1;
/** So many turns of the event loop have a part in a patient wait. */
const TURNS = 10;

/**
 * Calls back once after so many milliseconds, however many they are. What is computed or configured without a bound
 * belongs here and not in `setTimeout`.
 *
 * @returns stops it
 */
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

/** A time that runs out. */
export interface Clock {
  /** What passes from here does not count. */
  hold(): void;
  goOn(): void;
  /** For good. */
  stop(): void;
}

/** Calls back once when so many milliseconds have passed during which the clock was not held. */
export function startClock(ms: number, run: () => void): Clock {
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
    goOn: () => {
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
 * Calls back after so many milliseconds, unless cancelled. A process that gets no processor, or has much to do in each
 * turn of its event loop, is late itself: whatever is waited for may have come and not been looked at. So the time is
 * over only after several turns, too.
 *
 * @returns what cancels it
 */
export function patientTimer(ms: number, late: () => void): () => void {
  let turns = 0;
  let cancel: () => void;
  const wait = () => {
    // Together exactly the time that was asked for.
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

/** Settles as the promise does, or rejects with the message after so many milliseconds. */
export async function withTimeout<T>(promise: Promise<T>, ms: number, message: string): Promise<T> {
  let cancel: () => void = () => undefined;
  const late = new Promise<never>((_, reject) => {
    cancel = patientTimer(ms, () => reject(new Error(message)));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    cancel();
  }
}
