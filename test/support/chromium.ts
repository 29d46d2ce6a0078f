import { existsSync } from 'node:fs';
import { type Browser, type BrowserServer, chromium } from 'playwright-core';
import { inject } from 'vitest';

const PATH = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

/** Whether tests in a browser can run here. Where they must (in CI), its absence is a failure. */
export function browserAvailable(): boolean {
  if (existsSync(PATH)) return true;
  if (process.env.CI) throw new Error(`Tests in a browser need Chromium at ${PATH}; set CHROMIUM_PATH.`);
  console.warn(`Tests in a browser are skipped: there is no Chromium at ${PATH}; set CHROMIUM_PATH.`);
  return false;
}

/** Starts the one browser of all page tests: without a window, and it talks to nobody by itself. */
export function serveBrowser(): Promise<BrowserServer> {
  return chromium.launchServer({
    executablePath: PATH,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
      ...['--disable-background-networking', '--disable-component-update'],
    ],
  });
}

/** Connects to the browser of all page tests. Closing the connection closes its contexts and leaves the browser running. */
export function connectBrowser(): Promise<Browser> {
  return chromium.connect(inject('browser'));
}
