import { EdgeApp } from '#app/edge-app.ts';
import { loadConfig } from '#platform/config/config.ts';
import { capitalizeHeaders } from '#platform/http/server/header-names.ts';
import { rejectTarget } from '#platform/http/server/request-target.ts';

/** Optional facts about a request; `remoteAddr` is where Deno's server puts the peer address. */
interface RequestInfo {
  remoteAddress?: string | undefined;
  remoteAddr?: { hostname?: string };
  completed?: Promise<unknown>;
}

const app = new EdgeApp(() => loadConfig(process.env, { isGuest: true }));
// In a process of another server, that server handles signals.
if ('Deno' in globalThis) app.ownProcess();

/** The API for runtimes with their own server. Apart from `api.ts`, because Deno serves any module with this export. */
export default {
  async fetch(request: Request, { remoteAddress, remoteAddr, completed }: RequestInfo = {}): Promise<Response> {
    const refused = rejectTarget(request);
    if (refused) return refused;
    const peer = { remoteAddress: remoteAddress ?? remoteAddr?.hostname };
    return capitalizeHeaders(await app.fetch(request, peer, completed));
  },
  /** Finishes open requests and releases everything. Call it after the last request. */
  close: () => app.close(),
};
