import { createHash } from 'node:crypto';
import { networkOf } from '#platform/text/ip-address.ts';
import { TOO_MANY_WRONG } from '../refusals.ts';
import { Throttle } from './throttle.ts';

/** Wrong passwords within a minute, for one account from one network. */
const PER_ACCOUNT = 20;
/** From one network, whatever the accounts: many people may be behind one address. */
const PER_NETWORK = 200;

/** Counts wrong passwords per account and network, and per network, whichever way they came. */
export class Attempts {
  readonly #accounts: Throttle;
  readonly #networks: Throttle;

  /** @param now milliseconds on a clock that never goes back */
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
    if (seconds > 0) throw TOO_MANY_WRONG().with({ 'Retry-After': String(seconds) });
  }

  failed(username: string, address: string): void {
    this.#accounts.failed(sourceOf(username, address));
    this.#networks.failed(networkOf(address));
  }

  /** What was counted before it was known to be wrong is not. */
  takeBack(username: string, address: string): void {
    this.#accounts.takeBack(sourceOf(username, address));
    this.#networks.takeBack(networkOf(address));
  }

  /** Whoever has one account shall not guess those of others more often: the network is counted on. */
  succeeded(username: string, address: string): void {
    this.#accounts.succeeded(sourceOf(username, address));
  }
}

/** Short, however long the name is that somebody made up. */
function sourceOf(username: string, address: string): string {
  return createHash('sha256')
    .update(JSON.stringify([username, networkOf(address)]))
    .digest('base64');
}
