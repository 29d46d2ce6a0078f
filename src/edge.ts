import { EdgeApp } from '#app/edge-app.ts';
import { loadConfig } from '#platform/config/config.ts';
import { renameHeaders } from '#platform/http/server/header-names.ts';
import { refuseTarget } from '#platform/http/server/request-target.ts';

/** What a server may tell of a request: the address of the other end, here or where Deno's own server has it. */
interface RequestInfo {
  remoteAddress?: string | undefined;
  remoteAddr?: { hostname?: string };
  completed?: Promise<unknown>;
}

const app = new EdgeApp(() => loadConfig(process.env, { isGuest: true }));
// Of others' processes it is a guest.
if ('Deno' in globalThis) app.ownProcess();

/**
 * The API as a fetch handler, for runtimes that bring their own server; built with the first request. Apart from
 * `api.ts` because Deno takes a module with this export for a server of its own.
 */
export default {
  async fetch(request: Request, { remoteAddress, remoteAddr, completed }: RequestInfo = {}): Promise<Response> {
    const refused = refuseTarget(request);
    if (refused) return refused;
    const peer = { remoteAddress: remoteAddress ?? remoteAddr?.hostname };
    return renameHeaders(await app.fetch(request, peer, completed));
  },
  /** Answers what is under way and lets go of everything; for servers that have taken their last request. */
  close: () => app.close(),
};
