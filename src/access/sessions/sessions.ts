import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { CookieOptions } from 'hono/utils/cookie';
import type { KnownAccount } from '../accounts/directory.ts';
import type { Principal } from '../principal.ts';
import type { SessionStore } from './store.ts';

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
