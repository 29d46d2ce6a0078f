import type { MiddlewareHandler } from 'hono';
import { TrieRouter } from 'hono/router/trie-router';
import { type ApiVersion, atLeast, NO_VERSION } from '../answer/version.ts';

/** Who may send a request: everybody, or whoever has one of the roles; an empty list is for administrators only. */
export type Access = 'public' | readonly string[];

/** What holds for a method of a path before anything of the request is read. */
export interface Rule {
  method: string;
  /** With its parameters in braces: `/api/events/{event_id}`. */
  path: string;
  access: Access;
  /** The version of the API that brought it; the first one unless given. */
  since?: ApiVersion;
  /** The media type of what it answers when that is none of the versions', as for streams. */
  produces?: string;
  /** Whether it writes something although it is asked for like a page, as agents know it. */
  writes?: boolean;
}

/** Finds the rule of a request as the router finds its handler, so that both mean the same resource. */
export class Rules {
  readonly #router = new TrieRouter<Rule>();
  readonly #paths = new TrieRouter<Rule>();

  /** @param rules in the order in which their handlers are registered */
  constructor(rules: readonly Rule[]) {
    for (const rule of rules) {
      this.#router.add(rule.method.toUpperCase(), routerPath(rule.path), rule);
      this.#paths.add('ALL', routerPath(rule.path), rule);
    }
  }

  /** @param path as the router sees it */
  find(method: string, path: string): Rule | undefined {
    return this.#router.match(method === 'HEAD' ? 'GET' : method, path)[0][0]?.[0];
  }

  /** The methods that there are rules for, for a header `Allow`. @param path as the router sees it */
  methods(path: string): string[] {
    const methods = this.#paths.match('ALL', path)[0].map(([{ method }]) => method.toUpperCase());
    return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))];
  }
}

/** 406 for an endpoint that the version the client asks for does not have. Runs after `negotiateVersion`. */
export function requireVersion(rules: Rules): MiddlewareHandler {
  return async (c, next) => {
    const since = rules.find(c.req.method, c.req.path)?.since;
    if (since && !atLeast(c.get('version'), since)) throw NO_VERSION(since);
    await next();
  };
}

/** A declared path as the router writes it: `/a/{b}` and `/a/{b}.json` are `/a/:b`. */
export function routerPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}[^/{}]*/g, ':$1');
}
