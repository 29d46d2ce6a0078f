import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { createApp } from '../../src/app.ts';
import { type RunningServer, serve } from '../../src/http/server/serve.ts';
import type { TestApp } from './app.ts';
import { connectBrowser } from './chromium.ts';

/**
 * An application that is served to a browser. Opens and closes both with the group of tests that calls this, after a hook
 * that makes the application.
 */
export function inBrowser(app: () => TestApp): { readonly browser: Browser; readonly origin: string } {
  let browser: Browser | undefined;
  let server: RunningServer | undefined;
  beforeAll(async () => {
    browser = await connectBrowser();
    server = await serve(createApp(app().context).fetch, { host: '127.0.0.1', port: 0 });
  });
  afterAll(async () => {
    await browser?.close();
    server?.destroy();
  });
  return {
    get browser() {
      if (!browser) throw new Error('The browser is there when tests run, not yet when they are described.');
      return browser;
    },
    get origin() {
      return `http://127.0.0.1:${server?.port}`;
    },
  };
}
