import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PATH = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

/** Whether tests in a browser can run here. Where they must (in CI), its absence is a failure. */
export function browserAvailable(): boolean {
  if (existsSync(PATH)) return true;
  if (process.env.CI) throw new Error(`Tests in a browser need Chromium at ${PATH}; set CHROMIUM_PATH.`);
  console.warn(`Tests in a browser are skipped: there is no Chromium at ${PATH}; set CHROMIUM_PATH.`);
  return false;
}

/** A real browser without a window that talks to nobody by itself. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: PATH,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
