import { createApp } from '#app/app.ts';
import type { Context } from '#app/context.ts';
import { type RunningServer, serve } from '#platform/http/server/serve.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { ADMIN, createTestApp, type TestApp } from './app.ts';
import { freePort } from './free-port.ts';
import { Resumable } from './resumable.ts';

/** The application in this process, reached over HTTP. */
export interface ServedApp {
  app: TestApp;
  server: RunningServer;
  /** The administrator. */
  admin: Resumable;
  close(): Promise<void>;
}

/** @param services in place of those that the application would make */
export async function serveApp(
  environment: Record<string, string> = {},
  wrap?: (storage: ObjectStorage) => ObjectStorage,
  services: Partial<Context> = {},
): Promise<ServedApp> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const app = await createTestApp(wrap, { PUBLIC_URL: url, ...environment });
  const { fetch } = createApp({ ...app.context, ...services });
  const server = await serve(fetch, { host: '127.0.0.1', port });
  return {
    app,
    server,
    admin: new Resumable({ url, authorization: ADMIN }),
    close: async () => {
      server.destroy();
      await app.close();
    },
  };
}
