import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { browserAvailable, connectBrowser } from '../support/chromium.ts';
import { openPage, played, states } from '../support/watch-page.ts';
import { startWatchServer } from '../support/watch-server.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

describe.skipIf(!browserAvailable())('playing by playlists in a browser', () => {
  let watch: Awaited<ReturnType<typeof startWatchServer>>;
  let browser: Browser;
  let lecture: string;

  beforeAll(async () => {
    watch = await startWatchServer();
    browser = await connectBrowser();
    // As soft as a camera's picture: the lowest renditions have about 0.2 Mbit/s each.
    const video = {
      size: '1280x720',
      filter: 'scale=320:180,scale=1280:720',
      options: ['-g', '60', '-crf', '16', '-preset', 'ultrafast'],
    };
    lecture = await watch.published({
      'presenter/source': { seconds: 60, video: { ...video, rate: 15 } },
      'presentation/source': { seconds: 60, audio: false, video: { ...video, rate: 10 } },
    });
  });
  afterAll(async () => {
    await browser?.close();
    await watch?.close();
  });

  const open = async (path = lecture) => {
    const opened = await openPage(browser, watch.origin + path);
    onTestFinished(() => opened.page.close());
    return opened;
  };
  /** A page on a slow line, which counts how often a medium lacks data while it plays: on a busy machine it also waits with data. */
  const slowPage = async (megabits: number) => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    onTestFinished(() => page.close());
    const devtools = await page.context().newCDPSession(page);
    const limit = (mbits: number) => {
      const throughput = mbits * 125_000;
      const conditions = { offline: false, latency: 100, downloadThroughput: throughput, uploadThroughput: throughput };
      return devtools.send('Network.emulateNetworkConditions', conditions);
    };
    await devtools.send('Network.enable');
    await limit(megabits);
    await page.addInitScript(() => {
      document.addEventListener(
        'waiting',
        ({ target }) => {
          const media = target as HTMLMediaElement;
          const { buffered, currentTime } = media;
          const lacksData = buffered.length > 0 && buffered.end(buffered.length - 1) < currentTime + 0.2;
          if (currentTime > 1 && lacksData) media.dataset.stalls = String(Number(media.dataset.stalls ?? 0) + 1);
        },
        true,
      );
    });
    return { page, limit };
  };
  const heights = (page: Page) =>
    page.evaluate(() => [...document.querySelectorAll('video')].map(({ videoHeight }) => videoHeight));
  const haveHeights = (page: Page, ...expected: number[]) =>
    expect.poll(() => heights(page), { timeout: 30_000 }).toEqual(expected);
  const openSettings = (page: Page) => page.getByRole('button', { name: 'Settings' }).click();
  const seekTo = (page: Page, seconds: number) =>
    page.locator('[data-leader]').evaluate((medium: HTMLMediaElement, position) => {
      medium.currentTime = position;
    }, seconds);
  const play = (page: Page) => page.getByRole('button', { name: 'Play', exact: true }).click();

  test('on a slow line both tracks play in the lowest quality, in step, and recover upward', async () => {
    const { page, limit } = await slowPage(1);
    await page.goto(watch.origin + lecture);
    await play(page);
    await played(page, 16);
    expect(await heights(page)).toEqual([360, 360]);
    await page.waitForFunction(() => {
      const [a, b] = [...document.querySelectorAll('video')].map((m) => m.currentTime);
      return Math.abs((a ?? 0) - (b ?? 99)) < 0.1;
    });
    expect(await page.locator('[data-stalls]').count()).toBe(0);
    await limit(20);
    await haveHeights(page, 720, 720);
  });

  test('the viewer chooses the quality, which both tracks have, and the automatic choice again', async () => {
    const { page, faults } = await open();
    await play(page);
    await played(page, 0.5);
    await openSettings(page);
    const quality = page.getByLabel('Quality');
    expect(await quality.locator('option').allTextContents()).toEqual([
      expect.stringMatching(/^Auto/),
      ...['720p', '360p'],
    ]);
    await quality.selectOption('720p');
    await haveHeights(page, 720, 720);
    await quality.selectOption('360p');
    await haveHeights(page, 360, 360);
    await quality.selectOption({ index: 0 });
    await haveHeights(page, 720, 720);
    expect(await quality.locator('option').first().textContent()).toBe('Auto (720p)');
    expect(faults).toEqual([]);
  });

  test('a quality that is chosen before the playlists are there is used', async () => {
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    const { promise: chosen, resolve } = Promise.withResolvers<void>();
    await page.route('**/*.m3u8', async (route) => {
      await chosen;
      await route.continue();
    });
    await page.goto(watch.origin + lecture);
    await openSettings(page);
    await page.getByLabel('Quality').selectOption('360p');
    resolve();
    await play(page);
    await played(page, 4);
    expect(await heights(page)).toEqual([360, 360]);
  });

  test('a player that waits for the line shows and says so', async () => {
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    await page.clock.install();
    await page.goto(watch.origin + lecture);
    await play(page);
    await played(page, 0.5);
    const waiting = page.locator('[data-waiting]');
    expect(await waiting.count()).toBe(0);
    await page.route('**/publications/**', (route) => route.abort('connectionrefused'));
    await seekTo(page, 50);
    await page.clock.fastForward(1000);
    await waiting.waitFor();
    await page.clock.fastForward(5000);
    await page.getByRole('status').getByText('Loading').waitFor();
    await page.unroute('**/publications/**');
    await page.clock.fastForward(6000);
    await played(page, 50.2);
    await waiting.waitFor({ state: 'detached' });
    expect(await page.getByRole('status').allTextContents()).not.toContain('Loading');
  });

  test('before it is started, little is loaded ahead', async () => {
    const { page } = await open();
    const ahead = () => page.evaluate(() => [...document.querySelectorAll('video')].map((m) => m.buffered.end(0)));
    await page.waitForFunction(() => [...document.querySelectorAll('video')].every((m) => m.buffered.length > 0));
    await page.waitForTimeout(500);
    for (const seconds of await ahead()) expect(seconds).toBeLessThan(7);
  });

  test.each(['?t=30', '?t=0m30s', '#t=30'])('a page with %s begins there', async (position) => {
    const { page, faults } = await open(lecture + position);
    await page.waitForFunction(() =>
      [...document.querySelectorAll('video')].every((m) => m.readyState > 1 && Math.abs(m.currentTime - 30) < 0.1),
    );
    expect(await page.locator('[data-part="time"]').textContent()).toBe('0:30 / 1:00');
    await page.getByRole('button', { name: 'Share' }).click();
    expect(await page.getByLabel('Link at 0:30').inputValue()).toBe(`${watch.origin}${lecture}?t=30`);
    await seekTo(page, 40);
    await page.getByRole('button', { name: 'Copy link at this time' }).click();
    expect(await page.getByLabel('Link at 0:40').inputValue()).toBe(`${watch.origin}${lecture}?t=40`);
    expect(await page.getByLabel('Embed code').inputValue()).toContain(
      `src="${watch.origin}${lecture.replace('watch', 'embed')}"`,
    );
    expect(faults).toEqual([]);
  });

  test('without the library the best file plays', async () => {
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    await page.route('**/hls.js', (route) => route.abort());
    await page.goto(watch.origin + lecture);
    await play(page);
    await played(page, 1);
    expect(await heights(page)).toEqual([720, 720]);
    expect(await page.getByRole('alert').isVisible()).toBe(false);
  });

  test.each(['fails', 'names unknown codecs'])('a playlist that %s is replaced by the file', async (fault) => {
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    onTestFinished(() => page.unrouteAll({ behavior: 'ignoreErrors' }));
    await page.route('**/*.m3u8', async (route) => {
      if (fault === 'fails') return route.fulfill({ status: 404 });
      const response = await route.fetch();
      const body = (await response.text()).replaceAll(/CODECS="[^"]*"/g, 'CODECS="hvc1.9.9.L999"');
      await route.fulfill({ response, body });
    });
    await page.goto(`${watch.origin}${lecture}?t=20`);
    await play(page);
    await played(page, 20.5);
    expect(await page.getByRole('alert').isVisible()).toBe(false);
    await openSettings(page);
    await page.getByLabel('Speed').selectOption('1.25');
    await page.getByLabel('Quality').selectOption('360p');
    await haveHeights(page, 360, 360);
    await played(page, 20.5);
    expect((await states(page))[0]).toMatchObject({ paused: false, rate: 1.25 });
  });

  test.each([1, 3])('a segment that arrives damaged, %i times in a row, only delays it', async (times) => {
    const { page } = await open();
    // A request that the end of the test cuts off is no fault.
    onTestFinished(() => page.unrouteAll({ behavior: 'ignoreErrors' }));
    const leader = page.locator('[data-leader]');
    await openSettings(page);
    await page.getByLabel('Speed').selectOption('1.5');
    await play(page);
    await haveHeights(page, 720, 720);
    await played(page, 3);
    await leader.evaluate((medium: HTMLVideoElement) => {
      medium.addEventListener('playing', () => {
        medium.dataset.begins = String(Math.min(Number(medium.dataset.begins ?? 99), medium.currentTime));
      });
    });
    const folders: string[] = await leader.evaluate(({ dataset }: HTMLVideoElement) =>
      JSON.parse(dataset.renditions ?? '').map(
        ({ url }: { url: string }) => new URL('.', new URL(url, location.href)).href,
      ),
    );
    const lowest = folders.at(-1) ?? '';
    let damaged = 0;
    await page.route(
      ({ href }) => folders.some((folder) => href.startsWith(folder)),
      async (route) => {
        const response = await route.fetch();
        const body = await response.body();
        // Before the choice, a segment of the other quality may still be asked for, and then be dropped.
        const isUsed = damaged > 0 || route.request().url().startsWith(lowest);
        if (isUsed && damaged < times && body.includes('mdat')) {
          damaged += 1;
          body.write('what', body.indexOf('mdat'));
        }
        await route.fulfill({ response, body });
      },
    );
    await openSettings(page);
    await page.getByLabel('Quality').selectOption('360p');
    await expect.poll(() => damaged).toBe(times);
    await leader.and(page.locator('[data-begins]')).waitFor();
    await played(page, 8);
    expect(Number(await leader.getAttribute('data-begins'))).toBeGreaterThan(2.5);
    expect((await states(page))[0]).toMatchObject({ paused: false, rate: 1.5 });
    expect(await leader.getAttribute('src')).toMatch(/^blob:/);
  });

  test('a server that is away for a while only delays it', async () => {
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    await page.clock.install();
    await page.goto(watch.origin + lecture);
    await play(page);
    await played(page, 0.5);
    await haveHeights(page, 720, 720);
    const asked: string[] = [];
    await page.route('**/publications/**', async (route) => {
      asked.push(route.request().url());
      await route.abort('connectionrefused');
    });
    // What is loaded of the other quality is dropped.
    await openSettings(page);
    await page.getByLabel('Quality').selectOption('360p');
    const attempts = () => Math.max(0, ...[...Map.groupBy(asked, (url) => url).values()].map(({ length }) => length));
    // The library gives up after seven.
    const goOn = async () => {
      await page.clock.fastForward(5000);
      return attempts();
    };
    await expect.poll(goOn, { timeout: 60_000, interval: 500 }).toBeGreaterThan(8);
    await page.unroute('**/publications/**');
    await seekTo(page, 50);
    await page.clock.fastForward(5000);
    await played(page, 50.5);
    const sources = await page.locator('video').evaluateAll((all) => all.map((each) => (each as HTMLMediaElement).src));
    expect(sources).toEqual([expect.stringMatching(/^blob:/), expect.stringMatching(/^blob:/)]);
  });

  test('the pictures lie in each other as the viewer chose before', async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(watch.origin + lecture);
    const widths = async () =>
      Promise.all((await page.locator('video').all()).map(async (video) => (await video.boundingBox())?.width ?? 0));
    await openSettings(page);
    await page.getByLabel('Layout').selectOption('One in the corner');
    const [presenter = 0, presentation = 0] = await widths();
    expect(presentation).toBe(1280);
    expect(presenter).toBeLessThan(400);
    await page.keyboard.press('Escape');
    expect(await page.getByLabel('Layout').isVisible()).toBe(false);
    await page.keyboard.press('s');
    expect(await page.getByRole('status').first().textContent()).toBe('Swap pictures on');
    expect((await widths())[0]).toBe(1280);
    await page.reload();
    await expect.poll(async () => (await widths())[0]).toBe(1280);
    await page.keyboard.press('v');
    expect(Math.abs(((await widths())[0] ?? 0) - ((await widths())[1] ?? 0))).toBeLessThan(5);
    expect(await page.locator('video').first().boundingBox()).toMatchObject({ x: expect.closeTo(641.5, 0) });
  });

  test('a picture in the corner has no better quality than it can show', async () => {
    const { page } = await open();
    await page.keyboard.press('v');
    await play(page);
    await expect.poll(() => heights(page), { timeout: 20_000 }).toEqual([360, 720]);
  });

  test.each([
    ['watch', 'light'],
    ['watch', 'dark'],
    ['embed', 'dark'],
  ] as const)('axe finds nothing wrong, with panels open: %s, %s', async (name, colorScheme) => {
    const context = await browser.newContext({ colorScheme, bypassCSP: true });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(watch.origin + lecture.replace('watch', name));
    await page.evaluate(await readFile(AXE, 'utf8'));
    for (const panel of ['Settings', 'Share']) {
      await page.getByRole('button', { name: panel }).click();
      const { violations } = await page.evaluate(() =>
        (
          window as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: unknown[] }[] }> } }
        ).axe.run(),
      );
      expect(violations.map(({ id, nodes }) => `${id}: ${JSON.stringify(nodes)}`)).toEqual([]);
    }
  });
});
