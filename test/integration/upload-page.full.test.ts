import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createApp } from '#app/app.ts';
import { ownApp } from '../support/app.ts';
import { browserAvailable } from '../support/chromium.ts';
import { appearance, inBrowser, LOOKS } from '../support/in-browser.ts';
import { ace, createSeries } from '../support/series.ts';
import {
  dropFiles,
  fileOf,
  type OpenUploadPage,
  openUploadPage,
  signIn,
  throttle,
  type UploadPageOptions,
} from '../support/upload-page.ts';

const MIB = 2 ** 20;
const SLOW = MIB / 4;

// Sessions and uploads are looked at as a whole.
const app = await ownApp();
const { database } = app;

describe.skipIf(!browserAvailable())('the page for uploads in a browser', () => {
  const served = inBrowser(createApp(app.context).fetch);
  let camera: string;
  let slides: string;
  /** Takes a minute on a slow line: there is time to do something in between. */
  let long: string;
  beforeAll(async () => {
    camera = await fileOf('Optics camera.mp4', 4 * MIB);
    slides = await fileOf('Optics slides.mp4', MIB);
    long = await fileOf('Optics long.mp4', 16 * MIB);
  });

  const open = async (options?: UploadPageOptions) => {
    const opened = await openUploadPage(served.browser, served.origin, options);
    onTestFinished(() => opened.context.close());
    return opened;
  };
  /** Chooses files, gives their recording a title and sends it. */
  const send = async ({ page, card }: OpenUploadPage, title: string, ...files: string[]) => {
    await page.locator('[data-part=choose]').setInputFiles(files);
    await page.getByLabel('Title').fill(title);
    await page.getByRole('button', { name: 'Upload' }).click();
    return card(title);
  };
  const arrived = ({ card }: OpenUploadPage, title: string) =>
    card(title).getByText('Waiting to be processed.').waitFor();
  const events = (title: string) => database.selectFrom('events').selectAll().where('title', '=', title).execute();

  test('the keyboard is enough, from the series to the button', async () => {
    const id = await createSeries(app, { title: 'Waves and light' }, [ace('ROLE_USER')]);
    await createSeries(app, { title: 'Wavelets' }, [ace('ROLE_USER')]);
    const opened = await open();
    const { page, faults } = opened;
    // Names that tell nothing come in the order in which they were chosen.
    await page.locator('[data-part=choose]').setInputFiles([slides, camera]);
    expect(await page.getByLabel('Content of Optics slides.mp4').inputValue()).toBe('presentation');
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
    await arrived(opened, 'By keys');
    const [event] = await events('By keys');
    expect(event).toMatchObject({ series_id: id, read_roles: ['ROLE_USER'] });
    const acl = database.selectFrom('event_acl').where('event_id', '=', event?.id ?? '');
    expect(await acl.selectAll().execute()).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('files can be dropped, swapped and left out; a third is too many', async () => {
    const { page, faults } = await open();
    await dropFiles(page, 'one.mp4', 'two.mp4');
    const shows = (name: string) => page.getByLabel(`Content of ${name}`);
    await shows('one.mp4').selectOption('presentation');
    expect(await shows('two.mp4').inputValue()).toBe('presenter');
    await dropFiles(page, 'three.mp4');
    expect(await page.getByRole('alert').textContent()).toContain('one or two files');
    await page.getByRole('button', { name: 'Remove two.mp4' }).click();
    await dropFiles(page, 'three.mp4');
    // What somebody has said of a file stays.
    expect(await shows('one.mp4').inputValue()).toBe('presentation');
    expect(await shows('three.mp4').inputValue()).toBe('presenter');
    expect(faults).toEqual([]);
  });

  test('a recording waits for the one before it, can be paused, and is deleted when it is cancelled', async () => {
    const opened = await open();
    const { page, warnings, faults } = opened;
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
    const first = await send(opened, 'First', long);
    const second = await send(opened, 'Second', long);
    await second.getByText('Queued.').waitFor();
    await first.getByText('per second,').waitFor();
    await first.getByRole('button', { name: 'Pause' }).press('Enter');
    await expect.poll(() => page.locator(':focus').textContent()).toBe('Resume');
    await asked;
    await second.getByRole('button', { name: 'Cancel' }).press('Enter');
    await second.waitFor({ state: 'detached' });
    const deleted = page.waitForRequest((request) => request.method() === 'DELETE');
    release();
    await deleted;
    expect(warnings).toEqual(['confirm']);
    const waiting = database.selectFrom('uploads').selectAll().where('event_id', 'is', null);
    await expect.poll(() => waiting.execute()).toHaveLength(1);
    await throttle(opened);
    await first.getByRole('button', { name: 'Resume' }).press('Enter');
    await arrived(opened, 'First');
    expect(await events('First')).toHaveLength(1);
    expect(faults).toEqual([]);
  });

  test('an answer that is lost makes no second event', async () => {
    const opened = await open();
    const { page } = opened;
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
    const card = await send(opened, 'Once', slides);
    await card.getByText('Trying again').waitFor();
    see();
    await arrived(opened, 'Once');
    // Told one after the other, and not one in place of the other.
    const told = await page.getByRole('log').locator('p').allTextContents();
    expect(told).toContain('Once: The files are uploaded. Waiting to be processed.');
    expect(told.length).toBeGreaterThan(1);
    expect(new Set(keys).size).toBe(1);
    expect(keys).toHaveLength(2);
    expect(await events('Once')).toHaveLength(1);
  });

  test('what the API refuses is said at the recording, and can be put right', async () => {
    const id = await createSeries(app, { title: 'Gone soon' }, [ace('ROLE_USER')]);
    const opened = await open();
    const { page, card, faults } = opened;
    await page.locator('[data-part=choose]').setInputFiles(slides);
    await page.getByLabel('Title').fill('Refused');
    await page.getByRole('combobox', { name: 'Series' }).fill('gone');
    await page.getByRole('option', { name: 'Gone soon' }).click();
    await app.request(`/api/series/${id}`, { method: 'DELETE' });
    await page.getByRole('button', { name: 'Upload' }).click();
    await card('Refused').getByText(id).waitFor();
    await card('Refused').getByRole('button', { name: 'Edit details' }).click();
    await dropFiles(page, 'next.mp4');
    await page.getByText('Save or discard the changes').waitFor();
    await page.getByRole('button', { name: 'No series' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await arrived(opened, 'Refused');
    expect(await events('Refused')).toHaveLength(1);
    expect(faults).toEqual([]);
  });

  test.each(LOOKS)('it is read without scrolling sideways, in %s and %i pixels wide', async (colorScheme, width) => {
    const opened = await open({ colorScheme, viewport: { width, height: 740 }, reducedMotion: 'reduce' });
    const { page, faults } = opened;
    const named = await fileOf(`${'long'.repeat(40)}.mp4`, 1000);
    await page.locator('[data-part=choose]').setInputFiles([named, slides]);
    const expected = { dark: colorScheme === 'dark', overflows: false, unlabelled: 0, broken: 0 };
    expect(await appearance(page)).toEqual(expected);
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.locator('[data-part=state]', { hasText: 'Waiting to be processed.' }).waitFor();
    expect(await appearance(page)).toEqual(expected);
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
    expect(faults).toEqual([]);
  });

  test('who is no longer signed in signs in on the page, and the upload goes on where it was', async () => {
    await app.account('ada', 'ROLE_API_EVENTS_CREATE', 'ROLE_API_EVENTS_VIEW');
    const opened = await open({ username: 'ada', password: 'secret' });
    const { page, offsets, faults } = opened;
    const challenges: unknown[] = [];
    page.on('response', (answer) => {
      if (answer.status() === 401) challenges.push(answer.headers()['www-authenticate']);
    });
    await throttle(opened, SLOW);
    const card = await send(opened, 'Signed out', long);
    await card.getByText('per second,').waitFor();
    await card.getByRole('button', { name: 'Pause' }).click();
    await database.deleteFrom('sessions').execute();
    await opened.context.clearCookies();
    await throttle(opened);
    await card.getByRole('button', { name: 'Resume' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Password').fill('wrong');
    await page.keyboard.press('Enter');
    await dialog.getByText('User name or password is wrong.').waitFor();
    await dialog.getByLabel('Password').fill('secret');
    await page.keyboard.press('Enter');
    await arrived(opened, 'Signed out');
    expect(offsets.at(-1)).toBeGreaterThan(0);
    // With a challenge the browser would ask by itself.
    expect(challenges).toEqual([undefined, undefined]);
    expect(faults).toEqual([]);
    const [event] = await events('Signed out');
    expect(event?.read_roles.toSorted()).toEqual(['ROLE_USER', 'ROLE_USER_ADA']);
  });

  test('nothing goes on under the name of who has signed in in another window', async () => {
    await app.account('emmy', 'ROLE_API_EVENTS_CREATE', 'ROLE_API_EVENTS_VIEW');
    await app.account('david', 'ROLE_API_EVENTS_CREATE');
    const opened = await open({ username: 'emmy', password: 'secret' });
    const { page, context, faults } = opened;
    await throttle(opened, SLOW);
    const card = await send(opened, 'Symmetries', long);
    await card.getByText('per second,').waitFor();
    await card.getByRole('button', { name: 'Pause' }).click();
    const other = await context.newPage();
    await other.goto(`${served.origin}/sign-in?next=/upload`);
    await signIn(other, 'david', 'secret');
    await other.waitForURL(`${served.origin}/upload`);
    expect(await other.getByRole('heading', { level: 3 }).count()).toBe(0);
    await throttle(opened);
    await card.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Later' }).click();
    await expect.poll(() => page.locator(':focus').textContent()).toBe('Sign in');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('Password').fill('secret');
    await page.keyboard.press('Enter');
    await arrived(opened, 'Symmetries');
    expect(faults).toEqual([]);
  });

  test('who may not upload is told so, and can sign out', async () => {
    await app.account('grace', 'ROLE_API_EVENTS_VIEW');
    const { page } = await open({ username: 'grace', password: 'secret' });
    await page.getByText('This request requires the role ROLE_API_EVENTS_CREATE.').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signIn(page, 'admin', 'opencast');
    await page.waitForURL(`${served.origin}/admin`);
  });
});
