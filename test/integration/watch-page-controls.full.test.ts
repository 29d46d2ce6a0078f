import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserAvailable } from '../support/chromium.ts';
import { createWatchPages, type WatchPages } from '../support/served-watch-page.ts';
import { loaded, openPage, played, states, stillAt } from '../support/watch-page.ts';

const SECONDS = 20;
const CAPTIONS = 'WEBVTT\n\n00:00.000 --> 00:06.000\nGood morning\n';
const SCREENS = [
  ['a desk', { width: 1280, height: 800 }],
  ['a phone', { width: 360, height: 740 }],
  ['a phone held sideways', { width: 740, height: 360 }],
] as const;

describe.skipIf(!browserAvailable())('the controls of the watch page', () => {
  let pages: WatchPages;
  let lecture: string;

  beforeAll(async () => {
    pages = await createWatchPages();
    lecture = await pages.publish(
      {
        'presenter/source': { seconds: SECONDS, video: { size: '320x240' } },
        'presentation/source': { seconds: SECONDS, video: { size: '640x360' }, audio: false },
      },
      { en: CAPTIONS, de: CAPTIONS },
    );
  });
  afterAll(() => pages?.close());

  const open = (path: string) => openPage(pages.browser, pages.origin + path);
  const phone = (viewport = { width: 360, height: 740 }) =>
    pages.browser.newContext({ viewport, hasTouch: true, isMobile: true });
  test('keys work wherever the focus is', async () => {
    const { page, faults } = await open(lecture);
    const status = page.getByRole('status');
    const press = (...keys: string[]) =>
      keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());
    await loaded(page);
    await press('l');
    await stillAt(page, 10);
    expect(await status.textContent()).toBe('0:10');
    await press('j', 'ArrowRight', 'ArrowRight', 'ArrowLeft');
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
    await page.close();
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
    await page.close();
  });

  test('a control with the focus keeps the keys it knows, and browser shortcuts theirs', async () => {
    const { page } = await open(lecture);
    await page.getByRole('button', { name: 'Captions' }).focus();
    await page.keyboard.press('Space');
    expect((await states(page)).every(({ paused }) => paused)).toBe(true);
    await page.getByLabel('Volume').focus();
    await page.keyboard.press('ArrowLeft');
    expect(await page.getByLabel('Volume').inputValue()).toBe('0.95');
    await page.getByLabel('Speed').focus();
    await page.keyboard.press('9');
    await page.getByLabel('Position').focus();
    await page.keyboard.press('Control+m');
    await stillAt(page, 0);
    expect((await states(page))[0]?.muted).toBe(false);
    await page.close();
  });

  test('every control has a name, and shows that it has the focus', async () => {
    const { page } = await open(lecture);
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
      ...['Start', 'Position', 'Play', 'Turn the sound off', 'Volume', 'Captions'],
      ...['Language of the captions', 'Speed', 'Full screen'],
    ]);
    await page.close();
  });

  test.each(SCREENS)(
    'on %s the start button lies on top of both pictures, and goes',
    async (_what, viewport) => {
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
    },
  );

  test.each(SCREENS.slice(1))(
    'on %s nothing is wider than the screen or too small for a finger',
    async (_what, viewport) => {
      const context = await phone(viewport);
      const page = await context.newPage();
      await page.goto(pages.origin + lecture);
      const found = await page.evaluate(() => {
        const controls = [
          ...document.querySelectorAll<HTMLElement>('.bar button, .bar select, [data-part="seek"]'),
        ];
        const boxes = controls.map((each) => each.getBoundingClientRect());
        return {
          scrolled: document.documentElement.scrollWidth - innerWidth,
          outside: boxes.filter(({ left, right }) => left < 0 || right > innerWidth).length,
          small: boxes.filter(({ width, height }) => width < 44 || height < 44).length,
          rows: new Set(boxes.slice(1).map(({ top }) => top)).size,
          inline: [...document.querySelectorAll('video')].every((video) => video.hasAttribute('playsinline')),
        };
      });
      expect(found).toEqual({ scrolled: 0, outside: 0, small: 0, rows: 1, inline: true });
      await context.close();
    },
  );

  test('a finger on the position bar sees the picture of that moment until it is lifted', async () => {
    const context = await phone();
    const page = await context.newPage();
    await page.goto(pages.origin + lecture);
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
    expect(await preview.textContent()).toBe('0:10');
    const box = await preview.boundingBox();
    expect(box && box.x >= 0 && box.x + box.width <= 360 && box.y + box.height <= y + 1).toBe(true);
    await touch('touchEnd');
    await preview.waitFor({ state: 'hidden' });
    await stillAt(page, 10);
    await context.close();
  });
});
