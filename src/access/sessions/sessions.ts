import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { CookieOptions } from 'hono/utils/cookie';
import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';
import type { Directory, KnownAccount } from '../accounts/directory.ts';
import type { Principal } from '../principal.ts';

/** Limits in minutes. */
const LIMITS = {
  idle: 120,
  whole: 24 * 60,
  /** The age at which a cookie is replaced. */
  renewal: 15,
  /** The time a replaced cookie stays valid, for requests in progress. */
  overlap: 1,
};
const COOKIE_BYTES = 32;

interface Session {
  account: KnownAccount;
  renewed: string | undefined;
}

/**
 * Stores browser sessions by the digest of a random cookie. A session ends after two hours without a request, after a
 * day, and when the password changes or the account is removed. The cookie is replaced every 15 minutes; the previous
 * cookie stays valid until the new one is used, as the client may not have received it.
 */
export class SessionStore {
  readonly #database: Database;
  readonly #directory: Pick<Directory, 'find'>;

  constructor({ database, directory }: { database: Database; directory: Pick<Directory, 'find'> }) {
    this.#database = database;
    this.#directory = directory;
  }

  /** Starts a session. @returns the cookie */
  async open(account: KnownAccount): Promise<string> {
    const cookie = newCookie();
    await sql`
      INSERT INTO sessions (digest, sign_in, username, seal, used, renew_at, expires_at, ends_at)
      VALUES (${digestOf(cookie)}, ${randomUUID()}, ${account.principal.username}, ${sealOf(cookie, account)}, true,
        ${after(LIMITS.renewal)}, ${after(LIMITS.idle)}, ${after(LIMITS.whole)})`.execute(this.#database);
    return cookie;
  }

  /** Finds and extends a session. @param mayRenew true if a new cookie would arrive before later responses */
  async find(cookie: string, mayRenew: boolean): Promise<Session | undefined> {
    const digest = digestOf(cookie);
    const { rows } = await sql<{
      sign_in: string;
      username: string;
      seal: Buffer;
      used: boolean;
      replaced: boolean;
      due: boolean;
      aging: boolean;
    }>`
      SELECT sign_in, username, seal, used, replaced, renew_at <= now() AS due,
        expires_at < least(ends_at, ${after(LIMITS.idle - 1)}) AS aging
      FROM sessions WHERE digest = ${digest} AND expires_at > now()`.execute(this.#database);
    const [row] = rows;
    if (!row) return undefined;
    const account = await this.#directory.find(row.username);
    if (!account || !timingSafeEqual(row.seal, sealOf(cookie, account))) {
      await this.end(cookie);
      return undefined;
    }
    if (row.replaced) return { account, renewed: undefined };
    if (!row.used) await this.#replaceEarlier(row.sign_in, digest);
    if (row.aging || !row.used) {
      await sql`
        UPDATE sessions SET used = true, expires_at = least(ends_at, ${after(LIMITS.idle)})
        WHERE digest = ${digest} AND NOT replaced`.execute(this.#database);
    }
    return { account, renewed: row.due && mayRenew ? await this.#renew(digest, account) : undefined };
  }

  /** Ends the session of a cookie, with all its cookies. */
  async end(cookie: string): Promise<void> {
    const { rows } = await sql<{ sign_in: string }>`
      DELETE FROM sessions WHERE sign_in = (SELECT sign_in FROM sessions WHERE digest = ${digestOf(cookie)})
      RETURNING sign_in`.execute(this.#database);
    const [row] = rows;
    if (!row) return;
    // A concurrent renewal may have inserted a cookie that the first DELETE did not see.
    await sql`DELETE FROM sessions WHERE sign_in = ${row.sign_in}`.execute(this.#database);
  }

  /** Keeps unused cookies: one may be on its way, and the last one to arrive stays valid. */
  async #replaceEarlier(signIn: string, digest: Buffer): Promise<void> {
    await sql`
      UPDATE sessions SET replaced = true, expires_at = least(expires_at, ${after(LIMITS.overlap)})
      WHERE sign_in = ${signIn} AND digest <> ${digest} AND used AND NOT replaced`.execute(this.#database);
  }

  /** Gives one of several concurrent requests a new cookie; if it is lost, a later request gets another. */
  async #renew(digest: Buffer, account: KnownAccount): Promise<string | undefined> {
    const cookie = newCookie();
    const { rows } = await sql`
      WITH due AS (
        UPDATE sessions SET renew_at = ${after(LIMITS.overlap)}
        WHERE digest = ${digest} AND renew_at <= now() AND NOT replaced RETURNING *
      )
      INSERT INTO sessions (digest, sign_in, username, seal, renew_at, expires_at, ends_at)
      SELECT ${digestOf(cookie)}, sign_in, username, ${sealOf(cookie, account)}::bytea, ${after(LIMITS.renewal)},
        expires_at, ends_at
      FROM due RETURNING sign_in`.execute(this.#database);
    return rows.length > 0 ? cookie : undefined;
  }
}

/** Deletes expired cookies. Several processes may run it concurrently. @returns the number of deleted cookies */
export async function sweepSessions(database: Database): Promise<number> {
  const { numAffectedRows = 0n } = await sql`DELETE FROM sessions WHERE expires_at <= now()`.execute(database);
  return Number(numAffectedRows);
}

function after(minutes: number) {
  return sql`now() + make_interval(mins => ${minutes}::int)`;
}

function newCookie(): string {
  return randomBytes(COOKIE_BYTES).toString('base64url');
}

function digestOf(cookie: string): Buffer {
  return createHash('sha256').update(cookie).digest();
}

/** The cookie is the key, so the database alone does not allow guessing passwords. */
function sealOf(cookie: string, { credential }: KnownAccount): Buffer {
  return createHmac('sha256', cookie).update(credential).digest();
}

declare module 'hono' {
  interface ContextVariableMap {
    inSession: boolean | undefined;
  }
}

const NAME = 'inlet';

/** Browser sessions in a cookie; over https, `__Host-` keeps neighboring hosts from setting it. */
export class Sessions {
  readonly #store: SessionStore;
  readonly #prefix: 'host' | undefined;

  constructor(store: SessionStore, publicUrl: string) {
    this.#store = store;
    this.#prefix = publicUrl.startsWith('https:') ? 'host' : undefined;
  }

  hasCookie(c: Context): boolean {
    return this.#cookie(c) !== undefined;
  }

  /** Returns the principal of a valid session cookie, and may renew the cookie. */
  async principalOf(c: Context): Promise<Principal | undefined> {
    const cookie = this.#cookie(c);
    if (cookie === undefined) return undefined;
    // Only for quick requests: the response to a long upload would deliver an outdated cookie.
    const session = await this.#store.find(cookie, c.req.method === 'GET' || c.req.method === 'HEAD');
    if (session?.renewed) this.#set(c, session.renewed);
    return session?.account.principal;
  }

  /** Starts a session and ends the browser's previous one. */
  async begin(c: Context, account: KnownAccount): Promise<void> {
    const former = this.#cookie(c);
    if (former !== undefined) await this.#store.end(former);
    this.#set(c, await this.#store.open(account));
  }

  async end(c: Context): Promise<void> {
    const cookie = this.#cookie(c);
    if (cookie !== undefined) await this.#store.end(cookie);
    deleteCookie(c, NAME, this.#options());
  }

  #cookie(c: Context): string | undefined {
    return this.#prefix ? getCookie(c, NAME, this.#prefix) : getCookie(c, NAME);
  }

  #set(c: Context, cookie: string): void {
    setCookie(c, NAME, cookie, this.#options());
  }

  /** A session cookie: it has no Max-Age. */
  #options(): CookieOptions {
    const common = { path: '/', httpOnly: true, sameSite: 'Strict' } as const;
    return this.#prefix ? { ...common, secure: true, prefix: this.#prefix } : common;
  }
}
