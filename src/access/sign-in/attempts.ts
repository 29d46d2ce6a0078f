import { createHash } from 'node:crypto';
import { TOO_MANY_WRONG } from '../refusals.ts';
import { Throttle } from './throttle.ts';

/** Counts wrong passwords per account and address, whichever way they came. */
export class Attempts {
  readonly #throttle: Throttle;

  /** @param now milliseconds on a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#throttle = new Throttle(now);
  }

  /** @throws {HttpError} 429 after too many wrong passwords */
  refuseTooMany(username: string, address: string): void {
    const seconds = this.#throttle.waitSeconds(sourceOf(username, address));
    if (seconds > 0) throw TOO_MANY_WRONG().with({ 'Retry-After': String(seconds) });
  }

  failed(username: string, address: string): void {
    this.#throttle.failed(sourceOf(username, address));
  }

  succeeded(username: string, address: string): void {
    this.#throttle.succeeded(sourceOf(username, address));
  }
}

/** Short, however long the name is that somebody made up. */
function sourceOf(username: string, address: string): string {
  return createHash('sha256')
    .update(JSON.stringify([username, address]))
    .digest('base64');
}
