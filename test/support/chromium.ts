import { existsSync } from 'node:fs';
import { type Browser, type BrowserServer, chromium } from 'playwright-core';
import { inject } from 'vitest';
import { BROWSER_OPTIONS, CHROMIUM } from './launch-browser.ts';

/** Whether tests in a browser can run here. Where they must (in CI), its absence is a failure. */
export function browserAvailable(): boolean {
  if (existsSync(CHROMIUM)) return true;
  if (process.env.CI) throw new Error(`Tests in a browser need Chromium at ${CHROMIUM}; set CHROMIUM_PATH.`);
  console.warn(`Tests in a browser are skipped: there is no Chromium at ${CHROMIUM}; set CHROMIUM_PATH.`);
  return false;
}

/** Starts the one browser of all page tests. */
export function serveBrowser(): Promise<BrowserServer> {
  return chromium.launchServer(BROWSER_OPTIONS);
}

/** Connects to the browser of all page tests. Closing the connection closes its contexts and leaves the browser running. */
export function connectBrowser(): Promise<Browser> {
  return chromium.connect(inject('browser'));
}
