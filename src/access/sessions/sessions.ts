import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { CookieOptions } from 'hono/utils/cookie';
import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';
import type { Directory, KnownAccount } from '../accounts/directory.ts';
import type { Principal } from '../principal.ts';
import type { Launch, LaunchedAccounts, LaunchedUser } from './launched-accounts.ts';

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

type SessionAccount = Pick<KnownAccount, 'principal' | 'credential'>;

interface Session {
  account: SessionAccount;
  renewed: string | undefined;
}

interface Accounts {
  directory: Pick<Directory, 'find'>;
  /** The users of learning platforms; absent where none is configured. */
  launched?: Pick<LaunchedAccounts, 'find'> | undefined;
}

/**
 * Stores browser sessions by the digest of a random cookie. A session ends after two hours without a request, after a
 * day, and when the password changes or the account is removed; that of a learning platform's user ends with the
 * platform's key. The cookie is replaced every 15 minutes; the previous
 * cookie stays valid until the new one is used, as the client may not have received it.
 */
export class SessionStore {
  readonly #database: Database;
  readonly #accounts: Accounts;

  constructor({ database, ...accounts }: Accounts & { database: Database }) {
    this.#database = database;
    this.#accounts = accounts;
  }

  /** Starts a session. @returns the cookie */
  async open(account: SessionAccount, launch?: Launch): Promise<string> {
    const cookie = newCookie();
    await sql`
      INSERT INTO sessions (digest, sign_in, username, seal, used, renew_at, expires_at, ends_at, launch)
      VALUES (${digestOf(cookie)}, ${randomUUID()}, ${account.principal.username}, ${sealOf(cookie, account)}, true,
        ${after(LIMITS.renewal)}, ${after(LIMITS.idle)}, ${after(LIMITS.whole)}, ${launch && JSON.stringify(launch)})
      `.execute(this.#database);
    return cookie;
  }

  /** Starts the session of a learning platform's user; undefined if the user is not allowed. */
  async openLaunched(user: LaunchedUser): Promise<{ cookie: string; principal: Principal } | undefined> {
    const account = await this.#accounts.launched?.find(user);
    return account && { cookie: await this.open(account, user.launch), principal: account.principal };
  }

  /**
   * Adds the courses of another launch to a session, which keeps the roles of courses that are open in other frames.
   *
   * @returns the user with the roles of all these courses; undefined if there is no valid session of this user
   */
  async extend(cookie: string, { username, launch }: LaunchedUser): Promise<Principal | undefined> {
    if (!(await this.find(cookie, false))) return undefined;
    const { contexts, ...facts } = launch;
    const { numAffectedRows = 0n } = await sql`
      UPDATE sessions SET launch = launch || ${JSON.stringify(facts)}::jsonb
        || jsonb_build_object('contexts', launch->'contexts' || ${JSON.stringify(contexts)}::jsonb)
      WHERE sign_in = (SELECT sign_in FROM sessions WHERE digest = ${digestOf(cookie)})
        AND username = ${username} AND launch->>'platform' = ${launch.platform}
        AND launch->'hasAccount' = ${JSON.stringify(launch.hasAccount)}::jsonb`.execute(this.#database);
    return numAffectedRows > 0n ? (await this.find(cookie, false))?.account.principal : undefined;
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
      launch: Launch | null;
    }>`
      SELECT sign_in, username, seal, used, replaced, launch, renew_at <= now() AS due,
        expires_at < least(ends_at, ${after(LIMITS.idle - 1)}) AS aging
      FROM sessions WHERE digest = ${digest} AND expires_at > now()`.execute(this.#database);
    const [row] = rows;
    if (!row) return undefined;
    const account = await this.#accountOf(row);
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

  async #accountOf({ username, launch }: { username: string; launch: Launch | null }) {
    const { directory, launched } = this.#accounts;
    return launch ? launched?.find({ username, launch }) : directory.find(username);
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
  async #renew(digest: Buffer, account: SessionAccount): Promise<string | undefined> {
    const cookie = newCookie();
    const { rows } = await sql`
      WITH due AS (
        UPDATE sessions SET renew_at = ${after(LIMITS.overlap)}
        WHERE digest = ${digest} AND renew_at <= now() AND NOT replaced RETURNING *
      )
      INSERT INTO sessions (digest, sign_in, username, seal, renew_at, expires_at, ends_at, launch)
      SELECT ${digestOf(cookie)}, sign_in, username, ${sealOf(cookie, account)}::bytea, ${after(LIMITS.renewal)},
        expires_at, ends_at, launch
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
function sealOf(cookie: string, { credential }: SessionAccount): Buffer {
  return createHmac('sha256', cookie).update(credential).digest();
}

declare module 'hono' {
  interface ContextVariableMap {
    inSession: boolean | undefined;
  }
}

/** The cookie of accounts, and that of users whom a learning platform launched. */
const [ACCOUNT, LAUNCH] = ['inlet', 'inlet-launch'] as const;
type Name = typeof ACCOUNT | typeof LAUNCH;

/**
 * Browser sessions in cookies; over https, `__Host-` keeps neighboring hosts from setting them. The session of a launch
 * has a separate cookie, because frames of other sites need it, and takes precedence until somebody signs in.
 */
export class Sessions {
  readonly #store: SessionStore;
  readonly #prefix: 'host' | undefined;

  constructor(store: SessionStore, publicUrl: string) {
    this.#store = store;
    this.#prefix = publicUrl.startsWith('https:') ? 'host' : undefined;
  }

  hasCookie(c: Context): boolean {
    return this.#cookies(c).length > 0;
  }

  /** Returns the principal of a valid session cookie, and may renew the cookie. */
  async principalOf(c: Context): Promise<Principal | undefined> {
    for (const [name, cookie] of this.#cookies(c)) {
      // Only for quick requests: the response to a long upload would deliver an outdated cookie.
      const session = await this.#store.find(cookie, c.req.method === 'GET' || c.req.method === 'HEAD');
      if (session?.renewed) this.#set(c, name, session.renewed);
      if (session) return session.account.principal;
    }
    return undefined;
  }

  /** Starts a session and ends the browser's previous ones. */
  async begin(c: Context, account: KnownAccount): Promise<void> {
    for (const [name, cookie] of this.#cookies(c)) {
      await this.#store.end(cookie);
      if (name === LAUNCH) deleteCookie(c, name, this.#options(name));
    }
    this.#set(c, ACCOUNT, await this.#store.open(account));
  }

  /**
   * Starts the session of a launch, or adds the launch to that of the same user.
   *
   * @returns the user of the session; undefined if it is not allowed
   */
  async beginLaunched(c: Context, user: LaunchedUser): Promise<Principal | undefined> {
    const former = this.#cookie(c, LAUNCH);
    const extended = former && (await this.#store.extend(former, user));
    if (extended) return extended;
    if (former !== undefined) await this.#store.end(former);
    const opened = await this.#store.openLaunched(user);
    if (opened) this.#set(c, LAUNCH, opened.cookie);
    return opened?.principal;
  }

  async end(c: Context): Promise<void> {
    for (const [name, cookie] of this.#cookies(c)) {
      await this.#store.end(cookie);
      deleteCookie(c, name, this.#options(name));
    }
  }

  #cookies(c: Context): [name: Name, cookie: string][] {
    return ([LAUNCH, ACCOUNT] as const).flatMap((name) => {
      const cookie = this.#cookie(c, name);
      return cookie === undefined ? [] : [[name, cookie]];
    });
  }

  #cookie(c: Context, name: Name): string | undefined {
    return this.#prefix ? getCookie(c, name, this.#prefix) : getCookie(c, name);
  }

  #set(c: Context, name: Name, cookie: string): void {
    setCookie(c, name, cookie, this.#options(name));
  }

  /** Session cookies: they have no Max-Age. */
  #options(name: Name): CookieOptions {
    if (name === LAUNCH) return crossSiteCookie(this.#prefix !== undefined);
    const common = { path: '/', httpOnly: true, sameSite: 'Strict' } as const;
    return this.#prefix ? { ...common, secure: true, prefix: this.#prefix } : common;
  }
}

/** Returns the options of a cookie for frames of other sites, which browsers support over https only. */
export function crossSiteCookie(isSecure: boolean): CookieOptions {
  const common = { path: '/', httpOnly: true } as const;
  if (!isSecure) return { ...common, sameSite: 'Lax' };
  return { ...common, sameSite: 'None', secure: true, partitioned: true, prefix: 'host' };
}
