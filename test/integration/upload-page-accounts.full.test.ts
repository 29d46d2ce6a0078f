import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserAvailable } from '../support/chromium.ts';
import { eventually } from '../support/eventually.ts';
import { type ServedUploadPage, serveUploadPage } from '../support/served-upload-page.ts';
import { fileOf, signIn, throttle } from '../support/upload-page.ts';

const MIB = 2 ** 20;
const SLOW = MIB / 2;

describe.skipIf(!browserAvailable())('the page for uploads and whose it is', () => {
  let served: ServedUploadPage;
  let camera: string;

  beforeAll(async () => {
    served = await serveUploadPage();
    // Takes a minute on a slow line: there is time to do something meanwhile.
    camera = await fileOf('Optics lecture.mp4', 32 * MIB);
  });
  afterAll(() => served?.close());

  test('who is no longer signed in signs in on the page, and the upload goes on where it was', async (test) => {
    await served.app.account('ada', 'ROLE_API_EVENTS_CREATE', 'ROLE_API_EVENTS_VIEW');
    const opened = await served.open(test, { username: 'ada', password: 'secret' });
    const { page, choose, card, offsets, faults } = opened;
    const challenges: unknown[] = [];
    page.on('response', (answer) => {
      if (answer.status() === 401) challenges.push(answer.headers()['www-authenticate']);
    });
    await throttle(opened, SLOW);
    await choose(camera);
    await page.getByLabel('Title').fill('Signed out');
    await page.getByRole('button', { name: 'Upload' }).click();
    await card('Signed out').getByText('a second,').waitFor();
    await card('Signed out').getByRole('button', { name: 'Pause' }).click();
    await served.app.database.deleteFrom('sessions').execute();
    await opened.context.clearCookies();
    await throttle(opened);
    await card('Signed out').getByRole('button', { name: 'Go on' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Password').fill('wrong');
    await page.keyboard.press('Enter');
    await dialog.getByText('User name or password is wrong.').waitFor();
    await dialog.getByLabel('Password').fill('secret');
    await page.keyboard.press('Enter');
    await card('Signed out').getByText('It waits to be processed.').waitFor();
    expect(offsets.at(-1)).toBeGreaterThan(0);
    // With a challenge the browser would ask by itself.
    expect(challenges).toEqual([undefined, undefined]);
    expect(faults).toEqual([]);
    const [event] = await served.app.database
      .selectFrom('events')
      .selectAll()
      .where('title', '=', 'Signed out')
      .execute();
    expect(event?.read_roles.toSorted()).toEqual(['ROLE_USER', 'ROLE_USER_ADA']);
  });

  test('nothing goes on under the name of who has signed in in another window', async (test) => {
    await served.app.account('emmy', 'ROLE_API_EVENTS_CREATE', 'ROLE_API_EVENTS_VIEW');
    await served.app.account('david', 'ROLE_API_EVENTS_CREATE');
    const opened = await served.open(test, { username: 'emmy', password: 'secret' });
    const { page, context, choose, card, faults } = opened;
    await throttle(opened, SLOW);
    await choose(camera);
    await page.getByLabel('Title').fill('Symmetries');
    await page.getByRole('button', { name: 'Upload' }).click();
    await card('Symmetries').getByText('a second,').waitFor();
    await card('Symmetries').getByRole('button', { name: 'Pause' }).click();
    const other = await context.newPage();
    await other.goto(`${served.origin}/sign-in?next=/upload`);
    await signIn(other, 'david', 'secret');
    await other.waitForURL(`${served.origin}/upload`);
    expect(await other.getByRole('heading', { level: 3 }).count()).toBe(0);
    await throttle(opened);
    await card('Symmetries').getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('button', { name: 'Later' }).click();
    await eventually(() => expect(page.locator(':focus').textContent()).resolves.toBe('Sign in'));
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('Password').fill('secret');
    await page.keyboard.press('Enter');
    await card('Symmetries').getByText('It waits to be processed.').waitFor();
    expect(faults).toEqual([]);
  });

  test('who may not upload is told so, and can sign out', async (test) => {
    await served.app.account('grace', 'ROLE_API_EVENTS_VIEW');
    const { page } = await served.open(test, { username: 'grace', password: 'secret' });
    await page.getByText('This needs the role ROLE_API_EVENTS_CREATE.').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signIn(page, 'admin', 'opencast');
    await page.waitForURL(`${served.origin}/admin`);
  });
});
