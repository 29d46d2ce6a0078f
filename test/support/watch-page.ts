import type { Browser, Page } from 'playwright-core';

/** A page that also collects what must not happen: messages on the console and requests to other hosts. */
export async function openPage(browser: Browser, url: string) {
  const { origin } = new URL(url);
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const faults: string[] = [];
  page.on('console', (message) => faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => {
    const { protocol, origin: host } = new URL(request.url());
    if (protocol !== 'data:' && host !== origin) faults.push(`request to ${host}`);
  });
  page.on('requestfailed', (request) => {
    // Chromium gives up a running download of media whenever it seeks.
    if (request.resourceType() !== 'media') faults.push(`${request.url()} failed`);
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

/** Waits until every medium has come so many seconds far. */
export const played = (page: Page, seconds: number) =>
  page.waitForFunction(
    (least) =>
      [...document.querySelectorAll('video, audio')].every(
        (m) => (m as HTMLMediaElement).currentTime > least,
      ),
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
