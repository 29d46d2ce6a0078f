import { Hono } from 'hono';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '#app/app.ts';
import { apiDocument } from '#openapi/base.endpoints.ts';
import { servedDocument } from '#openapi/served-document.ts';
import { docsAsset, docsPage } from '#pages/site/docs.endpoints.ts';
import { home } from '#pages/site/home.endpoint.ts';
import { serve } from '#platform/http/server/serve.ts';
import { ownApp } from '../support/app.ts';
import { browserAvailable } from '../support/chromium.ts';
import { endpointApp } from '../support/endpoint-app.ts';
import { appearance, inBrowser, LOOKS, openLook } from '../support/in-browser.ts';
import { DOCUMENT } from '../support/openapi.ts';
import { faultsOf } from '../support/page-faults.ts';
import { patientQueue } from '../support/patient-queue.ts';
import { insertEvent } from '../support/publication.ts';
import { snapshot } from '../support/snapshot.ts';

/** A server with one page that leads to the product, under several names. */
let product = '';
const page = () =>
  new Response(`<!doctype html><title>x</title><a href="${product}/admin?from=elsewhere">there</a>`, {
    headers: { 'Content-Type': 'text/html' },
  });
const [elsewhere, trusted] = [
  await serve(page, { host: '127.0.0.1', port: 0 }),
  await serve(page, { host: '127.0.0.1', port: 0 }),
];
const otherPort = `http://127.0.0.1:${elsewhere.port}`;
const otherSite = `http://localhost:${elsewhere.port}`;
const trustedSite = `http://localhost:${trusted.port}`;
afterAll(() => {
  elsewhere.destroy();
  trusted.destroy();
});
// Others would change what is compared.
const app = await ownApp(undefined, { CORS_ORIGINS: trustedSite });
patientQueue(app);

