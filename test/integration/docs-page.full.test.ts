import { Hono } from 'hono';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiDocument } from '../../src/about/base.endpoints.ts';
import { docsAsset, docsPage } from '../../src/about/docs.endpoints.ts';
import { type RunningServer, serve } from '../../src/http/server/serve.ts';
import { servedDocument } from '../../src/openapi/served.ts';
import { browserAvailable, connectBrowser } from '../support/chromium.ts';
import { endpointApp } from '../support/endpoint-app.ts';
import { DOCUMENT } from '../support/openapi.ts';
import { faultsOf } from '../support/page-faults.ts';

const operations = Object.values(DOCUMENT.paths).flatMap((methods) => Object.keys(methods)).length;

describe.skipIf(!browserAvailable())('the reference page in a browser', { timeout: 240_000 }, () => {
  let server: RunningServer;
  let browser: Browser;
  let origin: string;

  beforeAll(async () => {
    const document = servedDocument('https://media.example.org');
    const routes = new Hono({ strict: false })
      .route('/', endpointApp([docsPage, docsAsset, apiDocument], { document }))
      .get('/api', (c) => c.json({ here: true }))
      .post('/api/events', async (c) => c.json(Object.fromEntries(await c.req.formData())));
    const app = new Hono({ strict: false }).route('/', routes).route('/some/prefix', routes);
    server = await serve(app.fetch, { host: '127.0.0.1', port: 0 });
    origin = `http://127.0.0.1:${server.port}`;
    browser = await connectBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    server?.destroy();
  });

  /** A page that collects its faults, among them requests that failed. */
  async function open(path: string) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    // It draws every operation, which takes long beside other tests.
    page.setDefaultTimeout(100_000);
    const faults = faultsOf(page, origin);
    page.on('requestfailed', (request) => faults.push(`${request.url()} failed`));
    await page.goto(origin + path);
    await page.waitForSelector('.opblock');
    return { page, faults };
  }

  test.each(['/docs', '/docs/', '/some/prefix/docs'])(
    '%s lists every operation and asks no other host',
    async (path) => {
      const { page, faults } = await open(path);
      expect(await page.locator('.opblock').count()).toBe(operations);
      expect(faults).toEqual([]);
      await page.close();
    },
  );

  test('a request tried out goes to where the page came from', async () => {
    const { page, faults } = await open('/some/prefix/docs');
    await page.locator('#operations-Base-getApi').click();
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url() === `${origin}/some/prefix/api`),
      page.locator('#operations-Base-getApi button.execute').click(),
    ]);
    expect(await answer.json()).toEqual({ here: true });
    expect(faults).toEqual([]);
    await page.close();
  });

  test('fields with JSON are filled in, and sent as text and not as files', async () => {
    const { page } = await open('/docs');
    await page.locator('#operations-Events-postEvents').click();
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.request().method() === 'POST'),
      page.locator('#operations-Events-postEvents button.execute').click(),
    ]);
    const example = DOCUMENT.paths['/api/events']?.post?.requestBody?.content['multipart/form-data']?.example;
    expect(await answer.json()).toMatchObject(example ?? { acl: 'an example' });
    await page.close();
  });
});

test('files of the package that the page does not need are not there', async () => {
  const app = endpointApp([docsPage, docsAsset], {});
  for (const name of ['index.html', 'package.json', 'constructor', 'start.js.map']) {
    expect((await app.request(`/docs/${name}`)).status, name).toBe(404);
  }
  expect((await app.request('/docs/start.js')).headers.get('Content-Type')).toBe(
    'text/javascript; charset=utf-8',
  );
});
