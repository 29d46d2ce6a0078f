import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { type RunningServer, serve } from '../../src/http/server/serve.ts';
import { insertManyStates } from '../support/agents-page.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { browserAvailable, launchBrowser } from '../support/chromium.ts';
import { signIn } from '../support/upload-page.ts';

describe.skipIf(!browserAvailable())('the page about capture agents in a browser without scripts', () => {
  let app: TestApp;
  let browser: Awaited<ReturnType<typeof launchBrowser>>;
  let server: RunningServer;
  let origin: string;
  beforeAll(async () => {
    app = await createTestApp();
    await insertManyStates(app.database);
    browser = await launchBrowser();
    server = await serve(createApp(app.context).fetch, { host: '127.0.0.1', port: 0 });
    origin = `http://127.0.0.1:${server.port}`;
  });
  afterAll(async () => {
    await browser?.close();
    server?.destroy();
    await app?.close();
  });

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 360],
    ['dark', 360],
  ] as const)(
    'is found from the home, fits and asks no other host, in %s and %i pixels wide',
    async (colorScheme, width) => {
      const context = await browser.newContext({
        javaScriptEnabled: false,
        colorScheme,
        viewport: { width, height: 900 },
      });
      const page = await context.newPage();
      const faults: string[] = [];
      page.on('console', (message) => faults.push(message.text()));
      page.on('pageerror', ({ message }) => faults.push(message));
      page.on('request', (request) => {
        const { protocol, origin: asked } = new URL(request.url());
        if (protocol !== 'data:' && asked !== origin) faults.push(`request to ${asked}`);
      });
      const look = async (name: string) => {
        // Nothing sticks out at the side.
        expect(
          await page
            .locator('body')
            .evaluate((body) => document.documentElement.scrollWidth - body.clientWidth),
        ).toBe(0);
        if (!process.env.SCREENSHOTS) return;
        await page.screenshot({
          path: `${process.env.SCREENSHOTS}/${name}-${colorScheme}-${width}.png`,
          fullPage: true,
        });
      };
      await page.goto(`${origin}/admin`);
      await signIn(page, 'admin', 'opencast');
      await page.getByRole('link', { name: /^Capture agents/ }).click();
      expect(page.url()).toBe(`${origin}/admin/agents`);
      await look('all');
      await page.getByRole('link', { name: 'Hall 1', exact: true }).first().click();
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Hall 1');
      // An hour and a half of a plan in which an hour has three times the size of its letters; on a phone, a line of a list.
      const block = page.locator('.block.recording');
      const { height = 0 } = (await block.boundingBox()) ?? {};
      if (width > 800) expect(Math.abs(height - 72)).toBeLessThan(3);
      else expect(height).toBeLessThan(50);
      await look('week');
      await page.getByRole('link', { name: 'Week before' }).click();
      await page.getByRole('link', { name: 'Analysis I' }).first().waitFor();
      await page.getByRole('link', { name: 'Now', exact: true }).click();
      expect(page.url()).toBe(`${origin}/admin`);
      expect(faults).toEqual([]);
      await context.close();
    },
  );
});
