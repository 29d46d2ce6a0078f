import type { Browser } from 'playwright-core';
import type { TestContext } from 'vitest';
import { createApp } from '../../src/app.ts';
import { serve } from '../../src/http/server/serve.ts';
import { createTestApp, type TestApp } from './app.ts';
import { connectBrowser } from './chromium.ts';
import { type OpenUploadPage, openUploadPage, type UploadPageOptions } from './upload-page.ts';

/** The page for uploads of a server of its own, and a browser. */
export interface ServedUploadPage {
  app: TestApp;
  browser: Browser;
  origin: string;
  /** Opens the page for one test. */
  open(
    test: TestContext,
    options?: UploadPageOptions,
  ): Promise<OpenUploadPage & { choose: (...files: string[]) => Promise<void> }>;
  close(): Promise<void>;
}

export async function serveUploadPage(): Promise<ServedUploadPage> {
  const app = await createTestApp();
  const product = await serve(createApp(app.context).fetch, { host: '127.0.0.1', port: 0 });
  const origin = `http://127.0.0.1:${product.port}`;
  const browser = await connectBrowser();
  return {
    app,
    browser,
    origin,
    open: async (test, options) => {
      const opened = await openUploadPage(browser, origin, options);
      test.onTestFinished(() => opened.context.close());
      const choose = (...files: string[]) => opened.page.locator('[data-part=choose]').setInputFiles(files);
      return { ...opened, choose };
    },
    close: async () => {
      await browser.close();
      product.destroy();
      await app.close();
    },
  };
}
