import { createHash } from 'node:crypto';
import { networkOf } from '#platform/text/ip-address.ts';
import { TOO_MANY_WRONG_PASSWORDS } from '../access-errors.ts';

/** Wrong passwords per minute for one account from one network. */
const PER_ACCOUNT = 20;
/** Wrong passwords per minute from one network; many people may share an address. */
const PER_NETWORK = 200;

/** Counts wrong passwords per account and network, and per network, for all authentication methods. */
export class SignInAttempts {
  readonly #accounts: Throttle;
  readonly #networks: Throttle;

  constructor(now: () => number = () => performance.now()) {
    this.#accounts = new Throttle(PER_ACCOUNT, now);
    this.#networks = new Throttle(PER_NETWORK, now);
  }

  /** @throws {HttpError} 429 after too many wrong passwords */
  refuseTooMany(username: string, address: string): void {
    const seconds = Math.max(
      this.#accounts.waitSeconds(sourceOf(username, address)),
      this.#networks.waitSeconds(networkOf(address)),
    );
    if (seconds > 0) throw TOO_MANY_WRONG_PASSWORDS().with({ 'Retry-After': String(seconds) });
  }

  failed(username: string, address: string): void {
    this.#accounts.failed(sourceOf(username, address));
    this.#networks.failed(networkOf(address));
  }

  /** Reverts an attempt that was counted before its check. */
  takeBack(username: string, address: string): void {
    this.#accounts.takeBack(sourceOf(username, address));
    this.#networks.takeBack(networkOf(address));
  }

  /** Resets the failures of the account, but not of its network: an account must not help to guess other accounts. */
  succeeded(username: string, address: string): void {
    this.#accounts.succeeded(sourceOf(username, address));
  }
}

/** Hashes account and network, so that a long name takes no memory. */
function sourceOf(username: string, address: string): string {
  return createHash('sha256')
    .update(JSON.stringify([username, networkOf(address)]))
    .digest('base64');
}

const WINDOW_MS = 60_000;
const MAX_ENTRIES = 10_000;

/** Counts failures per key and minute. Bounded: the oldest key is dropped first. */
class Throttle {
  readonly #failures = new Map<string, { count: number; until: number }>();
  readonly #most: number;
  readonly #now: () => number;

  constructor(most: number, now: () => number) {
    this.#most = most;
    this.#now = now;
  }

  /** Returns the seconds until the next allowed attempt; 0 if it is allowed now. */
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
