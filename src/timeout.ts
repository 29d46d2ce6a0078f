/** The runtimes keep times in 32 bits: a timer that is to wait for longer fires at once. */
const LONGEST_MS = 2 ** 31 - 1;

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

/** Settles as the promise does, or rejects with the message after so many milliseconds. */
export async function withTimeout<T>(promise: Promise<T>, ms: number, message: string): Promise<T> {
  let stop: () => void = () => undefined;
  const late = new Promise<never>((_, reject) => {
    stop = runAfter(ms, () => reject(new Error(message)));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    stop();
  }
}
