import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

/** Draws no windows of its own, and so takes three quarters of the other's processor time. */
const HEADLESS = '/usr/bin/chromium-headless-shell';
const WHOLE = '/usr/bin/chromium';
/** The path of Chromium. */
export const CHROMIUM = process.env.CHROMIUM_PATH ?? (existsSync(HEADLESS) ? HEADLESS : WHOLE);

/** The options of the browser of all page tests: without a window, and with no requests but those of its pages. */
export const BROWSER_OPTIONS = {
  executablePath: CHROMIUM,
  args: [
    ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
    ...['--disable-background-networking', '--disable-component-update'],
  ],
};

/** Starts a browser for a program outside of the tests. */
export const launchBrowser = () => chromium.launch(BROWSER_OPTIONS);
