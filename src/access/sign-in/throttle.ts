const WINDOW_MS = 60_000;
const MAX_ENTRIES = 10_000;

/**
 * Counts failures per key within a minute. Bounded: when full, the key that failed first is forgotten, so guessing from
 * very many addresses is slowed by the cost of a verification alone.
 */
export class Throttle {
  readonly #failures = new Map<string, { count: number; until: number }>();
  readonly #most: number;
  readonly #now: () => number;

  /**
   * @param most failures of a key within a minute
   * @param now milliseconds on a clock that never goes back
   */
  constructor(most: number, now: () => number = () => performance.now()) {
    this.#most = most;
    this.#now = now;
  }

  /** Seconds until another attempt is let through; 0 when it may be made now. */
  waitSeconds(key: string): number {
    const entry = this.#current(key);
    return entry && entry.count >= this.#most ? Math.ceil((entry.until - this.#now()) / 1000) : 0;
  }

  failed(key: string): void {
    const entry = this.#current(key) ?? { count: 0, until: this.#now() + WINDOW_MS };
    entry.count += 1;
    this.#failures.set(key, entry);
    const oldest = this.#failures.keys().next();
    if (this.#failures.size > MAX_ENTRIES && !oldest.done) this.#failures.delete(oldest.value);
  }

  /** Takes back a failure that was none. */
  takeBack(key: string): void {
    const entry = this.#current(key);
    if (entry) entry.count = Math.max(0, entry.count - 1);
  }

  succeeded(key: string): void {
    this.#failures.delete(key);
  }

  #current(key: string) {
    const entry = this.#failures.get(key);
    if (entry && entry.until > this.#now()) return entry;
    this.#failures.delete(key);
    return undefined;
  }
}
