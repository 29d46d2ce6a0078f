import type { Hono } from 'hono';
import { startApi } from './api-server.ts';
import { createApp } from './app.ts';
import { loadConfig } from './config.ts';
import { createContext } from './context.ts';
import { logStrayRejections, runEntry } from './entry.ts';
import { Shutdown } from './shutdown.ts';

let app: Promise<Hono> | undefined;

/** The API as a fetch handler, for runtimes that bring their own server; built with the first request. */
export default {
  async fetch(request: Request, env?: object): Promise<Response> {
    app ??= createContext(loadConfig(process.env), 'api').then(createApp);
    return (await app).fetch(request, env);
  },
};

/** The API alone, with a server of its own. */
if (import.meta.main) {
  await runEntry(async () => {
    const config = loadConfig(process.env);
    const context = await createContext(config, 'api');
    logStrayRejections(context.log);
    const shutdown = new Shutdown({ log: context.log, deadlineMs: config.shutdownMs });
    await startApi(context, shutdown);
    shutdown.phase('release resources', context.close);
    shutdown.listen();
  });
}
