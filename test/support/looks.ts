import type { Browser, BrowserContextOptions } from 'playwright-core';
import { expect } from 'vitest';
import { faultsOf } from './page-faults.ts';

/** In which colours and how wide, in pixels, pages are looked at. */
export const LOOKS = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 360],
  ['dark', 360],
] as const;

/** Browsers say so of a field that a test has filled in before they got to it. */
const isUsual = (text: string) => text.startsWith('Autofocus processing was blocked');

/**
 * A page that collects its faults.
 *
 * @returns `look` checks that nothing sticks out at the side, and with `SCREENSHOTS` set to a folder keeps a picture there
 */
export async function openLook(
  { browser, origin }: { browser: Browser; origin: string },
  [colorScheme, width]: (typeof LOOKS)[number],
  options: BrowserContextOptions = {},
) {
  const viewport = { width, height: 900 };
  const context = await browser.newContext({ ...options, colorScheme, viewport });
  const page = await context.newPage();
  const faults = faultsOf(page, origin, isUsual);
  const look = async (name: string) => {
    const wide = await page
      .locator('body')
      .evaluate((body) => document.documentElement.scrollWidth - body.clientWidth);
    expect(wide, `pixels that ${name} is too wide`).toBe(0);
    if (!process.env.SCREENSHOTS) return;
    const path = `${process.env.SCREENSHOTS}/${name}-${colorScheme}-${width}.png`;
    await page.screenshot({ path, fullPage: true });
  };
  return { page, faults, look, close: () => context.close() };
}
