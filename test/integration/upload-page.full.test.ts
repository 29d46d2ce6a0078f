import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserAvailable } from '../support/chromium.ts';
import { eventually } from '../support/eventually.ts';
import { ace, createSeries } from '../support/series.ts';
import { type ServedUploadPage, serveUploadPage } from '../support/served-upload-page.ts';
import { dropFiles, fileOf, openUploadPage, throttle } from '../support/upload-page.ts';

const MIB = 2 ** 20;
const SLOW = MIB / 2;

describe.skipIf(!browserAvailable())('the page for uploads in a browser', () => {
  let served: ServedUploadPage;
  let camera: string;
  let slides: string;
  /** Takes a minute on a slow line: there is time to do something meanwhile. */
  let long: string;

  beforeAll(async () => {
    served = await serveUploadPage();
    camera = await fileOf('Optics camera.mp4', 4 * MIB);
    slides = await fileOf('Optics slides.mp4', MIB);
    long = await fileOf('Optics long.mp4', 32 * MIB);
  });
  afterAll(() => served?.close());

  const events = (title: string) =>
    served.app.database.selectFrom('events').selectAll().where('title', '=', title).execute();

  test('the keyboard is enough, from the series to the button', async (test) => {
    const id = await createSeries(served.app, { title: 'Waves and light' }, [ace('ROLE_USER')]);
    await createSeries(served.app, { title: 'Wavelets' }, [ace('ROLE_USER')]);
    const { page, choose, card, faults } = await served.open(test);
    // Names that tell nothing come in the order in which they were chosen.
    await choose(slides, camera);
    expect(await page.getByLabel('What Optics slides.mp4 shows').inputValue()).toBe('presentation');
    await page.getByLabel('Title').focus();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('By keys');
    await page.keyboard.press('Tab');
    await page.keyboard.type('wave');
    const series = page.getByRole('combobox', { name: 'Series' });
    await page.getByRole('listbox').getByRole('option').nth(1).waitFor();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    const active = await series.getAttribute('aria-activedescendant');
    expect(await page.locator(`#${active}`).getAttribute('aria-selected')).toBe('true');
    expect(await page.locator(`#${active}`).textContent()).toBe('Wavelets');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    expect(await series.inputValue()).toBe('Waves and light');
    expect(await page.getByLabel('Who may see it').inputValue()).toBe('series');
    // Parts of a date that have the focus are no `:focus`.
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    for (let i = 0; i < 20 && (await focused()) !== 'Upload'; i += 1) await page.keyboard.press('Tab');
    const outline = await page.locator(':focus').evaluate((button) => getComputedStyle(button).outlineStyle);
    expect(outline).toBe('solid');
    await page.keyboard.press('Enter');
    await card('By keys').getByText('It waits to be processed.').waitFor();
    const [event] = await events('By keys');
    expect(event).toMatchObject({ series_id: id, read_roles: ['ROLE_USER'] });
    expect(
      await served.app.database
        .selectFrom('event_acl')
        .selectAll()
        .where('event_id', '=', event?.id ?? '')
        .execute(),
    ).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('files can be dropped, swapped and left out; a third is too many', async (test) => {
    const { page, faults } = await served.open(test);
    await dropFiles(page, 'one.mp4', 'two.mp4');
    const shows = (name: string) => page.getByLabel(`What ${name} shows`);
    await shows('one.mp4').selectOption('presentation');
    expect(await shows('two.mp4').inputValue()).toBe('presenter');
    await dropFiles(page, 'three.mp4');
    expect(await page.getByRole('alert').textContent()).toContain('one or two files');
    await page.getByRole('button', { name: 'Leave two.mp4 out' }).click();
    await dropFiles(page, 'three.mp4');
    // What somebody has said of a file stays.
    expect(await shows('one.mp4').inputValue()).toBe('presentation');
    expect(await shows('three.mp4').inputValue()).toBe('presenter');
    expect(faults).toEqual([]);
  });

  test('a recording waits for the one before it, can be paused, and is deleted when it is cancelled', async (test) => {
    const opened = await served.open(test);
    const { page, choose, card, warnings, faults } = opened;
    await throttle(opened, SLOW);
    let begun = 0;
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/uploads', async (route) => {
      begun += 1;
      if (begun > 1) {
        ask();
        await held;
      }
      await route.continue();
    });
    for (const title of ['First', 'Second']) {
      await choose(long);
      await page.getByLabel('Title').fill(title);
      await page.getByRole('button', { name: 'Upload' }).click();
    }
    await card('Second').getByText('Waits for its turn.').waitFor();
    await card('First').getByText('a second,').waitFor();
    await card('First').getByRole('button', { name: 'Pause' }).press('Enter');
    await eventually(() => expect(page.locator(':focus').textContent()).resolves.toBe('Go on'));
    await asked;
    await card('Second').getByRole('button', { name: 'Cancel' }).press('Enter');
    await card('Second').waitFor({ state: 'detached' });
    const deleted = page.waitForRequest((request) => request.method() === 'DELETE');
    release();
    await deleted;
    expect(warnings).toEqual(['confirm']);
    await eventually(async () => {
      const uploads = await served.app.database
        .selectFrom('uploads')
        .selectAll()
        .where('event_id', 'is', null)
        .execute();
      expect(uploads).toHaveLength(1);
    });
    await throttle(opened);
    await card('First').getByRole('button', { name: 'Go on' }).press('Enter');
    await card('First').getByText('It waits to be processed.').waitFor();
    expect(await events('First')).toHaveLength(1);
    expect(faults).toEqual([]);
  });

  test('an answer that is lost makes no second event', async (test) => {
    const { page, choose, card } = await served.open(test);
    const keys: (string | undefined)[] = [];
    const { promise: seen, resolve: see } = Promise.withResolvers<void>();
    await page.route('**/api/events', async (route) => {
      keys.push(route.request().headers()['idempotency-key']);
      if (keys.length > 1) {
        await seen;
        return route.continue();
      }
      await route.fetch();
      await route.abort();
    });
    await choose(slides);
    await page.getByLabel('Title').fill('Once');
    await page.getByRole('button', { name: 'Upload' }).click();
    await card('Once').getByText('Trying again').waitFor();
    see();
    await card('Once').getByText('It waits to be processed.').waitFor();
    // Told one after the other, and not one in place of the other.
    const told = await page.getByRole('log').locator('p').allTextContents();
    expect(told).toContain('Once: The files have arrived. It waits to be processed.');
    expect(told.length).toBeGreaterThan(1);
    expect(new Set(keys).size).toBe(1);
    expect(keys).toHaveLength(2);
    expect(await events('Once')).toHaveLength(1);
  });

  test('what the API refuses is said at the recording, and can be put right', async (test) => {
    const id = await createSeries(served.app, { title: 'Gone soon' }, [ace('ROLE_USER')]);
    const { page, choose, card, faults } = await served.open(test);
    await choose(slides);
    await page.getByLabel('Title').fill('Refused');
    await page.getByRole('combobox', { name: 'Series' }).fill('gone');
    await page.getByRole('option', { name: 'Gone soon' }).click();
    await served.app.request(`/api/series/${id}`, { method: 'DELETE' });
    await page.getByRole('button', { name: 'Upload' }).click();
    await card('Refused').getByText(id).waitFor();
    await card('Refused').getByRole('button', { name: 'Change the details' }).click();
    await dropFiles(page, 'next.mp4');
    await page.getByText('Be done with the details of this recording first').waitFor();
    await page.getByRole('button', { name: 'No series' }).click();
    await page.getByRole('button', { name: 'Use these details' }).click();
    await card('Refused').getByText('It waits to be processed.').waitFor();
    expect(await events('Refused')).toHaveLength(1);
    expect(faults).toEqual([]);
  });

  test.each([
    ['light', 1100],
    ['dark', 1100],
    ['light', 360],
    ['dark', 360],
  ] as const)('%s, %i pixels wide, it is read without scrolling sideways', async (colorScheme, width) => {
    const look = { colorScheme, viewport: { width, height: 740 }, reducedMotion: 'reduce' } as const;
    const { page, context, faults } = await openUploadPage(served.browser, served.origin, look);
    const long = await fileOf(`${'long'.repeat(40)}.mp4`, 1000);
    await page.locator('[data-part=choose]').setInputFiles([long, slides]);
    const seen = () =>
      page.evaluate(() => {
        const { backgroundColor, color } = getComputedStyle(document.body);
        const { scrollWidth, clientWidth } = document.documentElement;
        const brightness = (text: string) => Number(/\d+/.exec(text)?.[0]);
        const fields = [
          ...document.querySelectorAll<HTMLInputElement>(
            'main :is(input:not([type=hidden]), select, textarea)',
          ),
        ];
        return {
          dark: brightness(backgroundColor) < brightness(color),
          overflows: scrollWidth > clientWidth,
          unlabelled: fields.filter((field) => !field.labels?.length && !field.ariaLabel).length,
        };
      });
    const expected = { dark: colorScheme === 'dark', overflows: false, unlabelled: 0 };
    expect(await seen()).toEqual(expected);
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.locator('[data-part=state]', { hasText: 'It waits to be processed.' }).waitFor();
    expect(await seen()).toEqual(expected);
    const moving = await page.evaluate(() => document.getAnimations().length);
    expect(moving).toBe(0);
    expect(faults).toEqual([]);
    await context.close();
  });
});
