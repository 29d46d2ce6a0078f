/** Nobody may wait longer for an answer. */
const LONGEST_MS = 10_000;

/** How often something was asked for while a database was upgraded, and the longest that it took. */
export class Waits {
  count = 0;
  longestMs = 0;

  /** @returns what the work returns */
  async time<T>(work: () => Promise<T>): Promise<T> {
    this.count += 1;
    const started = performance.now();
    try {
      return await work();
    } finally {
      this.longestMs = Math.max(this.longestMs, Math.round(performance.now() - started));
    }
  }

  faults(what: string): string[] {
    return this.longestMs > LONGEST_MS ? [`${what} took ${this.longestMs} ms`] : [];
  }
}
