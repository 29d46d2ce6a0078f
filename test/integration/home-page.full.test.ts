import { Hono } from 'hono';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { home } from '../../src/about/home.endpoint.ts';
import { type RunningServer, serve } from '../../src/http/server/serve.ts';
import { browserAvailable, connectBrowser } from '../support/chromium.ts';
import { endpointApp } from '../support/endpoint-app.ts';
import { faultsOf } from '../support/page-faults.ts';

describe.skipIf(!browserAvailable())('the first page in a browser', () => {
  let server: RunningServer;
  let browser: Browser;
  let origin: string;

  beforeAll(async () => {
    const config = { publicUrl: 'https://media.example.org' };
    const routes = new Hono({ strict: false })
      .route('/', endpointApp([home], { config }))
      .get('/docs', (c) => c.text('docs'));
    const app = new Hono({ strict: false }).route('/', routes).route('/some/prefix', routes);
    server = await serve(app.fetch, { host: '127.0.0.1', port: 0 });
    origin = `http://127.0.0.1:${server.port}`;
    browser = await connectBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    server?.destroy();
  });

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 280],
    ['dark', 280],
  ] as const)(
    '%s, %i pixels wide, is read without scrolling sideways, and asks no other host',
    async (colorScheme, width) => {
      const page = await browser.newPage({ colorScheme, viewport: { width, height: 700 } });
      const faults = faultsOf(page, origin);
      await page.goto(`${origin}/`);
      expect(await page.locator('h1').textContent()).toBe('Inlet');
      const seen = await page.evaluate(() => {
        const { backgroundColor, color } = getComputedStyle(document.body);
        const { scrollWidth, clientWidth } = document.documentElement;
        const brightness = (text: string) => Number(/\d+/.exec(text)?.[0]);
        return {
          dark: brightness(backgroundColor) < brightness(color),
          overflows: scrollWidth > clientWidth,
          icons: [...document.images].every(({ naturalWidth }) => naturalWidth > 0),
        };
      });
      expect(seen).toEqual({ dark: colorScheme === 'dark', overflows: false, icons: true });
      expect(faults).toEqual([]);
      await page.close();
    },
  );

  test.each(['/', '/some/prefix/'])('its links lead on from %s', async (path) => {
    const page = await browser.newPage();
    await page.goto(origin + path);
    await page
      .getByRole('link', { name: /^The API / })
      .first()
      .click();
    expect(page.url()).toBe(`${origin}${path}docs`);
    expect(await page.locator('body').textContent()).toBe('docs');
    await page.close();
  });
});
