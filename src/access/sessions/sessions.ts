import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { CookieOptions } from 'hono/utils/cookie';
import type { KnownAccount } from '../accounts/directory.ts';
import type { Principal } from '../principal.ts';
import type { SessionStore } from './store.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** Whether it was a session that told who asks. */
    inSession: boolean | undefined;
  }
}

const NAME = 'inlet';

/**
 * Sessions of browsers, in a cookie that no script reads and no page of another site sends along. Under https its name
 * keeps neighbouring hosts from setting it.
 */
export class Sessions {
  readonly #store: SessionStore;
  readonly #prefix: 'host' | undefined;

  /** @param publicUrl base of the URLs handed out, which tells whether browsers come over https */
  constructor(store: SessionStore, publicUrl: string) {
    this.#store = store;
    this.#prefix = publicUrl.startsWith('https:') ? 'host' : undefined;
  }

  /** Whether the request has a cookie of ours, good or not. */
  hasCookie(c: Context): boolean {
    return this.#cookie(c) !== undefined;
  }

  /** Who sent the request; undefined without a cookie that is good. The answer may bring a new one. */
  async principalOf(c: Context): Promise<Principal | undefined> {
    const cookie = this.#cookie(c);
    if (cookie === undefined) return undefined;
    // The answer to a long upload would bring an old one.
    const session = await this.#store.find(cookie, c.req.method === 'GET' || c.req.method === 'HEAD');
    if (session?.renewed) this.#set(c, session.renewed);
    return session?.account.principal;
  }

  /** Begins a session, and ends the one that the browser had. */
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

  /** Without an age, so that it goes with the browser's session. */
  #options(): CookieOptions {
    const common = { path: '/', httpOnly: true, sameSite: 'Strict' } as const;
    return this.#prefix ? { ...common, secure: true, prefix: this.#prefix } : common;
  }
}
