import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { type RunningServer, serve } from '../../src/http/server/serve.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { browserAvailable, connectBrowser } from '../support/chromium.ts';
import { insertEvent } from '../support/publication.ts';
import { snapshot } from '../support/snapshot.ts';

const METADATA = '[{"flavor":"dublincore/episode","fields":[{"id":"title","value":"Made by a stranger"}]}]';
const ADD_JOB = '/admin/queues/api/queues/light/add';

describe.skipIf(!browserAvailable())('pages of other sites in the browser of somebody signed in', () => {
  let app: TestApp;
  let browser: Browser;
  let person: BrowserContext;
  const servers: RunningServer[] = [];
  let origin: string;
  let otherPort: string;
  let otherSite: string;
  let trustedSite: string;
  let event: string;

  beforeAll(async () => {
    const page = () =>
      new Response('<!doctype html><title>x</title>', { headers: { 'Content-Type': 'text/html' } });
    for (let i = 0; i < 2; i += 1) servers.push(await serve(page, { host: '127.0.0.1', port: 0 }));
    otherPort = `http://127.0.0.1:${servers[0]?.port}`;
    otherSite = `http://localhost:${servers[0]?.port}`;
    trustedSite = `http://localhost:${servers[1]?.port}`;
    app = await createTestApp(undefined, { CORS_ORIGINS: trustedSite });
    const product = await serve(createApp(app.context).fetch, { host: '127.0.0.1', port: 0 });
    servers.push(product);
    origin = `http://127.0.0.1:${product.port}`;
    event = await insertEvent(app.database);
    browser = await connectBrowser();
    person = await browser.newContext({ httpCredentials: { username: 'admin', password: 'opencast' } });
    const known = await person.newPage();
    expect((await known.goto(`${origin}/api/info/me`))?.status()).toBe(200);
  });
  afterAll(async () => {
    await browser?.close();
    for (const server of servers) server.destroy();
    await app?.close();
  });

  const forms = () =>
    [
      ['application/x-www-form-urlencoded', `/api/events/${event}/acl/read`, { role: 'ROLE_ANONYMOUS' }],
      [
        'multipart/form-data',
        '/api/events',
        { metadata: METADATA, acl: '[]', processing: '{"workflow":"fast"}' },
      ],
      ['text/plain', ADD_JOB, { '{"name":"x","data":{},"options":{"a": "': '"}}' }],
    ] as const;

  test.each(['other port', 'other site'])('a form on the %s changes nothing', async (which) => {
    const before = await snapshot(app.database);
    for (const [type, path, fields] of forms()) {
      const page = await person.newPage();
      await page.goto(which === 'other port' ? otherPort : otherSite);
      const answered = page.waitForResponse((response) => response.url() === origin + path);
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
        [origin + path, type, fields] as const,
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
    }, origin);
    expect(seen).toEqual(['opaque 0', 'opaque 0', 'opaque 0', 'refused', 'refused']);
    expect(statuses.slice(0, 3)).toEqual([403, 403, 403]);
    expect(await snapshot(app.database)).toEqual(before);
    await page.close();
  });

  test('a script on a trusted site does what its own credentials allow', async () => {
    const page = await person.newPage();
    await page.goto(trustedSite);
    const [location, title] = await page.evaluate(
      async ([server, metadata]) => {
        const headers = { Authorization: `Basic ${btoa('admin:opencast')}` };
        const body = new FormData();
        for (const [name, value] of Object.entries({
          metadata,
          acl: '[]',
          processing: '{"workflow":"fast"}',
        })) {
          body.append(name, value);
        }
        const made = await fetch(`${server}/api/events`, { method: 'POST', headers, body });
        const { identifier } = await made.json();
        const read = await fetch(`${server}/api/events/${identifier}`, { headers });
        return [made.headers.get('Location'), (await read.json()).title];
      },
      [origin, METADATA] as const,
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
    }, origin);
    expect(seen).toEqual([
      '204 5',
      '204 10',
      '200 10',
      '200 filename YS5tcDQ=',
      '409 1.0.0',
      '401 1.0.0',
      '412 1.0.0',
      '204 1.0.0',
      '204 1.0.0',
    ]);
    await page.close();
  });
});
