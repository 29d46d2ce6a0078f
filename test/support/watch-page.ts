import type { Browser, Page } from 'playwright-core';
import { faultsOf } from './page-faults.ts';

/** A page that collects its faults, among them requests that failed. */
export async function openPage(browser: Browser, url: string) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const faults = faultsOf(page, new URL(url).origin);
  page.on('requestfailed', (request) => {
    // Chromium gives up a running download of media whenever it seeks, and the player one of another quality.
    const isGivenUp = request.resourceType() === 'media' || request.failure()?.errorText === 'net::ERR_ABORTED';
    if (!isGivenUp) faults.push(`${request.url()} failed`);
  });
  await page.goto(url);
  return { page, faults };
}

/** What each medium of the page does, in order. */
export const states = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLMediaElement>('video, audio')].map((media) => ({
      time: media.currentTime,
      paused: media.paused,
      muted: media.muted,
      rate: media.playbackRate,
      seeking: media.seeking,
    })),
  );

/** Waits until all pictures are there; what is not loaded yet takes every place for its own. */
export const loaded = (page: Page) =>
  page.waitForFunction(() => [...document.querySelectorAll('video')].every((m) => m.readyState >= 2));

/** Waits until every medium has come so many seconds far. */
export const played = (page: Page, seconds: number) =>
  page.waitForFunction(
    (least) => [...document.querySelectorAll('video, audio')].every((m) => (m as HTMLMediaElement).currentTime > least),
    seconds,
  );

/** Waits until all are paused at the same place, give or take a frame. */
export const stillAt = async (page: Page, seconds: number) => {
  const still = page.waitForFunction(
    (place) =>
      [...document.querySelectorAll('video')].every(
        (m) => m.paused && !m.seeking && Math.abs(m.currentTime - place) < 0.06,
      ),
    seconds,
  );
  await still.catch(async (cause) => {
    throw new Error(`They are not still at ${seconds}: ${JSON.stringify(await states(page))}`, { cause });
  });
};
