import type { Directory, KnownAccount } from '../accounts/directory.ts';
import { verifyPassword } from '../accounts/password.ts';
import type { Principal } from '../principal.ts';
import { TOO_MANY_AT_ONCE } from '../refusals.ts';
import { Attempts } from './attempts.ts';
import { VerifiedCredentialsCache } from './verified-credentials.ts';

/** How long a removed or changed account may still be let in. */
export const FRESH_MS = 60_000;
/** Verifications at once: each takes a processor and 16 MiB. */
const PARALLEL = 2;
const MAX_WAITING = 64;

/** What is remembered of a user name and password that were right. */
interface VerifiedPassword extends KnownAccount {
  /** `performance.now()` when the account was last read. */
  readAt: number;
}

/**
 * Finds out who somebody is by user name and password. An unknown user takes as long to refuse as a wrong password;
 * known credentials cost a digest, and every minute a look at the account's row.
 */
export class Authenticator {
  readonly #directory: Pick<Directory, 'find' | 'adminHash'>;
  readonly #now: () => number;
  readonly #cache = new VerifiedCredentialsCache<VerifiedPassword>();
  readonly #attempts: Attempts;
  readonly #pending = new Map<string, Promise<KnownAccount | undefined>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /**
   * @param now milliseconds on a clock that never goes back
   * @param attempts where wrong passwords are counted that come in other ways as well
   */
  constructor(
    directory: Pick<Directory, 'find' | 'adminHash'>,
    now: () => number = () => performance.now(),
    attempts: Attempts = new Attempts(now),
  ) {
    this.#directory = directory;
    this.#now = now;
    this.#attempts = attempts;
  }

  /**
   * @param address where the request comes from; wrong passwords are counted per account and address
   * @returns undefined when name or password is wrong
   * @throws {HttpError} 429 after too many wrong passwords, 503 when too many sign in at once
   */
  async authenticate(username: string, password: string, address: string): Promise<Principal | undefined> {
    const digest = this.#cache.digest(username, password);
    const known = this.#cache.get(digest);
    if (known && this.#now() - known.readAt < FRESH_MS) return known.principal;
    return (await this.signIn(username, password, address))?.principal;
  }

  /**
   * The same with a look at the account as it is now, however short ago the credentials were right.
   *
   * @throws {HttpError} as `authenticate`
   */
  async signIn(username: string, password: string, address: string): Promise<KnownAccount | undefined> {
    const digest = this.#cache.digest(username, password);
    if (!this.#cache.get(digest)) this.#attempts.refuseTooMany(username, address);
    const account = await this.#checkOnce(username, password, digest);
    if (account) this.#attempts.succeeded(username, address);
    else this.#attempts.failed(username, address);
    return account;
  }

  /** Many requests with the same credentials are one check; each of them counts by itself. */
  #checkOnce(username: string, password: string, digest: string): Promise<KnownAccount | undefined> {
    const pending =
      this.#pending.get(digest) ??
      this.#check(username, password, digest).finally(() => this.#pending.delete(digest));
    this.#pending.set(digest, pending);
    return pending;
  }

  async #check(username: string, password: string, digest: string): Promise<KnownAccount | undefined> {
    const known = this.#cache.get(digest);
    const account = await this.#directory.find(username);
    const unchanged = account !== undefined && account.passwordHash === known?.passwordHash;
    const right = unchanged || (await this.#verify(password, account?.passwordHash));
    if (!account || !right) {
      this.#cache.delete(digest);
      return undefined;
    }
    this.#cache.set(digest, { ...account, readAt: this.#now() });
    return account;
  }

  /** Verifies against somebody's hash also when there is no such account: it must not be faster. */
  async #verify(password: string, hash: string | undefined): Promise<boolean> {
    await this.#enter();
    try {
      return await verifyPassword(password, hash ?? (await this.#directory.adminHash()));
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#running < PARALLEL) {
      this.#running += 1;
      return;
    }
    if (this.#waiting.length >= MAX_WAITING) {
      throw TOO_MANY_AT_ONCE();
    }
    // Whoever leaves hands its place over, so the count stays.
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }
}
