const WINDOW_MS = 60_000;
const MAX_ENTRIES = 10_000;

/** Counts attempts per key and minute. Bounded: the oldest key is dropped first. */
export class Throttle {
  readonly #attempts = new Map<string, { count: number; until: number }>();
  readonly #most: number;
  readonly #now: () => number;

  /** @param most attempts per key and minute */
  constructor(most: number, now: () => number = () => performance.now()) {
    this.#most = most;
    this.#now = now;
  }

  /** Returns the seconds until the next allowed attempt; 0 if it is allowed now. */
  waitSeconds(key: string): number {
    const entry = this.#current(key);
    return entry && entry.count >= this.#most ? Math.ceil((entry.until - this.#now()) / 1000) : 0;
  }

  count(key: string): void {
    const entry = this.#current(key) ?? { count: 0, until: this.#now() + WINDOW_MS };
    entry.count += 1;
    this.#attempts.set(key, entry);
    const oldest = this.#attempts.keys().next();
    if (this.#attempts.size > MAX_ENTRIES && !oldest.done) this.#attempts.delete(oldest.value);
  }

  takeBack(key: string): void {
    const entry = this.#current(key);
    if (entry) entry.count = Math.max(0, entry.count - 1);
  }

  reset(key: string): void {
    this.#attempts.delete(key);
  }

  #current(key: string) {
    const entry = this.#attempts.get(key);
    if (entry && entry.until > this.#now()) return entry;
    this.#attempts.delete(key);
    return undefined;
  }
}
