import { createHash } from 'node:crypto';
import { Throttle } from '#platform/http/server/throttle.ts';
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
    this.#accounts.count(sourceOf(username, address));
    this.#networks.count(networkOf(address));
  }

  /** Reverts an attempt that was counted before its check. */
  takeBack(username: string, address: string): void {
    this.#accounts.takeBack(sourceOf(username, address));
    this.#networks.takeBack(networkOf(address));
  }

  /** Resets the failures of the account, but not of its network: an account must not help to guess other accounts. */
  succeeded(username: string, address: string): void {
    this.#accounts.reset(sourceOf(username, address));
  }
}

/** Hashes account and network, so that a long name takes no memory. */
function sourceOf(username: string, address: string): string {
  return createHash('sha256')
    .update(JSON.stringify([username, networkOf(address)]))
    .digest('base64');
}
