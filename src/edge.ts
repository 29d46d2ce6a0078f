import type { Hono } from 'hono';
import { createApp } from './app.ts';
import { loadConfig } from './config.ts';
import { createContext } from './context.ts';
import { renameHeaders } from './http/server/header-names.ts';
import { refuseTarget } from './http/server/request-target.ts';

/** What a server may tell of a request: the address of the other end, here or where Deno's own server has it. */
interface RequestInfo {
  remoteAddress?: string | undefined;
  remoteAddr?: { hostname?: string };
}

let app: Promise<Hono> | undefined;

/**
 * The API as a fetch handler, for runtimes that bring their own server; built with the first request. Apart from
 * `api.ts` because Deno takes a module with this export for a server of its own.
 */
export default {
  async fetch(request: Request, { remoteAddress, remoteAddr }: RequestInfo = {}): Promise<Response> {
    const refused = refuseTarget(request);
    if (refused) return refused;
    app ??= createContext(loadConfig(process.env), 'api')
      .then(createApp)
      .catch((error) => {
        // The next request tries again: what was away may be back.
        app = undefined;
        throw error;
      });
    const peer = { remoteAddress: remoteAddress ?? remoteAddr?.hostname };
    return renameHeaders(await (await app).fetch(request, peer));
  },
};
