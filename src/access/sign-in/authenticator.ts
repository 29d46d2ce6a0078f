import { networkOf } from '#platform/text/ip-address.ts';
import { TOO_MANY_AT_ONCE } from '../access-errors.ts';
import type { Directory, KnownAccount } from '../accounts/directory.ts';
import { verifyPassword } from '../accounts/secrets.ts';
import type { Principal } from '../principal.ts';
import { Attempts } from './sign-in-throttle.ts';
import { VerifiedCredentialsCache } from './verified-credentials.ts';

/** How long a removed or changed account may still be let in. */
export const FRESH_MS = 60_000;
/** Verifications at once: each takes a processor and 16 MiB. */
const PARALLEL = 2;
const MAX_WAITING = 64;
/** Of one network: the others find a place. */
const MAX_WAITING_OF_ONE = 32;

/** Who somebody says to be, and from where. */
interface Credentials {
  username: string;
  password: string;
  address: string;
}

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
  /** Right at an address: whoever guesses at another learns nothing by it. */
  readonly #proven = new VerifiedCredentialsCache<true>();
  readonly #pending = new Map<string, Promise<KnownAccount | undefined>>();
  readonly #waiting: { network: string; enter: () => void }[] = [];
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
    const known = this.#cache.get(this.#cache.digest(username, password));
    const isFresh = known && this.#now() - known.readAt < FRESH_MS;
    if (isFresh && this.#proven.get(this.#proven.digest(username, password, address))) return known.principal;
    return (await this.#signIn(username, password, address, isFresh ? known : undefined))?.principal;
  }

  /**
   * The same with a look at the account as it is now, however short ago the credentials were right.
   *
   * @throws {HttpError} as `authenticate`
   */
  async signIn(username: string, password: string, address: string): Promise<KnownAccount | undefined> {
    return this.#signIn(username, password, address);
  }

  /** @param known the account, where nobody has to look at it again */
  async #signIn(
    username: string,
    password: string,
    address: string,
    known?: KnownAccount,
  ): Promise<KnownAccount | undefined> {
    const proof = this.#proven.digest(username, password, address);
    const isProven = this.#proven.get(proof) === true;
    if (!isProven) this.#attempts.refuseTooMany(username, address);
    const digest = this.#cache.digest(username, password);
    // Guesses that are sent all at once are counted before it is known that they are wrong.
    const isCounted = !isProven && !known && !this.#pending.has(digest);
    if (isCounted) this.#attempts.failed(username, address);
    const account =
      known ??
      (await this.#checkOnce({ username, password, address }, digest).catch((error) => {
        if (isCounted) this.#attempts.takeBack(username, address);
        throw error;
      }));
    if (!account) {
      if (!isCounted) this.#attempts.failed(username, address);
      this.#proven.delete(proof);
      return undefined;
    }
    if (isCounted) this.#attempts.takeBack(username, address);
    this.#attempts.succeeded(username, address);
    this.#proven.set(proof, true);
    return account;
  }

  /** Many requests with the same credentials are one check; each of them counts by itself. */
  #checkOnce(credentials: Credentials, digest: string): Promise<KnownAccount | undefined> {
    const pending =
      this.#pending.get(digest) ?? this.#check(credentials, digest).finally(() => this.#pending.delete(digest));
    this.#pending.set(digest, pending);
    return pending;
  }

  async #check({ username, password, address }: Credentials, digest: string): Promise<KnownAccount | undefined> {
    const known = this.#cache.get(digest);
    const account = await this.#directory.find(username);
    const unchanged = account !== undefined && account.passwordHash === known?.passwordHash;
    const right = unchanged || (await this.#verify(password, account?.passwordHash, address));
    if (!account || !right) {
      this.#cache.delete(digest);
      return undefined;
    }
    this.#cache.set(digest, { ...account, readAt: this.#now() });
    return account;
  }

  /** Verifies against somebody's hash also when there is no such account: it must not be faster. */
  async #verify(password: string, hash: string | undefined, address: string): Promise<boolean> {
    await this.#enter(networkOf(address));
    try {
      return await verifyPassword(password, hash ?? (await this.#directory.adminHash()));
    } finally {
      this.#leave();
    }
  }

  async #enter(network: string): Promise<void> {
    if (this.#running < PARALLEL) {
      this.#running += 1;
      return;
    }
    const ofNetwork = this.#waiting.filter((each) => each.network === network).length;
    if (this.#waiting.length >= MAX_WAITING || ofNetwork >= MAX_WAITING_OF_ONE) throw TOO_MANY_AT_ONCE();
    // Whoever leaves hands its place over, so the count stays.
    await new Promise<void>((enter) => this.#waiting.push({ network, enter }));
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next.enter();
    else this.#running -= 1;
  }
}
