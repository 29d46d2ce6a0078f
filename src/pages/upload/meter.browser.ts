/** Measures how fast something goes on. */
export interface Meter {
  /** @param bytes all that there are @param now in milliseconds */
  note(bytes: number, now: number): void;
  /** In bytes a second over the last seconds; undefined before there is enough to tell. */
  rate(now: number): number | undefined;
  /** What came before tells nothing of what comes. */
  reset(): void;
}

/** Sent to the browser as its own source text: it refers to nothing outside itself. */
export function createMeter(): Meter {
  const WINDOW_MS = 10_000;
  const ENOUGH_MS = 1_000;
  let samples: { bytes: number; at: number }[] = [];
  return {
    note: (bytes, now) => {
      const last = samples.at(-1);
      // What was sent and did not arrive is sent again.
      if (last && bytes < last.bytes) samples = [];
      samples.push({ bytes, at: now });
      while (samples.length > 2 && (samples[1]?.at ?? now) < now - WINDOW_MS) samples.shift();
    },
    rate: (now) => {
      const [first] = samples;
      const last = samples.at(-1);
      if (!first || !last || now - first.at < ENOUGH_MS) return undefined;
      return ((last.bytes - first.bytes) * 1000) / (now - first.at);
    },
    reset: () => {
      samples = [];
    },
  };
}
