import { type RunningServer, serve } from '#platform/http/server/serve.ts';
import { createApp } from './app.ts';
import type { Context } from './context.ts';
import type { Shutdown } from './shutdown.ts';

/** Serves the application until shutdown. @throws {ListenError} */
export async function startApi(context: Context, shutdown: Shutdown): Promise<RunningServer> {
  const { config, log } = context;
  const app = await createApp(context);
  const server = await serve((request, env) => app.fetch(request, env), config);
  log.info({ url: config.publicUrl, host: config.host, port: server.port }, 'the API is listening');
  shutdown.finish('answer open requests', async () => {
    // Uploads that can resume elsewhere need not be waited for.
    context.locks.wantAll();
    await context.streams.close();
    await server.close();
  });
  return server;
}
