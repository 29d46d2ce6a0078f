import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { countViewOfRecording } from '#pages/watch/count-view.endpoint.ts';
import { watchAsset, watchPage } from '#pages/watch/watch.endpoints.ts';
import { serve } from '#platform/http/server/serve.ts';
import { publishedFile } from '#publications/files.endpoints.ts';
import { UrlSigner } from '#publications/signing/url-signer.ts';
import { browserAvailable, connectBrowser } from '../support/chromium.ts';
import { endpointApp } from '../support/endpoint-app.ts';
import { loaded, openPage, played, states, stillAt } from '../support/watch-page.ts';
import { startWatchServer } from '../support/watch-server.ts';

const SECONDS = 20;
const SRT =
  '1\n00:00:00,000 --> 00:00:06,000\nGood morning & <i>welcome</i>\n\n2\n00:00:10,000 --> 00:00:19,000\nGroups\n';
const VTT = 'WEBVTT\n\n00:00.000 --> 00:06.000\nGuten Morgen\n';
const CHAPTERS =
  'WEBVTT\n\n00:00.000 --> 00:04.000\nIntroduction\n\n00:04.000 --> 00:12.000\nGroups &amp; rings\n\n00:12.000 --> 00:20.000\nQuestions\n';
const SCREENS = [
  ['a desk', { width: 1280, height: 800 }],
  ['a phone', { width: 360, height: 740 }],
  ['a phone held sideways', { width: 740, height: 360 }],
] as const;

