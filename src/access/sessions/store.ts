import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';
import type { Directory, KnownAccount } from '../accounts/directory.ts';

/** In minutes. */
const LIMITS = {
  /** Without a request. */
  idle: 120,
  /** From signing in on. */
  whole: 24 * 60,
  /** After so long there is a new cookie. */
  renewal: 15,
  /** For requests under way with the cookie before it. */
  overlap: 1,
};
const COOKIE_BYTES = 32;

/** Somebody who signed in with a browser. */
export interface Session {
  account: KnownAccount;
  /** The cookie to use from now on, when there is a new one. */
  renewed: string | undefined;
}

/**
 * Who signed in with a browser, by the cookie they have: random, and unknown to the database, which holds its digest. A
 * session ends after two hours without a request, after a day, with a new password, and with the account. Its cookie is
 * replaced every quarter of an hour; the former one stays good until the new one comes, for it may never have arrived.
 */
export class SessionStore {
  readonly #database: Database;
  readonly #directory: Pick<Directory, 'find'>;

  constructor({ database, directory }: { database: Database; directory: Pick<Directory, 'find'> }) {
    this.#database = database;
    this.#directory = directory;
  }

  /** @returns the cookie */
  async open(account: KnownAccount): Promise<string> {
    const cookie = newCookie();
    await sql`
      INSERT INTO sessions (digest, sign_in, username, seal, used, renew_at, expires_at, ends_at)
      VALUES (${digestOf(cookie)}, ${randomUUID()}, ${account.principal.username}, ${sealOf(cookie, account)}, true,
        ${after(LIMITS.renewal)}, ${after(LIMITS.idle)}, ${after(LIMITS.whole)})`.execute(this.#database);
    return cookie;
  }

  /**
   * The session of a cookie, with the account as it is now; the use makes it last.
   *
   * @param mayRenew whether a new cookie would arrive before later requests are answered
   * @returns undefined for a cookie that is not good, or no longer
   */
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

  /** Ends the session of a cookie, with all that went before it. */
  async end(cookie: string): Promise<void> {
    const { rows } = await sql<{ sign_in: string }>`
      DELETE FROM sessions WHERE sign_in = (SELECT sign_in FROM sessions WHERE digest = ${digestOf(cookie)})
      RETURNING sign_in`.execute(this.#database);
    const [row] = rows;
    if (!row) return;
    // A renewal that this had to wait for has added one that the statement could not see.
    await sql`DELETE FROM sessions WHERE sign_in = ${row.sign_in}`.execute(this.#database);
  }

  /** Those that nobody came with are left: one may be on its way, and the last to arrive is the one that stays. */
  async #replaceEarlier(signIn: string, digest: Buffer): Promise<void> {
    await sql`
      UPDATE sessions SET replaced = true, expires_at = least(expires_at, ${after(LIMITS.overlap)})
      WHERE sign_in = ${signIn} AND digest <> ${digest} AND used AND NOT replaced`.execute(this.#database);
  }

  /** Of requests at once one gets a new cookie; should it not arrive, a later one will. */
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

/** Removes what has expired. Safe to run in several processes at once. @returns how many cookies were forgotten */
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

/** Whoever reads the database cannot try passwords on it, since the cookie is not there. */
function sealOf(cookie: string, { credential }: KnownAccount): Buffer {
  return createHmac('sha256', cookie).update(credential).digest();
}