describe.skipIf(!browserAvailable())('signing in with a browser', () => {
  const served = inBrowser(createApp(app.context).fetch);
  beforeAll(() => {
    product = served.origin;
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
    const context = await served.browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    // A wrong password is refused with 401.
    const faults = faultsOf(page, served.origin, (text) => text.startsWith('Failed to load resource: '));
    await page.goto(`${served.origin}/admin?page=2`);
    expect(page.url()).toBe(`${served.origin}/sign-in?next=%2Fadmin%3Fpage%3D2`);
    await signIn(page, 'wrong');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toBe('User name or password is wrong.');
    await signIn(page, 'opencast');
    await page.waitForURL(`${served.origin}/admin?page=2`);
    expect(await page.getByText('Signed in as').textContent()).toBe('Signed in as admin');
    expect(await context.cookies()).toMatchObject([{ name: 'inlet', httpOnly: true, sameSite: 'Strict' }]);
    await page.getByRole('button', { name: 'Sign out' }).press('Enter');
    await page.waitForURL(`${served.origin}/sign-in`);
    expect(await context.cookies()).toEqual([]);
    await page.goBack();
    expect(await page.getByText('Signed in as').count()).toBe(0);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('the dashboard works with it, and leads back to the button', async () => {
    const context = await served.browser.newContext();
    const page = await context.newPage();
    await page.goto(`${served.origin}/admin/queues/`);
    await signIn(page, 'opencast');
    await page.waitForURL(`${served.origin}/admin/queues/`);
    await page.getByText('heavy').first().waitFor();
    const change = (action: string) =>
      page.evaluate(
        async (path) => (await fetch(path, { method: 'PUT' })).status,
        `/admin/queues/api/queues/light/${action}`,
      );
    expect([await change('pause'), await change('resume')]).toEqual([200, 200]);
    await page.locator('header button').last().click();
    await page.getByText('Inlet dashboard').click();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await page.goto(`${served.origin}/admin/queues/`);
    await page.evaluate(() => fetch('/sign-out', { method: 'POST' }));
    const answer = await page.evaluate(async () => {
      const { status, headers } = await fetch('/admin/queues/api/queues');
      return [status, headers.get('WWW-Authenticate')];
    });
    expect(answer).toEqual([401, null]);
    await context.close();
  });

  test('who follows a link of another site is still signed in', async () => {
    const context = await served.browser.newContext();
    const page = await context.newPage();
    await page.goto(`${served.origin}/admin`);
    await signIn(page, 'opencast');
    await page.waitForURL(`${served.origin}/admin`);
    for (const address of [otherSite, otherPort]) {
      await page.goto(address);
      await page.getByText('there').click();
      await page.getByText('Signed in as').waitFor();
      expect(page.url()).toBe(`${served.origin}/admin?from=elsewhere`);
    }
    await context.clearCookies();
    await page.goto(otherSite);
    await page.getByText('there').click();
    await page.waitForURL(`${served.origin}/sign-in?next=%2Fadmin%3Ffrom%3Delsewhere`);
    await context.close();
  });

  test.each(LOOKS)('its page is read without scrolling sideways, in %s and %i pixels wide', async (...how) => {
    const { page, faults, look, close } = await openLook(served, how);
    await page.goto(`${served.origin}/sign-in`);
    await look('sign-in');
    const expected = { dark: how[0] === 'dark', overflows: false, unlabelled: 0, broken: 0 };
    expect(await appearance(page)).toEqual(expected);
    expect(faults).toEqual([]);
    await close();
  });
});

// The reference draws every operation, which takes long beside other tests.
describe.skipIf(!browserAvailable())('pages that describe the product', { timeout: 300_000 }, () => {
  const config = { publicUrl: 'https://media.example.org' };
  const routes = new Hono({ strict: false })
    .route(
      '/',
      endpointApp([home, docsPage, docsAsset, apiDocument], {
        config,
        document: servedDocument(config.publicUrl),
      }),
    )
    .get('/api', (c) => c.json({ here: true }))
    .post('/api/events', async (c) => c.json(Object.fromEntries(await c.req.formData())));
  const served = inBrowser(new Hono({ strict: false }).route('/', routes).route('/some/prefix', routes).fetch);
  const operations = Object.values(DOCUMENT.paths).flatMap((methods) => Object.values(methods));
  const groups = Map.groupBy(operations, ({ tags: [group] }) => group);

  // As narrow as a page with larger letters is on a phone.
  test.each([LOOKS[0], ['dark', 280]] as const)(
    'the first page is read without scrolling sideways, in %s and %i pixels wide',
    async (...how) => {
      const { page, faults, close } = await openLook(served, how);
      await page.goto(`${served.origin}/`);
      expect(await page.locator('h1').textContent()).toBe('Inlet');
      const expected = { dark: how[0] === 'dark', overflows: false, unlabelled: 0, broken: 0 };
      expect(await appearance(page)).toEqual(expected);
      expect(faults).toEqual([]);
      await close();
    },
  );

  test.each(['/', '/some/prefix/'])('the links of the first page lead on from %s', async (path) => {
    const page = await served.browser.newPage();
    await page.goto(served.origin + path);
    const link = page.getByRole('link', { name: /^API / }).first();
    await link.click();
    await page.waitForURL(`${served.origin}${path}docs`, { waitUntil: 'commit' });
    await page.close();
  });

  /** The reference, which collects its faults, among them requests that failed. */
  async function reference(path: string) {
    const page = await served.browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.setDefaultTimeout(100_000);
    const faults = faultsOf(page, served.origin);
    page.on('requestfailed', (request) => faults.push(`${request.url()} failed`));
    await page.goto(served.origin + path);
    await expect.poll(() => page.locator('.opblock-tag').count(), { timeout: 100_000 }).toBe(groups.size);
    return { page, faults };
  }

  test('the reference lists every group of operations, asks no other host, and sends requests to where it came from', async () => {
    const { page, faults } = await reference('/some/prefix/docs');
    await page.locator('.opblock-tag[data-tag="Base"]').click();
    await expect.poll(() => page.locator('.opblock').count()).toBe(groups.get('Base')?.length);
    await page.locator('#operations-Base-getApi').click();
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url() === `${served.origin}/some/prefix/api`),
      page.locator('#operations-Base-getApi button.execute').click(),
    ]);
    expect(await answer.json()).toEqual({ here: true });
    expect(faults).toEqual([]);
    await page.close();
  });

  test('fields with JSON are filled in, and sent as text and not as files', async () => {
    const { page } = await reference('/docs/');
    await page.locator('.opblock-tag[data-tag="Events"]').click();
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

describe.skipIf(!browserAvailable())('pages of other sites in the browser of somebody signed in', () => {
  const METADATA = '[{"flavor":"dublincore/episode","fields":[{"id":"title","value":"Made by a stranger"}]}]';
  const FIELDS = { metadata: METADATA, acl: '[]', processing: '{"workflow":"fast"}' };
  const ADD_JOB = '/admin/queues/api/queues/light/add';
  const served = inBrowser(createApp(app.context).fetch);
  let person: BrowserContext;
  let event: string;
  beforeAll(async () => {
    event = await insertEvent(app.database);
    const httpCredentials = { username: 'admin', password: 'opencast' };
    person = await served.browser.newContext({ httpCredentials });
    const known = await person.newPage();
    expect((await known.goto(`${served.origin}/api/info/me`))?.status()).toBe(200);
  });

  const forms = () =>
    [
      ['application/x-www-form-urlencoded', `/api/events/${event}/acl/read`, { role: 'ROLE_ANONYMOUS' }],
      ['multipart/form-data', '/api/events', FIELDS],
      ['text/plain', ADD_JOB, { '{"name":"x","data":{},"options":{"a": "': '"}}' }],
    ] as const;

  test.each([otherPort, otherSite])('a form on %s changes nothing', async (site) => {
    const before = await snapshot(app.database);
    for (const [type, path, fields] of forms()) {
      const page = await person.newPage();
      await page.goto(site);
      const answered = page.waitForResponse((response) => response.url() === served.origin + path);
      await page.evaluate(
        ([action, enctype, values]) => {
          const form = Object.assign(document.createElement('form'), { method: 'post', action, enctype });
          for (const [name, value] of Object.entries(values)) {
            form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value }));
          }
          document.body.append(form);
          // Not within this call, whose answer could get lost with the page.
          setTimeout(() => form.submit());
        },
        [served.origin + path, type, fields] as const,
      );
      expect([path, (await answered).status()]).toEqual([path, 403]);
    }
    expect(await snapshot(app.database)).toEqual(before);
  });

  test('a script on the other site changes nothing, and reads nothing', async () => {
    const before = await snapshot(app.database);
    const page = await person.newPage();
    await page.goto(otherSite);
    const statuses: number[] = [];
    page.on('response', (response) => statuses.push(response.status()));
    const seen = await page.evaluate(async (server) => {
      const ask = (path: string, init: RequestInit) =>
        fetch(server + path, { credentials: 'include', ...init }).then(
          ({ type, status }) => `${type} ${status}`,
          () => 'refused',
        );
      return [
        await ask('/api/events', { method: 'POST', mode: 'no-cors', body: new URLSearchParams({ a: 'b' }) }),
        await ask('/api/events', { method: 'POST', mode: 'no-cors', body: '{}' }),
        await ask('/api/events', { method: 'POST', mode: 'no-cors' }),
        await ask('/api/events', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: '{}',
        }),
        await ask('/api/info/me', {}),
      ];
    }, served.origin);
    expect(seen).toEqual(['opaque 0', 'opaque 0', 'opaque 0', 'refused', 'refused']);
    expect(statuses.slice(0, 3)).toEqual([403, 403, 403]);
    expect(await snapshot(app.database)).toEqual(before);
    await page.close();
  });

  test('a script on a trusted site does what its own credentials allow', async () => {
    const page = await person.newPage();
    await page.goto(trustedSite);
    const [location, title] = await page.evaluate(
      async ([server, fields]) => {
        const headers = { Authorization: `Basic ${btoa('admin:opencast')}` };
        const body = new FormData();
        for (const [name, value] of Object.entries(fields)) body.append(name, value);
        const made = await fetch(`${server}/api/events`, { method: 'POST', headers, body });
        const { identifier } = await made.json();
        const read = await fetch(`${server}/api/events/${identifier}`, { headers });
        return [made.headers.get('Location'), (await read.json()).title];
      },
      [served.origin, FIELDS] as const,
    );
    expect([location, title]).toEqual([expect.stringContaining('/api/events/'), 'Made by a stranger']);
    await page.close();
  });

  test('a script on a trusted site uploads in several requests, and reads how far it is and what went wrong', async () => {
    const page = await person.newPage();
    await page.goto(trustedSite);
    const seen = await page.evaluate(async (server) => {
      const tus = { Authorization: `Basic ${btoa('admin:opencast')}`, 'Tus-Resumable': '1.0.0' };
      const stream = { ...tus, 'Content-Type': 'application/offset+octet-stream' };
      const made = await fetch(`${server}/uploads`, {
        method: 'POST',
        headers: { ...tus, 'Upload-Length': '10', 'Upload-Metadata': 'filename YS5tcDQ=' },
      });
      const id = made.headers.get('Location')?.split('/').at(-1);
      const there = `${server}/uploads/${id}`;
      const at = (offset: number) => ({ ...stream, 'Upload-Offset': String(offset) });
      const tell = (answer: Response, header: string) => `${answer.status} ${answer.headers.get(header)}`;
      const send = (method: string, headers: Record<string, string>, body?: string) =>
        fetch(there, { method, headers, ...(body !== undefined && { body }) });
      const override = { ...at(5), 'X-HTTP-Method-Override': 'PATCH' };
      return [
        tell(await send('PATCH', at(0), 'abcde'), 'Upload-Offset'),
        tell(await send('POST', override, 'fghij'), 'Upload-Offset'),
        tell(await send('HEAD', tus), 'Upload-Length'),
        tell(await send('HEAD', tus), 'Upload-Metadata'),
        tell(await send('PATCH', at(3), 'x'), 'Tus-Resumable'),
        tell(await send('HEAD', { 'Tus-Resumable': '1.0.0' }), 'Tus-Resumable'),
        tell(await send('HEAD', { ...tus, 'Tus-Resumable': '0.1' }), 'Tus-Version'),
        tell(await fetch(`${server}/uploads`, { method: 'OPTIONS', headers: tus }), 'Tus-Version'),
        tell(await send('DELETE', tus), 'Tus-Resumable'),
      ];
    }, served.origin);
    expect(seen).toEqual([
      ...['204 5', '204 10', '200 10', '200 filename YS5tcDQ=', '409 1.0.0'],
      ...['401 1.0.0', '412 1.0.0', '204 1.0.0', '204 1.0.0'],
    ]);
    await page.close();
  });
});
