import { createHash, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Hono } from 'hono';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { endpointApp } from '../../test/support/endpoint-app.ts';
import { insertElement, insertEvent, insertPublication } from '../../test/support/publication.ts';
import { FolderStorage } from '../storage/folder.ts';
import { SCRIPT } from './watch/script.ts';
import { watchPage } from './watch.endpoints.ts';

const folder = join(tmpdir(), `inlet-watch-${randomUUID()}`);
let db: TestDatabase;
let storage: FolderStorage;
let app: Hono;

beforeAll(async () => {
  db = await createTestDatabase();
  storage = await new FolderStorage(folder).open();
  app = endpointApp([watchPage], { database: db.database, addresses: { publicUrl: 'http://inlet.test' } });
});
afterAll(async () => {
  await db.close();
  await rm(folder, { recursive: true });
});

async function publication(values: Parameters<typeof insertEvent>[1] = {}) {
  const event_id = await insertEvent(db.database, values);
  const publication_id = await insertPublication(db.database, event_id);
  const media = await insertElement(db.database, storage, Buffer.from('x'.repeat(2500)), {
    event_id,
    publication_id,
    kind: 'media',
    flavor: 'presenter/delivery',
    filename: 'presenter.mp4',
    mediatype: 'video/mp4',
    duration: 3_723_000,
    width: 1280,
    height: 720,
  });
  return { id: publication_id, media };
}

test('the page tells what the recording is and offers it for download', async () => {
  await db.database.insertInto('series').values({ id: 'algebra', title: 'Algebra I' }).execute();
  const { id, media } = await publication({
    title: 'Groups',
    presenters: ['Ada', 'Charles'],
    series_id: 'algebra',
    description: 'Sets with one operation.',
    start_date: new Date('2026-04-13T08:15:00Z'),
    rights_holder: 'The university',
    license: 'CC-BY-SA',
  });
  const response = await app.request(`/watch/${id}`);
  expect(response.status).toBe(200);
  expect(response.headers.get('Content-Type')).toBe('text/html; charset=UTF-8');
  const text = await response.text();
  const shown = text
    .slice(text.indexOf('<main>'), text.indexOf('</main>'))
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');
  expect(shown.trim()).toBe(
    'Algebra I Groups Ada, Charles 13 April 2026 at 08:15 UTC 1:02:03 Sets with one operation. © The university CC BY-SA Download Presenter video MP4, 2.5 KB',
  );
  const url = `../publications/${id}/${media.id}/presenter.mp4`;
  expect(text).toContain(`<a href="${url}" download="presenter.mp4">`);
  expect(text).toContain(`<video src="${url}" controls preload="metadata" data-leader data-sound`);
});

test('captions come with the medium that leads, in their language', async () => {
  const { id } = await publication();
  const event = db.database.selectFrom('publications').select('event_id').where('id', '=', id);
  const { event_id } = await event.executeTakeFirstOrThrow();
  const captions = await insertElement(db.database, storage, Buffer.from('WEBVTT\n'), {
    event_id,
    publication_id: id,
    kind: 'attachment',
    flavor: 'captions/delivery',
    filename: 'captions-de.vtt',
    mediatype: 'text/vtt',
    tags: ['lang:de', 'generator-type:auto'],
  });
  const text = await (await app.request(`/watch/${id}`)).text();
  const url = `../publications/${id}/${captions.id}/captions-de.vtt`;
  expect(text).toContain(
    `<track kind="captions" src="${url}" srclang="de" label="Deutsch (automatic)"></video>`,
  );
});

test('nothing a client wrote becomes markup', async () => {
  const attack = `"'><script>alert(1)</script><img src=x onerror=alert(1)>`;
  const { id } = await publication({
    title: attack,
    presenters: [attack],
    description: attack,
    rights_holder: attack,
    license: attack,
    series_id: 'evil',
  });
  await db.database.insertInto('series').values({ id: 'evil', title: attack }).execute();
  const text = await (await app.request(`/watch/${id}`)).text();
  expect(text).not.toContain('<script>alert');
  expect(text).not.toContain('<img src=x');
  expect(text.match(/&quot;&#39;&gt;&lt;script&gt;/g)).toHaveLength(7);
});

test('the policy allows the script and the style of the page, nothing else, and frames', async () => {
  const { id } = await publication();
  const response = await app.request(`/watch/${id}`);
  const text = await response.text();
  const policy = response.headers.get('Content-Security-Policy') ?? '';
  for (const [tag, directive] of [
    ['script', 'script-src'],
    ['style', 'style-src'],
  ]) {
    const contents = [...text.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'gs'))].map(([, inner]) => inner);
    expect(contents).toHaveLength(1);
    const digest = createHash('sha256')
      .update(contents[0] ?? '')
      .digest('base64');
    expect(policy).toContain(`${directive} 'sha256-${digest}'`);
  }
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('unsafe');
  expect(policy).not.toContain('frame-ancestors');
  expect(response.headers.get('X-Frame-Options')).toBeNull();
  expect(text).not.toMatch(/\son[a-z]+=|\sstyle=|https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex',
  });
});

test('the script is whole when it stands alone in a page', () => {
  expect(() => new Function(SCRIPT)).not.toThrow();
  expect(SCRIPT).not.toMatch(/<\/script|<!--|\bimport\b|__vi|__name/);
});

test('an address with a slash at its end finds the files as well', async () => {
  const { id, media } = await publication();
  const text = await (await app.request(`/watch/${id}/`)).text();
  expect(text).toContain(`src="../../publications/${id}/${media.id}/presenter.mp4"`);
});

test('a publication without media says so', async () => {
  const id = await insertPublication(db.database, await insertEvent(db.database, { title: '' }));
  const response = await app.request(`/watch/${id}`);
  const text = await response.text();
  expect(response.status).toBe(200);
  expect(text).toContain('nothing to play');
  expect(text).toContain('Untitled recording');
});

test('an address without a recording is a page that says so', async () => {
  for (const id of [randomUUID(), 'x', '%00', `${randomUUID()}%27`, '%ff']) {
    const response = await app.request(`/watch/${id}`);
    expect([id, response.status]).toEqual([id, 404]);
    expect(response.headers.get('Content-Security-Policy')).toContain("default-src 'none'");
    expect(await response.text()).toContain('There is no recording at this address');
  }
});
