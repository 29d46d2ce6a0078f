import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serve } from '../../src/http/server/serve.ts';
import { publishedFile } from '../../src/publications/files.endpoints.ts';
import { UrlSigner } from '../../src/publications/signing/url-signer.ts';
import { watchPage } from '../../src/publications/watch.endpoints.ts';
import { browserAvailable } from '../support/chromium.ts';
import { endpointApp } from '../support/endpoint-app.ts';
import { eventually } from '../support/eventually.ts';
import { createWatchPages, type WatchPages } from '../support/served-watch-page.ts';
import { openPage, played, states, stillAt } from '../support/watch-page.ts';

const SECONDS = 10;

describe.skipIf(!browserAvailable())('the watch page in a browser', () => {
  let pages: WatchPages;
  let browser: WatchPages['browser'];
  let origin: string;
  let lecture: string;
  let podcast: string;

  beforeAll(async () => {
    pages = await createWatchPages();
    ({ browser, origin } = pages);
    lecture = await pages.publish({
      'presenter/source': { seconds: SECONDS },
      'presentation/source': { seconds: SECONDS, video: { size: '640x360' } },
    });
    podcast = await pages.publish({
      'audio/source': { seconds: SECONDS, video: false, container: 'm4a' },
    });
    pages.app.get('/platform', (c) => c.html(`<iframe src="${origin}${lecture}"></iframe>`));
  });
  afterAll(() => pages?.close());

  const open = (path: string, at = origin) => openPage(browser, at + path);

  test('both pictures play together, one of them heard, and pause together', async () => {
    const { page, faults } = await open(lecture);
    await page.getByRole('button', { name: 'Play' }).click();
    await played(page, 1);
    // On a busy machine one may have to wait for the other for a moment.
    await eventually(async () =>
      expect(await states(page)).toMatchObject([
        { paused: false, muted: false },
        { paused: false, muted: true },
      ]),
    );
    await page.getByRole('button', { name: 'Pause' }).click();
    const [leader] = await states(page);
    await stillAt(page, leader?.time ?? Number.NaN);
    expect(faults).toEqual([]);
    await page.close();
  });

  test('keys alone are enough: play, go on by five seconds, change the speed', async () => {
    const { page, faults } = await open(lecture);
    await page.getByLabel('Position').focus();
    await page.keyboard.press('ArrowRight');
    await stillAt(page, 5);
    await page.keyboard.press('ArrowLeft');
    await stillAt(page, 0);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await played(page, 0.5);
    await page.getByLabel('Speed').selectOption('2');
    await page.waitForFunction(() =>
      [...document.querySelectorAll('video')].every((m) => m.playbackRate > 1.4),
    );
    expect(faults).toEqual([]);
    await page.close();
  });

  test('a picture that has fallen behind catches up', async () => {
    const { page, faults } = await open(lecture);
    await page.getByRole('button', { name: 'Play' }).click();
    await played(page, 2.5);
    await page.evaluate(() => {
      const follower = document.querySelector<HTMLVideoElement>('[data-follower]');
      if (follower) follower.currentTime = 0;
    });
    await page.waitForFunction(() => {
      const [a, b] = [...document.querySelectorAll('video')];
      return (
        a &&
        b &&
        !b.paused &&
        !b.seeking &&
        b.currentTime > 2 &&
        Math.abs(a.currentTime - b.currentTime) < 0.5
      );
    });
    expect(faults).toEqual([]);
    await page.close();
  });

  test('at its end the recording can be played again from the start', async () => {
    const { page, faults } = await open(lecture);
    await page.evaluate((end) => {
      const leader = document.querySelector<HTMLVideoElement>('[data-leader]');
      if (leader) leader.currentTime = end;
    }, SECONDS - 0.5);
    await page.getByRole('button', { name: 'Play' }).click();
    await page.waitForFunction(() => document.querySelector<HTMLVideoElement>('[data-leader]')?.ended);
    await page.getByRole('button', { name: 'Play' }).click();
    await page.waitForFunction(() =>
      [...document.querySelectorAll('video')].every(
        (m) => !m.paused && m.currentTime > 0.3 && m.currentTime < 8,
      ),
    );
    expect(faults).toEqual([]);
    await page.close();
  });

  test('the pointer over the position bar shows the picture of that moment', async () => {
    const { page, faults } = await open(lecture);
    const preview = page.locator('[data-part="preview"]');
    expect(await preview.isVisible()).toBe(false);
    await page.getByLabel('Position').hover({ position: { x: 640, y: 8 } });
    await preview.waitFor({ state: 'visible' });
    const picture = preview.locator('div');
    expect(await picture.evaluate((e) => getComputedStyle(e).backgroundImage)).toMatch(/timeline\.jpg"\)$/);
    expect(await preview.textContent()).toBe('0:05');
    await page.mouse.move(640, 700);
    await preview.waitFor({ state: 'hidden' });
    expect(faults).toEqual([]);
    await page.close();
  });

  test('pictures stand side by side with the same height, and below each other on a phone', async () => {
    const { page } = await open(lecture);
    const boxes = async () =>
      Promise.all((await page.locator('video').all()).map(async (video) => video.boundingBox()));
    await page.waitForFunction(() => [...document.querySelectorAll('video')].every((m) => m.style.flexGrow));
    const [left, right] = await boxes();
    expect(left?.y).toBe(right?.y);
    expect(Math.abs((left?.height ?? 0) - (right?.height ?? 0))).toBeLessThan(2);
    await page.setViewportSize({ width: 390, height: 844 });
    const [upper, lower] = await boxes();
    expect(lower?.y).toBeGreaterThanOrEqual((upper?.y ?? 0) + (upper?.height ?? 0));
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await page.close();
  });

  test('sound alone plays in front of its waveform', async () => {
    const { page, faults } = await open(podcast);
    expect(
      await page.locator('img').evaluate((image) => (image as HTMLImageElement).naturalWidth),
    ).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Play' }).click();
    await played(page, 0.5);
    expect(await states(page)).toMatchObject([{ paused: false, muted: false }]);
    expect(faults).toEqual([]);
    await page.close();
  });

  test('a page with a signed address plays files with signed addresses', async () => {
    const { database, storage } = pages.bench;
    const publicUrl = 'https://video.example';
    const signer = new UrlSigner({ keyId: 'inlet', secret: 'secret', ttlSeconds: 60 });
    const app = endpointApp([watchPage, publishedFile], {
      database,
      storage,
      addresses: { signer, publicUrl },
    });
    const signed = await serve((request, env) => app.fetch(request, env), { host: '127.0.0.1', port: 0 });
    const validUntil = Date.now() + 60_000;
    const address = signer.sign(publicUrl + lecture, { validUntil, source: '127.0.0.1' });
    const { page, faults } = await open(address.slice(publicUrl.length), `http://127.0.0.1:${signed.port}`);
    await page.getByLabel('Position').hover({ position: { x: 640, y: 8 } });
    await page.getByRole('button', { name: 'Play' }).click();
    await played(page, 1);
    await page.waitForLoadState('networkidle');
    expect(faults).toEqual([]);
    await page.close();
    signed.destroy();
  });

  test('without scripts the recording has the controls of the browser', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(origin + lecture);
    expect(await page.locator('video[controls]').count()).toBe(2);
    expect(await page.getByRole('button', { name: 'Play' }).isVisible()).toBe(false);
    await context.close();
  });

  test('a learning platform on another site can show the page in a frame', async () => {
    const page = await browser.newPage();
    await page.goto(`${origin.replace('127.0.0.1', 'localhost')}/platform`);
    const frame = page.frame({ url: origin + lecture });
    await frame?.waitForFunction(() => {
      const [video] = document.querySelectorAll('video');
      return video && video.readyState > 0 && video.getBoundingClientRect().height > 0;
    });
    expect(await frame?.getByRole('button', { name: 'Play' }).isVisible()).toBe(true);
    await page.close();
  });

  test('a media file opened by itself plays under its policy', async () => {
    const { page, faults } = await open(lecture);
    const href = await page.getByRole('link').first().getAttribute('href');
    await page.goto(new URL(href ?? '', origin + lecture).href);
    await page.waitForFunction(() => (document.querySelector('video')?.readyState ?? 0) > 0);
    expect(faults).toEqual([]);
    await page.close();
  });
});