describe.skipIf(!browserAvailable())('the watch page in a browser', () => {
  let watch: Awaited<ReturnType<typeof startWatchServer>>;
  let browser: Browser;
  let origin: string;
  let lecture: string;
  const published: typeof watch.published = (...clips) => watch.published(...clips);

  beforeAll(async () => {
    watch = await startWatchServer();
    origin = watch.origin;
    watch.app.get('/platform', (c) => c.html(`<iframe src="${origin}${lecture}"></iframe>`));
    watch.app.get('/sandbox', (c) => c.html(`<iframe sandbox="allow-scripts" src="${origin}${lecture}"></iframe>`));
    browser = await connectBrowser();
    lecture = await published(
      {
        'presenter/source': { seconds: SECONDS, video: { size: '320x240' } },
        'presentation/source': { seconds: SECONDS, video: { size: '640x360' } },
      },
      { en: SRT, de: VTT, 'chapters/source': CHAPTERS },
    );
  });
  afterAll(async () => {
    await browser?.close();
    await watch?.close();
  });

  const open = async (path: string, at = origin) => {
    const opened = await openPage(browser, at + path);
    onTestFinished(() => opened.page.close());
    return opened;
  };
  const phone = async (viewport: { width: number; height: number } = SCREENS[1][1]) => {
    const context = await browser.newContext({ viewport, hasTouch: true, isMobile: true });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(origin + lecture);
    return { context, page };
  };
  const play = (page: Page) => page.getByRole('button', { name: 'Play' }).click();
  const openSettings = (page: Page) => page.getByRole('button', { name: 'Settings' }).click();
  const cues = (page: Page) => page.locator('[data-part="cues"]');
  /** At the beginning, which has captions once the page no longer waits to be started. */
  const begun = async (page: Page) => {
    await page.waitForFunction(() => (document.querySelector<HTMLMediaElement>('[data-leader]')?.readyState ?? 0) > 1);
    await page.getByLabel('Position').press('0');
  };
  const shows = (page: Page, text: string) =>
    page.waitForFunction((t) => document.querySelector('[data-part="cues"]')?.textContent === t, text);

  test('both pictures play together, one of them heard, and pause together', async () => {
    const { page, faults } = await open(lecture);
    await play(page);
    await played(page, 1);
    // On a busy machine one may have to wait for the other for a moment.
    await expect
      .poll(() => states(page))
      .toMatchObject([
        { paused: false, muted: false },
        { paused: false, muted: true },
      ]);
    await page.getByRole('button', { name: 'Pause' }).click();
    const [leader] = await states(page);
    await stillAt(page, leader?.time ?? Number.NaN);
    expect(faults).toEqual([]);
  });

  test('a picture that has fallen behind catches up', async () => {
    const { page, faults } = await open(lecture);
    await play(page);
    await played(page, 2.5);
    await page.evaluate(() => {
      const follower = document.querySelector<HTMLVideoElement>('[data-follower]');
      if (follower) follower.currentTime = 0;
    });
    await page.waitForFunction(() => {
      const [a, b] = [...document.querySelectorAll('video')];
      if (!a || !b || b.paused || b.seeking) return false;
      return b.currentTime > 2 && Math.abs(a.currentTime - b.currentTime) < 0.5;
    });
    expect(faults).toEqual([]);
  });

  test('a picture that ends earlier shows its last frame after a jump past its end', async () => {
    const shorter = await published({
      'presenter/source': { seconds: 4, video: { size: '320x240' } },
      'presentation/source': { seconds: 9, video: { size: '640x360' } },
    });
    const { page } = await open(`${shorter}?t=1`);
    const follower = page.locator('[data-follower]');
    await follower.evaluate((medium: HTMLVideoElement) => {
      const show = (_: number, { mediaTime }: VideoFrameCallbackMetadata) => {
        medium.dataset.shown = String(mediaTime);
        medium.requestVideoFrameCallback(show);
      };
      medium.requestVideoFrameCallback(show);
    });
    await loaded(page);
    await page.keyboard.press('8');
    await expect.poll(async () => Number(await follower.getAttribute('data-shown'))).toBeGreaterThan(3.9);
  });

  test('what follows with the sound starts in the event of the click, which Safari requires', async () => {
    const sounding = { seconds: 6, video: { size: '320x240' } } as const;
    const longer = { ...sounding, seconds: 8, audio: false } as const;
    const path = await published({ 'presenter/source': sounding, 'presentation/source': longer });
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    await page.addInitScript(() => {
      const { play } = HTMLMediaElement.prototype;
      HTMLMediaElement.prototype.play = function (this: HTMLMediaElement) {
        if (window.event?.type === 'click') this.dataset.allowed = 'yes';
        const isAllowed = this.muted || this.dataset.allowed;
        return isAllowed ? play.call(this) : Promise.reject(new DOMException('', 'NotAllowedError'));
      };
    });
    await page.goto(origin + path);
    await play(page);
    await page.waitForFunction(() => {
      const [sound, leader] = [...document.querySelectorAll('video')];
      if (!sound || !leader || sound.muted || !leader.muted || sound.paused) return false;
      return sound.currentTime > 1 && Math.abs(sound.currentTime - leader.currentTime) < 0.1;
    });
    await page.getByRole('button', { name: 'Pause' }).click();
    await stillAt(page, (await states(page))[1]?.time ?? Number.NaN);
  });

  test('at its end the recording can be played again from the start', async () => {
    const { page, faults } = await open(lecture);
    await page.evaluate((end) => {
      const leader = document.querySelector<HTMLVideoElement>('[data-leader]');
      if (leader) leader.currentTime = end;
    }, SECONDS - 0.5);
    await play(page);
    await page.waitForFunction(() => document.querySelector<HTMLVideoElement>('[data-leader]')?.ended);
    await play(page);
    await page.waitForFunction(() =>
      [...document.querySelectorAll('video')].every((m) => !m.paused && m.currentTime > 0.3 && m.currentTime < 8),
    );
    expect(faults).toEqual([]);
  });

  test('the pointer over the position bar shows the picture of that moment', async () => {
    const { page, faults } = await open(lecture);
    const preview = page.locator('[data-part="preview"]');
    expect(await preview.isVisible()).toBe(false);
    await page.getByLabel('Position').hover({ position: { x: 640, y: 8 } });
    await preview.waitFor({ state: 'visible' });
    const picture = preview.locator('div');
    expect(await picture.evaluate((e) => getComputedStyle(e).backgroundImage)).toMatch(/timeline\.jpg"\)$/);
    expect(await preview.textContent()).toBe('0:10 Groups & rings');
    await page.mouse.move(640, 700);
    await preview.waitFor({ state: 'hidden' });
    expect(faults).toEqual([]);
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
  });

  test('sound alone plays in front of its waveform, with its captions', async () => {
    const sound = { 'audio/source': { seconds: SECONDS, video: false, container: 'm4a' } } as const;
    const { page, faults } = await open(await published(sound, { de: VTT }));
    expect(await page.locator('img').evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBeGreaterThan(0);
    await play(page);
    await played(page, 0.5);
    expect(await states(page)).toMatchObject([{ paused: false, muted: false }]);
    expect(await page.getByLabel('Language of the captions').isVisible()).toBe(false);
    await page.keyboard.press('c');
    await begun(page);
    await shows(page, 'Guten Morgen');
    await page.keyboard.press('c');
    await shows(page, '');
    expect(faults).toEqual([]);
  });

  test('a page with a signed address plays files with signed addresses', async () => {
    const publicUrl = 'https://video.example';
    const signer = new UrlSigner({ keyId: 'inlet', secret: 'secret', ttlSeconds: 60 });
    const services = { ...watch.services, addresses: { signer, publicUrl, access: 'signed' } as const };
    const app = endpointApp([watchPage, watchAsset, countViewOfRecording, publishedFile], services);
    const signed = await serve((request, env) => app.fetch(request, env), { host: '127.0.0.1', port: 0 });
    onTestFinished(() => signed.destroy());
    const limits = { validUntil: Date.now() + 60_000, source: '127.0.0.1' };
    const address = signer.sign(publicUrl + lecture, limits).slice(publicUrl.length);
    const { page, faults } = await open(address, `http://127.0.0.1:${signed.port}`);
    await page.getByRole('button', { name: 'Captions' }).click();
    await begun(page);
    await shows(page, 'Good morning & welcome');
    await page.getByLabel('Position').hover({ position: { x: 640, y: 8 } });
    await play(page);
    await played(page, 1);
    const urls = await page.evaluate(() =>
      ['track[src]', 'video[data-playlist]', 'video[poster]', '[data-sheet]'].flatMap((selector) =>
        [...document.querySelectorAll(selector)].map(
          (element) => element.getAttribute(/\[(.*)\]/.exec(selector)?.[1] ?? '') ?? '',
        ),
      ),
    );
    expect(urls).toHaveLength(8);
    const status = async (url: string) => (await page.request.get(new URL(url, page.url()).href)).status();
    for (const url of urls) {
      expect(url).toMatch(/\?policy=.*&signature=/);
      expect([await status(url), await status(url.replace(/\?.*/, ''))]).toEqual([200, 400]);
    }
    expect(faults).toEqual([]);
  });

  test.each(SCREENS)('the player for frames plays and fills its frame on %s', async (_, viewport) => {
    const { page, faults } = await open(lecture.replace('/watch/', '/embed/'));
    await page.setViewportSize(viewport);
    await play(page);
    await played(page, 1);
    const heights = await page.evaluate(() => {
      const { scrollWidth, scrollHeight } = document.documentElement;
      return { scrollWidth, scrollHeight, bar: document.querySelector('.bar')?.getBoundingClientRect().bottom };
    });
    expect(heights).toEqual({ scrollWidth: viewport.width, scrollHeight: viewport.height, bar: viewport.height });
    expect(faults).toEqual([]);
  });

  test('one view is counted when the recording first plays, also in a frame of another site', async () => {
    const counted = async () => {
      const views = watch.bench.database.selectFrom('event_views').select((eb) => eb.fn.sum<string>('views').as('all'));
      return Number((await views.executeTakeFirstOrThrow()).all);
    };
    const before = await counted();
    const { page, faults } = await open(lecture);
    await loaded(page);
    expect(await counted()).toBe(before);
    await play(page);
    await played(page, 1);
    await expect.poll(counted).toBe(before + 1);
    await page.getByRole('button', { name: 'Pause' }).click();
    await play(page);
    await played(page, 2);
    expect(await counted()).toBe(before + 1);
    const { page: platform } = await open('/platform', origin.replace('127.0.0.1', 'localhost'));
    await platform.frameLocator('iframe').getByRole('button', { name: 'Play' }).click();
    await expect.poll(counted).toBe(before + 2);
    expect(faults).toEqual([]);
  });

  test('panels of sound alone open within a frame, and within a full screen', async () => {
    const path = await published({ 'audio/source': { seconds: 1, video: false, container: 'm4a' } });
    const { page } = await open(path.replace('/watch/', '/embed/'));
    await page.setViewportSize({ width: 480, height: 160 });
    const panel = page.getByRole('group', { name: 'Settings' });
    const isWithin = async () => {
      await openSettings(page);
      await panel.waitFor();
      const { x = -1, y = -1, width = 0, height = 0 } = (await panel.boundingBox()) ?? {};
      const size = await page.evaluate(() => ({ width: innerWidth, height: innerHeight }));
      return x >= 0 && y >= 0 && x + width <= size.width && y + height <= size.height;
    };
    expect(await isWithin()).toBe(true);
    await panel.getByLabel('Keyboard shortcuts').uncheck();
    await page.goto(origin + path);
    await page.getByRole('button', { name: 'Full screen' }).click();
    await page.getByRole('button', { name: 'Leave full screen' }).waitFor();
    expect(await isWithin()).toBe(true);
  });

  test('in a low frame the pictures stand side by side', async () => {
    const { page } = await open(lecture.replace('/watch/', '/embed/'));
    await page.setViewportSize({ width: 390, height: 220 });
    const boxes = await Promise.all((await page.locator('video').all()).map(async (video) => video.boundingBox()));
    const [left, right] = boxes;
    expect((left?.x ?? 0) + (left?.width ?? 0)).toBeLessThanOrEqual(right?.x ?? 0);
    expect(Math.min(...boxes.map((box) => box?.width ?? 0))).toBeGreaterThan(150);
  });

  test('a medium that cannot play is reported until it plays, whatever the other does', async () => {
    const { page } = await open(lecture);
    await loaded(page);
    const notice = page.getByRole('alert');
    const follower = page.locator('[data-follower]');
    const load = (name: '[data-leader]' | '[data-follower]', url: string) =>
      page.locator(name).evaluate((medium, src) => Object.assign(medium, { preload: 'auto', src }), url);
    const [first = '', second = ''] = await page
      .getByRole('link')
      .evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href));
    await load('[data-follower]', 'data:video/mp4,');
    await notice.waitFor();
    expect(await notice.textContent()).toMatch(/cannot play it\. Load the page again, or try the download below\.$/);
    await load('[data-leader]', first);
    await page.waitForFunction((src) => {
      const leader = document.querySelector<HTMLMediaElement>('[data-leader]');
      return leader?.currentSrc === src && leader.readyState >= 2;
    }, first);
    expect(await notice.isVisible()).toBe(true);
    await load('[data-follower]', second);
    await notice.waitFor({ state: 'hidden' });
    expect(await follower.evaluate((medium) => (medium as HTMLMediaElement).error)).toBeNull();
    await load('[data-follower]', 'data:video/mp4,');
    await page.getByLabel('Position').fill('7');
    await notice.getByRole('button', { name: 'Load the page again' }).click();
    await page.waitForURL(`${origin}${lecture}?t=7`);
    await loaded(page);
    expect(await notice.isVisible()).toBe(false);
  });

  test('the player for frames advises no download, which it does not have', async () => {
    const { page } = await open(lecture.replace('/watch/', '/embed/'));
    await loaded(page);
    await page.locator('[data-follower]').evaluate((medium) => {
      (medium as HTMLMediaElement).src = 'data:video/mp4,';
    });
    const notice = page.getByRole('alert');
    await notice.waitFor();
    expect(await notice.textContent()).toMatch(/cannot play it\. Load the page again\.$/);
  });

  test('without scripts the recording has the controls of the browser', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(origin + lecture);
    expect(await page.locator('video[controls]').count()).toBe(2);
    expect(await page.getByRole('button', { name: 'Play' }).isVisible()).toBe(false);
    await context.close();
  });

  test.each(['platform', 'sandbox'])(
    'a learning platform on another site can show the page in a frame: %s',
    async (path) => {
      const page = await browser.newPage();
      await page.goto(`${origin.replace('127.0.0.1', 'localhost')}/${path}`);
      const frame = page.frame({ url: origin + lecture });
      await frame?.waitForFunction(() => {
        const [video] = document.querySelectorAll('video');
        return video && video.readyState > 0 && video.getBoundingClientRect().height > 0;
      });
      expect(await frame?.getByRole('button', { name: 'Play' }).isVisible()).toBe(true);
    },
  );

  test('a frame without an origin shows captions and chapters', async () => {
    const { page } = await open('/sandbox');
    const frame = page.frameLocator('iframe');
    await frame.getByRole('button', { name: 'Captions' }).click();
    await frame.getByLabel('Position').press('0');
    await frame.getByText('Good morning & welcome').waitFor();
    await frame.getByRole('button', { name: 'Chapters' }).waitFor();
  });

  test('a media file opened by itself plays under its policy', async () => {
    const { page, faults } = await open(lecture);
    const href = await page.getByRole('link').first().getAttribute('href');
    await page.goto(new URL(href ?? '', origin + lecture).href);
    await page.waitForFunction(() => (document.querySelector('video')?.readyState ?? 0) > 0);
    expect(faults).toEqual([]);
  });

  describe('captions', () => {
    test('are shown over all pictures, in the language chosen, at their time', async () => {
      const { page, faults } = await open(lecture);
      expect(await cues(page).textContent()).toBe('');
      const button = page.getByRole('button', { name: 'Captions' });
      await button.click();
      await begun(page);
      await shows(page, 'Good morning & welcome');
      expect(await button.getAttribute('aria-pressed')).toBe('true');
      expect(await cues(page).locator('i').textContent()).toBe('welcome');
      const [shown, screens] = await Promise.all([cues(page).boundingBox(), page.locator('.screens').boundingBox()]);
      expect(shown?.width).toBe(screens?.width);

      await openSettings(page);
      const language = page.getByLabel('Language of the captions');
      expect(await language.locator('option').allTextContents()).toEqual(['English', 'Deutsch']);
      await language.selectOption('Deutsch');
      await shows(page, 'Guten Morgen');
      expect(await cues(page).getAttribute('lang')).toBe('de');
      await language.selectOption('English');
      await page.keyboard.press('Escape');
      for (const [digit, text] of Object.entries({ 4: '', 6: 'Groups', 0: 'Good morning & welcome' })) {
        await page.getByLabel('Position').press(digit);
        await shows(page, text);
      }
      await button.click();
      await shows(page, '');
      expect(faults).toEqual([]);
    });

    test('are drawn and chosen by the system in the full screen of iPhones', async () => {
      const { page, faults } = await open(lecture);
      const leader = page.locator('[data-leader]');
      const dispatch = (event: string) => leader.dispatchEvent(event);
      const modes = () =>
        leader.evaluate((medium: HTMLVideoElement) => [...medium.textTracks].slice(0, 2).map(({ mode }) => mode));
      const choose = (...chosen: TextTrackMode[]) =>
        leader.evaluate(async (medium: HTMLVideoElement, all) => {
          const change = new Promise((resolve) =>
            medium.textTracks.addEventListener('change', resolve, { once: true }),
          );
          for (const [i, mode] of all.entries()) Object.assign(medium.textTracks[i] ?? {}, { mode });
          await change;
        }, chosen);
      await page.getByRole('button', { name: 'Captions' }).click();
      await begun(page);
      await shows(page, 'Good morning & welcome');
      await dispatch('webkitbeginfullscreen');
      expect(await modes()).toEqual(['showing', 'disabled']);
      await choose('disabled', 'showing');
      expect(await modes()).toEqual(['disabled', 'showing']);
      await dispatch('webkitendfullscreen');
      expect(await modes()).toEqual(['disabled', 'hidden']);
      await shows(page, 'Guten Morgen');
      await dispatch('webkitbeginfullscreen');
      await choose('disabled', 'disabled');
      await dispatch('webkitendfullscreen');
      await shows(page, '');
      expect(await page.getByRole('button', { name: 'Captions' }).getAttribute('aria-pressed')).toBe('false');
      expect(faults).toEqual([]);
    });

    test('are German for who speaks German', async () => {
      const page = await browser.newPage({ locale: 'de-CH' });
      await page.goto(origin + lecture);
      await page.keyboard.press('c');
      await begun(page);
      await shows(page, 'Guten Morgen');
    });

    test('have no control where there are none', async () => {
      const path = await published({ 'presenter/source': { seconds: 1 } });
      const { page, faults } = await open(path);
      await page.keyboard.press('c');
      expect(await page.getByRole('button', { name: /Captions|Chapters/ }).count()).toBe(0);
      expect(faults).toEqual([]);
    });
  });

  test('chapters are listed and marked, and lead to where they begin', async () => {
    const { page, faults } = await open(lecture);
    const chapters = page.getByRole('button', { name: 'Chapters' });
    await chapters.press('Enter');
    const items = page.getByRole('listitem').getByRole('button');
    expect(await items.allTextContents()).toEqual(['0:00Introduction', '0:04Groups & rings', '0:12Questions']);
    const marks = await page.locator('.marks span').evaluateAll((all) => all.map(({ style }) => style.left));
    expect(marks.map((left) => Math.round(Number.parseFloat(left)))).toEqual([20, 60]);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await stillAt(page, 4);
    expect(await items.and(page.locator('[aria-current]')).allTextContents()).toEqual(['0:04Groups & rings']);
    await page.keyboard.press('Escape');
    expect(await items.first().isVisible()).toBe(false);
    expect(await chapters.evaluate((button) => button === document.activeElement)).toBe(true);
    expect(faults).toEqual([]);
  });

  describe('the controls', () => {
    test('keys work wherever the focus is', async () => {
      const { page, faults } = await open(lecture);
      const status = page.getByRole('status');
      const press = (...keys: string[]) =>
        keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());
      await loaded(page);
      await press('l');
      await stillAt(page, 10);
      expect(await status.textContent()).toBe('0:10');
      await press('j', 'ArrowRight', 'ArrowRight', 'ArrowLeft', 'Shift+ArrowRight');
      await stillAt(page, 5);
      await press('9');
      await stillAt(page, 18);
      await press('l');
      await stillAt(page, SECONDS);
      await press('0', 'j');
      await stillAt(page, 0);
      await press('k');
      await played(page, 0.3);
      await press('m');
      expect((await states(page)).map(({ muted }) => muted)).toEqual([true, true]);
      expect(await status.textContent()).toBe('Sound off');
      await press('m');
      expect(await status.textContent()).toBe('Sound on');
      await press('>', '>', '<');
      await page.waitForFunction(() => [...document.querySelectorAll('video')].every((m) => m.playbackRate > 1.1));
      expect(await page.getByLabel('Speed').inputValue()).toBe('1.25');
      expect(await status.textContent()).toBe('Speed 1.25×');
      await press('c');
      expect(await status.textContent()).toBe('Captions on');
      await press('Space');
      expect((await states(page)).map(({ paused }) => paused)).toContain(true);
      await press('f');
      await page.getByRole('button', { name: 'Leave full screen' }).waitFor();
      await press('f');
      await page.getByRole('button', { name: 'Full screen', exact: true }).waitFor();
      expect(faults).toEqual([]);
    });

    test('keys can be switched off, also for the next page', async () => {
      const { page } = await open(lecture);
      const keys = page.getByLabel('Keyboard shortcuts');
      await openSettings(page);
      await keys.uncheck();
      await page.reload();
      await openSettings(page);
      expect(await keys.isChecked()).toBe(false);
      await page.locator('h1').click();
      await page.keyboard.press('m');
      expect((await states(page))[0]?.muted).toBe(false);
      await openSettings(page);
      await keys.check();
      await page.locator('h1').click();
      await page.keyboard.press('m');
      expect((await states(page))[0]?.muted).toBe(true);
    });

    test('of places asked for while it is on its way to one, it goes to the last', async () => {
      const { page } = await open(lecture);
      await loaded(page);
      const sought = page.evaluate(() => {
        const leader = document.querySelector<HTMLMediaElement>('[data-leader]');
        const places: number[] = [];
        return new Promise<number[]>((resolve) => {
          leader?.addEventListener('seeking', () => {
            places.push(leader.currentTime);
            if (leader.currentTime === 8) resolve(places);
          });
          for (const key of '1234') document.dispatchEvent(new KeyboardEvent('keydown', { key }));
        });
      });
      expect(await sought).toEqual([2, 8]);
      expect(await page.getByLabel('Position').inputValue()).toBe('8');
      await stillAt(page, 8);
    });

    test('a control with the focus keeps the keys it knows, and browser shortcuts theirs', async () => {
      const { page } = await open(lecture);
      await page.getByRole('button', { name: 'Captions' }).focus();
      await page.keyboard.press('Space');
      expect((await states(page)).every(({ paused }) => paused)).toBe(true);
      await page.getByLabel('Volume').focus();
      await page.keyboard.press('ArrowLeft');
      expect(await page.getByLabel('Volume').inputValue()).toBe('0.95');
      await openSettings(page);
      await page.getByLabel('Speed').focus();
      await page.keyboard.press('9');
      await page.getByLabel('Position').focus();
      await page.keyboard.press('Control+m');
      await stillAt(page, 0);
      expect((await states(page))[0]?.muted).toBe(false);
    });

    test('every control has a name, and shows that it has the focus', async () => {
      const { page } = await open(lecture);
      // They appear when their files have been loaded.
      for (const name of ['Chapters', 'Captions', 'Settings']) await page.getByRole('button', { name }).waitFor();
      const names: string[] = [];
      for (;;) {
        await page.keyboard.press('Tab');
        const focused = await page.evaluate(() => {
          const element = document.activeElement;
          const { outlineStyle, outlineWidth } = getComputedStyle(element ?? document.body);
          return { name: element?.getAttribute('aria-label'), outline: `${outlineStyle} ${outlineWidth}` };
        });
        if (!focused.name) break;
        names.push(focused.name);
        expect(focused.outline).toBe('solid 3px');
      }
      expect(names).toEqual([
        ...['Start', 'Position', 'Play', 'Turn the sound off', 'Volume', 'Chapters'],
        ...['Captions', 'Settings', 'Share', 'Picture in picture', 'Full screen'],
      ]);
    });

    test.each(SCREENS)('on %s the start button lies on top of both pictures, and goes', async (_what, viewport) => {
      const { page } = await open(lecture);
      await page.setViewportSize(viewport);
      const start = page.getByRole('button', { name: 'Start' });
      const onTop = await start.evaluate((button) => {
        const { left, top, width, height } = button.getBoundingClientRect();
        const at = (x: number, y: number) => document.elementFromPoint(left + width * x, top + height * y);
        const points = [at(0.5, 0.5), at(0.1, 0.5), at(0.9, 0.5), at(0.5, 0.1), at(0.5, 0.9)];
        return points.every((element) => element !== null && button.contains(element));
      });
      expect(onTop).toBe(true);
      await start.click();
      await played(page, 0.3);
      expect(await start.isVisible()).toBe(false);
      await page.close();
    });

    test.each(SCREENS.slice(1))(
      'on %s nothing is wider than the screen or too small for a finger',
      async (_what, viewport) => {
        const { page } = await phone(viewport);
        const found = await page.evaluate(() => {
          const controls = [...document.querySelectorAll<HTMLElement>('.bar button, .bar select, [data-part="seek"]')];
          const boxes = controls.filter((each) => each.checkVisibility()).map((each) => each.getBoundingClientRect());
          return {
            scrolled: document.documentElement.scrollWidth - innerWidth,
            outside: boxes.filter(({ left, right }) => left < 0 || right > innerWidth).length,
            small: boxes.filter(({ width, height }) => width < 44 || height < 44).length,
            rows: new Set(boxes.slice(1).map(({ top }) => top)).size,
            inline: [...document.querySelectorAll('video')].every((video) => video.hasAttribute('playsinline')),
          };
        });
        expect(found).toEqual({ scrolled: 0, outside: 0, small: 0, rows: 1, inline: true });
      },
    );

    test('a finger on the position bar sees the picture of that moment until it is lifted', async () => {
      const { context, page } = await phone();
      const preview = page.locator('[data-part="preview"]');
      const { x = 0, y = 0, width = 0, height = 0 } = (await page.getByLabel('Position').boundingBox()) ?? {};
      const finger = await context.newCDPSession(page);
      const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', share = 0) =>
        finger.send('Input.dispatchTouchEvent', {
          type,
          touchPoints: type === 'touchEnd' ? [] : [{ x: x + share * width, y: y + height / 2 }],
        });
      await touch('touchStart', 0.25);
      for (const share of [0.3, 0.4, 0.5]) await touch('touchMove', share);
      await preview.waitFor({ state: 'visible' });
      expect(await preview.textContent()).toBe('0:10 Groups & rings');
      const box = await preview.boundingBox();
      expect(box && box.x >= 0 && box.x + box.width <= 360 && box.y + box.height <= y + 1).toBe(true);
      await touch('touchEnd');
      await preview.waitFor({ state: 'hidden' });
      await stillAt(page, 10);
    });
  });
});
