import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { type RunningServer, serve } from '../../src/http/server/serve.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { browserAvailable, connectBrowser } from '../support/chromium.ts';
import { faultsOf } from '../support/page-faults.ts';
import { patientQueue } from '../support/patient-queue.ts';

describe.skipIf(!browserAvailable())('signing in with a browser', () => {
  let app: TestApp;
  let browser: Browser;
  let product: RunningServer;
  let elsewhere: RunningServer;
  let origin: string;

  beforeAll(async () => {
    app = await createTestApp();
    patientQueue(app);
    product = await serve(createApp(app.context).fetch, { host: '127.0.0.1', port: 0 });
    origin = `http://127.0.0.1:${product.port}`;
    const link = `<!doctype html><title>x</title><a href="${origin}/admin?from=elsewhere">there</a>`;
    elsewhere = await serve(() => new Response(link, { headers: { 'Content-Type': 'text/html' } }), {
      host: '127.0.0.1',
      port: 0,
    });
    browser = await connectBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    product?.destroy();
    elsewhere?.destroy();
    await app?.close();
  });

  async function signIn(page: Page, password: string): Promise<void> {
    // The name has the focus from the start, or the password when only that was wrong.
    if ((await page.locator(':focus').getAttribute('name')) === 'username') {
      await page.keyboard.type('admin');
      await page.keyboard.press('Tab');
    }
    await page.keyboard.type(password);
    await page.keyboard.press('Enter');
  }

  test('the keyboard is enough, without scripts, from an address to it and back out', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    // A wrong password is refused with 401.
    const faults = faultsOf(page, origin, (text) => text.startsWith('Failed to load resource: '));
    await page.goto(`${origin}/admin?page=2`);
    expect(page.url()).toBe(`${origin}/sign-in?next=%2Fadmin%3Fpage%3D2`);
    await signIn(page, 'wrong');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toBe('User name or password is wrong.');
    await signIn(page, 'opencast');
    await page.waitForURL(`${origin}/admin?page=2`);
    expect(await page.getByText('Signed in as').textContent()).toBe('Signed in as admin');
    expect(await context.cookies()).toMatchObject([{ name: 'inlet', httpOnly: true, sameSite: 'Strict' }]);
    await page.getByRole('button', { name: 'Sign out' }).press('Enter');
    await page.waitForURL(`${origin}/sign-in`);
    expect(await context.cookies()).toEqual([]);
    await page.goBack();
    expect(await page.getByText('Signed in as').count()).toBe(0);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('the dashboard works with it, and leads back to the button', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${origin}/admin/queues/`);
    await signIn(page, 'opencast');
    await page.waitForURL(`${origin}/admin/queues/`);
    await page.getByText('heavy').first().waitFor();
    const change = (action: string) =>
      page.evaluate(
        async (path) => (await fetch(path, { method: 'PUT' })).status,
        `/admin/queues/api/queues/light/${action}`,
      );
    expect([await change('pause'), await change('resume')]).toEqual([200, 200]);
    await page.locator('header button').last().click();
    await page.getByText('Account and sign-out').click();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await page.goto(`${origin}/admin/queues/`);
    await page.evaluate(() => fetch('/sign-out', { method: 'POST' }));
    const answer = await page.evaluate(async () => {
      const { status, headers } = await fetch('/admin/queues/api/queues');
      return [status, headers.get('WWW-Authenticate')];
    });
    expect(answer).toEqual([401, null]);
    await context.close();
  });

  test('who follows a link of another site is still signed in', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${origin}/admin`);
    await signIn(page, 'opencast');
    await page.waitForURL(`${origin}/admin`);
    for (const host of ['localhost', '127.0.0.1']) {
      await page.goto(`http://${host}:${elsewhere.port}`);
      await page.getByText('there').click();
      await page.getByText('Signed in as').waitFor();
      expect(page.url()).toBe(`${origin}/admin?from=elsewhere`);
    }
    await context.clearCookies();
    await page.goto(`http://localhost:${elsewhere.port}`);
    await page.getByText('there').click();
    await page.waitForURL(`${origin}/sign-in?next=%2Fadmin%3Ffrom%3Delsewhere`);
    await context.close();
  });

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 280],
    ['dark', 280],
  ] as const)('%s, %i pixels wide, it is read without scrolling sideways', async (colorScheme, width) => {
    const page = await browser.newPage({ colorScheme, viewport: { width, height: 700 } });
    const faults = faultsOf(page, origin);
    await page.goto(`${origin}/sign-in`);
    const seen = await page.evaluate(() => {
      const { backgroundColor, color } = getComputedStyle(document.body);
      const { scrollWidth, clientWidth } = document.documentElement;
      const brightness = (text: string) => Number(/\d+/.exec(text)?.[0]);
      const labelled = [...document.querySelectorAll('input:not([type=hidden])')].every(
        (input) => (input as HTMLInputElement).labels?.length === 1,
      );
      return {
        dark: brightness(backgroundColor) < brightness(color),
        overflows: scrollWidth > clientWidth,
        labelled,
      };
    });
    expect(seen).toEqual({ dark: colorScheme === 'dark', overflows: false, labelled: true });
    expect(faults).toEqual([]);
    await page.close();
  });
});
