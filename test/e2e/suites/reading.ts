import { beforeAll, describe, expect, test } from 'vitest';
import { eventFields } from '../../support/form.ts';
import { expectReadiness } from '../../support/readiness.ts';
import type { Suite } from '../suite.ts';

const SINCE_1_1 = ['language', 'rightsholder', 'license', 'is_part_of', 'series', 'source', 'status'];

export const reading: Suite = (product) => {
  test('the reference page, its files, the document and the scripts of pages are public', async () => {
    const { url } = product().admin;
    const files = ['swagger-ui-bundle.js', 'swagger-ui.css', 'api-reference.js', 'favicon-32x32.png'];
    const modules = ['/watch/assets/player.js', '/admin/assets/page-updates.js', '/admin/assets/idiomorph.js'];
    for (const path of ['/docs', ...files.map((name) => `/docs/${name}`), '/api/openapi.json', ...modules]) {
      const answer = await fetch(new URL(path, url));
      expect([answer.status, (await answer.arrayBuffer()).byteLength > 0], path).toEqual([200, true]);
    }
  });

  describe('an event', () => {
    let id: string;
    beforeAll(async () => {
      const { admin } = product();
      id = await admin.create(eventFields({ title: 'Read me' }));
      await admin.processed(id);
    });

    test('costs a poll nothing while it stays the same', async () => {
      const { admin } = product();
      const first = await admin.fetch(`/api/events/${id}`);
      const etag = first.headers.get('ETag') ?? '';
      expect(etag).toMatch(/^".+"$/);
      const again = await admin.fetch(`/api/events/${id}`, { headers: { 'If-None-Match': etag } });
      expect(again.status).toBe(304);
      expect(await again.text()).toBe('');
      expect(again.headers.get('ETag')).toBe(etag);
      const other = await admin.fetch(`/api/events/${id}?withacl=true`, {
        headers: { 'If-None-Match': etag },
      });
      expect(other.status).toBe(200);
    });

    test('has the length of its body also when only the headers are asked for', async () => {
      const { admin } = product();
      for (const path of [`/api/events/${id}`, '/api/events/nowhere']) {
        const { byteLength } = await (await admin.fetch(path)).arrayBuffer();
        const head = await admin.fetch(path, { method: 'HEAD' });
        expect(head.headers.get('Content-Length')).toBe(String(byteLength));
      }
    });

    test('is shown as the version asked for knows it', async () => {
      const { admin } = product();
      const old = await admin.fetch(`/api/events/${id}`, {
        headers: { Accept: 'application/v1.0.0+json' },
      });
      expect(old.headers.get('Content-Type')).toBe('application/v1.0.0+json');
      const fields = Object.keys((await old.json()) as object);
      for (const name of SINCE_1_1) expect(fields).not.toContain(name);
      const newest = await admin.json<object>(`/api/events/${id}`);
      for (const name of SINCE_1_1) expect(newest).toHaveProperty(name);
      const unknown = await admin.fetch(`/api/events/${id}`, {
        headers: { Accept: 'application/v9.9.9+json' },
      });
      expect(unknown.status).toBe(406);
    });

    test('comes with its ACL and its publications when they are asked for', async () => {
      const { admin } = product();
      const event = await admin.json<object>(`/api/events/${id}?withacl=TRUE&withpublications=true`);
      expect(event).toMatchObject({
        acl: [{ allow: true, action: 'read', role: 'ROLE_USER' }],
        publications: [],
      });
      const plain = await admin.json<object>(`/api/events/${id}?withacl=1`);
      expect(plain).not.toHaveProperty('acl');
    });

    test('is listed, on whichever page it falls', async () => {
      const { admin } = product();
      const all = await admin.json<{ identifier: string }[]>('/api/events/');
      const identifiers = all.map(({ identifier }) => identifier);
      expect(identifiers).toContain(id);
      const pages: string[] = [];
      for (let offset = 0; offset < identifiers.length; offset += 10) {
        const page = await admin.json<{ identifier: string }[]>(`/api/events?limit=10&offset=${offset}`);
        pages.push(...page.map(({ identifier }) => identifier));
      }
      expect(pages).toEqual(identifiers);
    });
  });

  test('the API tells what it is', async () => {
    const { admin, server } = product();
    expect(await admin.json('/api')).toEqual({ url: `${server.url}/api`, version: 'v1.11.0' });
    const { versions } = await admin.json<{ versions: string[] }>('/api/version');
    expect(versions).toHaveLength(12);
    expect(await admin.json('/api/version/default')).toEqual({ default: 'v1.11.0' });
    expect(await admin.json('/api/info/me')).toMatchObject({
      username: 'admin',
      userrole: 'ROLE_USER_ADMIN',
    });
    expect(await admin.json('/api/info/me/roles')).toContain('ROLE_ADMIN');
  });

  test('the server tells that it lives and is ready', async () => {
    const { server } = product();
    expect(await (await fetch(`${server.url}/health/live`)).json()).toEqual({ status: 'live' });
    const parts = { database: 'ok', queue: 'ok', storage: 'ok', worker: 'ok' };
    await expectReadiness(server, 200, parts);
  });

  test('the dashboard shows the queues to administrators', async () => {
    const { admin, server } = product();
    const page = await admin.fetch('/admin/queues/');
    const html = await page.text();
    expect(page.status).toBe(200);
    expect(page.headers.get('Content-Type')).toMatch(/^text\/html/);
    const script = /src="([^"]+\.js)"/.exec(html)?.[1] ?? '';
    const base = /<base href="([^"]+)"/.exec(html)?.[1] ?? '';
    const asset = await admin.fetch(new URL(script, new URL(base, `${server.url}/admin/queues/`)).href);
    expect(asset.status).toBe(200);
    expect(asset.headers.get('Content-Type')).toMatch(/javascript/);
    const { queues } = await admin.json<{ queues: { name: string }[] }>('/admin/queues/api/queues');
    expect(queues.map(({ name }) => name)).toEqual(['light', 'copies', 'heavy', 'pieces', 'long']);
    expect((await fetch(`${server.url}/admin/queues/`)).status).toBe(401);
  });

  test('people sign in to the dashboard with a form, which no page of another site can send', async () => {
    const { server } = product();
    const send = (path: string, headers: Record<string, string>) =>
      fetch(server.url + path, {
        method: 'POST',
        headers,
        redirect: 'manual',
        body: new URLSearchParams({ username: 'admin', password: 'opencast', next: '/admin/queues/' }),
      });
    expect((await send('/sign-in', { Origin: 'https://evil.example' })).status).toBe(403);
    const answer = await send('/sign-in', { Origin: server.url });
    expect([answer.status, answer.headers.get('Location')]).toEqual([303, './admin/queues/']);
    const [Cookie = ''] = answer.headers.get('Set-Cookie')?.split(';') ?? [];
    const dashboard = () => fetch(`${server.url}/admin/queues/`, { headers: { Cookie } });
    expect((await dashboard()).status).toBe(200);
    expect((await send('/sign-out', { Cookie, Origin: server.url })).status).toBe(303);
    expect((await dashboard()).status).toBe(401);
  });
};
