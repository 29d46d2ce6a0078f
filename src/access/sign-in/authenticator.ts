import { networkOf } from '#platform/text/ip-address.ts';
import { TOO_MANY_SIGN_INS } from '../access-errors.ts';
import type { Directory, KnownAccount } from '../accounts/directory.ts';
import { verifyPassword } from '../accounts/secrets.ts';
import type { Principal } from '../principal.ts';
import { SignInAttempts } from './sign-in-throttle.ts';
import { VerifiedCredentialsCache } from './verified-credentials.ts';

/** The time a removed or changed account may still be accepted. */
export const FRESH_MS = 60_000;
/** Concurrent verifications: each one uses a processor and 16 MiB. */
const PARALLEL = 2;
const MAX_WAITING = 64;
/** The limit per network, so that one network cannot fill the queue. */
const MAX_WAITING_OF_ONE = 32;

interface Credentials {
  username: string;
  password: string;
  address: string;
}

/** The cached account of verified credentials. */
interface VerifiedPassword extends KnownAccount {
  readAt: number;
}

/**
 * Authenticates by user name and password. An unknown user takes as long to reject as a wrong password. Cached
 * credentials cost a digest and one read of the account per minute.
 */
export class Authenticator {
  readonly #directory: Pick<Directory, 'find' | 'adminHash'>;
  readonly #now: () => number;
  readonly #cache = new VerifiedCredentialsCache<VerifiedPassword>();
  readonly #attempts: SignInAttempts;
  /** Credentials verified per address, so that guesses from other addresses learn nothing. */
  readonly #proven = new VerifiedCredentialsCache<true>();
  readonly #pending = new Map<string, Promise<KnownAccount | undefined>>();
  readonly #waiting: { network: string; enter: () => void }[] = [];
  #running = 0;

  /** @param now a monotonic clock in milliseconds */
  constructor(
    directory: Pick<Directory, 'find' | 'adminHash'>,
    now: () => number = () => performance.now(),
    attempts: SignInAttempts = new SignInAttempts(now),
  ) {
    this.#directory = directory;
    this.#now = now;
    this.#attempts = attempts;
  }

  /** @throws {HttpError} 429 after too many wrong passwords, 503 on too many concurrent sign-ins */
  async authenticate(username: string, password: string, address: string): Promise<Principal | undefined> {
    const known = this.#cache.get(this.#cache.digest(username, password));
    const isFresh = known && this.#now() - known.readAt < FRESH_MS;
    if (isFresh && this.#proven.get(this.#proven.digest(username, password, address))) return known.principal;
    return (await this.signIn(username, password, address, isFresh ? known : undefined))?.principal;
  }

  /** Authenticates like `authenticate`, and reads the account unless it is known. @param known one that was read recently */
  async signIn(
    username: string,
    password: string,
    address: string,
    known?: KnownAccount,
  ): Promise<KnownAccount | undefined> {
    const proof = this.#proven.digest(username, password, address);
    const isProven = this.#proven.get(proof) === true;
    if (!isProven) this.#attempts.refuseTooMany(username, address);
    const digest = this.#cache.digest(username, password);
    // Count the attempt before the verification, so that concurrent guesses are limited, too.
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

  /** Shares one check among concurrent requests with the same credentials; each request counts as an attempt. */
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

  /** Verifies against the administrator's hash if the account does not exist, so that the time is the same. */
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
    if (this.#waiting.length >= MAX_WAITING || ofNetwork >= MAX_WAITING_OF_ONE) throw TOO_MANY_SIGN_INS();
    // `#leave` hands its place over, so `#running` does not change.
    await new Promise<void>((enter) => this.#waiting.push({ network, enter }));
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next.enter();
    else this.#running -= 1;
  }
}
