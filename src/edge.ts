import type { Hono } from 'hono';
import { createApp } from './app.ts';
import { loadConfig } from './config.ts';
import { createContext } from './context.ts';

let app: Promise<Hono> | undefined;

/**
 * The API as a fetch handler, for runtimes that bring their own server; built with the first request. Apart from
 * `api.ts` because Deno takes a module with this export for a server of its own.
 */
export default {
  async fetch(request: Request, env?: object): Promise<Response> {
    app ??= createContext(loadConfig(process.env), 'api').then(createApp);
    return (await app).fetch(request, env);
  },
};
