import type { MiddlewareHandler } from 'hono';
import { TrieRouter } from 'hono/router/trie-router';
import { type ApiVersion, atLeast, NO_VERSION } from '../answer/version.ts';

/** The roles that may send a request; an empty list means administrators only. */
export type Access = 'public' | readonly string[];

/** The rules of a method and path, known before the request is read. */
export interface Rule {
  method: string;
  /** With parameters in braces: `/api/events/{event_id}`. */
  path: string;
  access: Access;
  /** The version that introduced it; the first one by default. */
  since?: ApiVersion;
  /** An unversioned media type of the response, as for streams. */
  produces?: string;
  /** True for a GET that changes something, as agents send it. */
  writes?: boolean;
  /** True if pages of every site may send it, because it proves by itself where it comes from. */
  fromEverySite?: boolean;
}

/** Finds the rule of a request in the same way as the router finds its handler. */
export class Rules {
  readonly #router = new TrieRouter<Rule>();
  readonly #paths = new TrieRouter<Rule>();
  /** Several guards ask for the rule of one request. */
  #last: { method: string; path: string; rule: Rule | undefined } | undefined;

  /** @param rules in the order of their handlers */
  constructor(rules: readonly Rule[]) {
    for (const rule of rules) {
      this.#router.add(rule.method.toUpperCase(), routerPath(rule.path), rule);
      this.#paths.add('ALL', routerPath(rule.path), rule);
    }
  }

  find(method: string, path: string): Rule | undefined {
    if (this.#last?.method !== method || this.#last.path !== path) {
      const rule = this.#router.match(method === 'HEAD' ? 'GET' : method, path)[0][0]?.[0];
      this.#last = { method, path, rule };
    }
    return this.#last.rule;
  }

  /** Returns the methods of a path for the `Allow` header. */
  methods(path: string): string[] {
    const methods = this.#paths.match('ALL', path)[0].map(([{ method }]) => method.toUpperCase());
    return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))];
  }
}

/** Responds 406 when the requested version lacks the endpoint. Runs after `negotiateVersion`. */
export function requireVersion(rules: Rules): MiddlewareHandler {
  return async (c, next) => {
    const since = rules.find(c.req.method, c.req.path)?.since;
    if (since && !atLeast(c.get('version'), since)) throw NO_VERSION(since);
    await next();
  };
}

/** Converts a declared path for the router: `/a/{b}` and `/a/{b}.json` become `/a/:b`. */
export function routerPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}[^/{}]*/g, ':$1');
}
