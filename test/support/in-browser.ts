import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { type RunningServer, serve } from '#platform/http/server/serve.ts';
import { connectBrowser } from './chromium.ts';
import { AUTOFOCUS, faultsOf } from './page-faults.ts';

/** Serves a handler to the browser of the run. Opens and closes both with the group of tests that calls this. */
export function inBrowser(fetch: Parameters<typeof serve>[0]): {
  readonly browser: Browser;
  readonly origin: string;
} {
  let browser: Browser | undefined;
  let server: RunningServer | undefined;
  beforeAll(async () => {
    browser = await connectBrowser();
    server = await serve(fetch, { host: '127.0.0.1', port: 0 });
  });
  afterAll(async () => {
    await browser?.close();
    server?.destroy();
  });
  return {
    get browser() {
      if (!browser) throw new Error('The browser exists when tests run, not yet when they are described.');
      return browser;
    },
    get origin() {
      return `http://127.0.0.1:${server?.port}`;
    },
  };
}

/** The colour schemes and widths (pixels) in which pages are viewed, each once. */
export const LOOKS = [
  ['light', 1280],
  ['dark', 360],
] as const;

/**
 * A page that collects its faults.
 *
 * @returns `look` checks that nothing sticks out at the side, and with `SCREENSHOTS` set to a folder keeps a picture there
 */
export async function openLook(
  { browser, origin }: { browser: Browser; origin: string },
  [colorScheme, width]: readonly ['light' | 'dark', number],
  options: BrowserContextOptions = {},
) {
  const viewport = { width, height: 900 };
  const context = await browser.newContext({ ...options, colorScheme, viewport });
  const page = await context.newPage();
  const faults = faultsOf(page, origin, (text) => AUTOFOCUS.test(text));
  const look = async (name: string) => {
    const wide = await page.locator('body').evaluate((body) => document.documentElement.scrollWidth - body.clientWidth);
    expect(wide, `pixels that ${name} is too wide`).toBe(0);
    if (!process.env.SCREENSHOTS) return;
    const path = `${process.env.SCREENSHOTS}/${name}-${colorScheme}-${width}.png`;
    await page.screenshot({ path, fullPage: true });
  };
  return { page, faults, look, close: () => context.close() };
}

/** Whether a page is dark or wider than its window, and what of it lacks a label or a picture. */
export const appearance = (page: Page) =>
  page.evaluate(() => {
    const { backgroundColor, color } = getComputedStyle(document.body);
    const { scrollWidth, clientWidth } = document.documentElement;
    const brightness = (text: string) => Number(/\d+/.exec(text)?.[0]);
    const fields = document.querySelectorAll<HTMLInputElement>(':is(input:not([type=hidden]), select, textarea)');
    return {
      dark: brightness(backgroundColor) < brightness(color),
      overflows: scrollWidth > clientWidth,
      unlabelled: [...fields].filter((field) => !field.labels?.length && !field.ariaLabel).length,
      broken: [...document.images].filter(({ naturalWidth }) => naturalWidth === 0).length,
    };
  });
