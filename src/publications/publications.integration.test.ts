import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readdir, readlink } from 'node:fs/promises';
import { describe, expect, test, vi } from 'vitest';
import { anonymous } from '#access/principal.ts';
import { workerApp } from '#test/support/app.ts';
import { insertPublicEvent } from '#test/support/event-writes.ts';
import { insertElement, insertEvent, insertPublication } from '#test/support/publication.ts';
import { findWatchableRecording, publicationsOfEvents } from './publication.queries.ts';

const app = await workerApp();
const { database, storage } = app;

async function insertSeries(title: string): Promise<string> {
  const id = randomUUID();
  await database.insertInto('series').values({ id, title }).execute();
  return id;
}

describe('the publications of events', () => {
  test('come with their elements in order and types intact, to each event its own', async () => {
    const [one = '', two = '', none = ''] = await Promise.all([1, 2, 3].map(() => insertEvent(database)));
    const later = await insertPublication(database, one, 'oaipmh-default');
    const first = await insertPublication(database, one, 'engage-player');
    const other = await insertPublication(database, two);
    const media = { event_id: one, publication_id: first, kind: 'media', duration: 60_000 } as const;
    const size = { bit_rate: 5_000_000_000, frame_rate: 29.97, tags: ['a', 'b'] };
    const b = await insertElement(database, storage, Buffer.from('b'), { ...media, position: 1 });
    const a = await insertElement(database, storage, Buffer.from('a'), { ...media, ...size, position: 0 });
    await insertElement(database, storage, Buffer.from('prepared'), { event_id: one, kind: 'media' });

    const found = await publicationsOfEvents(database, [one, two, none, 'absent']);
    expect([...found].map(([id, publications]) => [id, publications.map((each) => each.id)])).toEqual([
      [one, [first, later]],
      [two, [other]],
      [none, []],
      ['absent', []],
    ]);
    expect(found.get(one)?.[0]?.elements.map(({ id }) => id)).toEqual([a.id, b.id]);
    expect(found.get(one)?.[0]?.elements[0]).toMatchObject({ ...size, duration: 60_000, size: 1 });
    expect(found.get(two)?.[0]?.elements).toEqual([]);
  });

  test('are found for none, and for more events than a statement has parameters', async () => {
    expect(await publicationsOfEvents(database, [])).toEqual(new Map());
    const ids = Array.from({ length: 70_000 }, (_, i) => `many-${i}`);
    expect((await publicationsOfEvents(database, ids)).size).toBe(70_000);
  });

  test('come to the watch page with the catalog of the event, also when its series is deleted', async () => {
    const series_id = await insertSeries('Algebra');
    const event = await insertEvent(database, { title: 'Groups', presenters: ['Ada'], series_id });
    const id = await insertPublication(database, event);
    const found = { id, title: 'Groups', presenters: ['Ada'], series_title: 'Algebra', elements: [] };
    expect(await findWatchableRecording(database, id, anonymous)).toMatchObject(found);
    await database.deleteFrom('series').where('id', '=', series_id).execute();
    expect(await findWatchableRecording(database, id, anonymous)).toMatchObject({ ...found, series_title: '' });
  });
});

const UNKNOWN = '00000000-0000-4000-8000-0000000000ff';
const SIZE = 3_000_000;
const bytes = randomBytes(SIZE);

const MEDIA = { kind: 'media', filename: 'presenter.mp4', mediatype: 'video/mp4' } as const;

async function publishFile(content: Uint8Array) {
  const event_id = await insertPublicEvent(database);
  const publication_id = await insertPublication(database, event_id);
  const element = await insertElement(database, storage, content, { event_id, publication_id, ...MEDIA });
  const path = `/publications/${publication_id}/${element.id}/presenter.mp4`;
  return { element, event_id, publication_id, path, etag: `"${element.sha256}"` };
}

describe('a published file', async () => {
  const { path, etag, event_id, publication_id } = await publishFile(bytes);

  async function get(headers: Record<string, string> = {}, method = 'GET') {
    const response = await app.anonymous(path, { method, headers });
    return { response, body: Buffer.from(await response.arrayBuffer()) };
  }

  /** How many files below the storage's folder this process has open. */
  async function openFiles(): Promise<number> {
    const names = await readdir('/proc/self/fd');
    const links = await Promise.all(names.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
    return links.filter((target) => target.startsWith(app.context.config.dataDir)).length;
  }

  test('is served whole with what players and caches need', async () => {
    const { response, body } = await get();
    expect(response.status).toBe(200);
    expect(body.equals(bytes)).toBe(true);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'video/mp4',
      'content-length': String(SIZE),
      'accept-ranges': 'bytes',
      etag,
      'cache-control': 'public, max-age=31536000, s-maxage=3600, immutable',
      'content-disposition': 'inline; filename="presenter.mp4"',
      'x-content-type-options': 'nosniff',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
    });
    expect(response.headers.get('Content-Security-Policy')).toMatch(/^sandbox;/);
  });

  test.each([
    ['bytes=1000-1999', 1000, 1999],
    ['bytes=2999000-99999999', SIZE - 1000, SIZE - 1],
    ['bytes=-500', SIZE - 500, SIZE - 1],
  ])('is served in part for %s', async (range, start, end) => {
    const { response, body } = await get({ Range: range });
    expect(response.status).toBe(206);
    expect(response.headers.get('Content-Range')).toBe(`bytes ${start}-${end}/${SIZE}`);
    expect(response.headers.get('Content-Length')).toBe(String(end - start + 1));
    expect(body.equals(bytes.subarray(start, end + 1))).toBe(true);
  });

  test('has no part beyond its end: 416 with the size; for a range that is not supported it is whole', async () => {
    const { response } = await get({ Range: `bytes=${SIZE}-` });
    expect(response.status).toBe(416);
    expect(response.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
    expect(response.headers.get('Content-Range')).toBe(`bytes */${SIZE}`);
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    const several = await get({ Range: 'bytes=0-1,5-6' });
    expect([several.response.status, several.body.length]).toEqual([200, SIZE]);
  });

  test('is served in part under If-Range only while it is the same', async () => {
    const range = { Range: 'bytes=0-9' };
    expect((await get({ ...range, 'If-Range': etag })).response.status).toBe(206);
    expect((await get({ ...range, 'If-Range': '"other"' })).body.length).toBe(SIZE);
    expect((await get({ ...range, 'If-Range': `W/${etag}` })).response.status).toBe(200);
  });

  test('is not sent again to a client that has it, range or not', async () => {
    const { response, body } = await get({ 'If-None-Match': `"x", ${etag}`, Range: 'bytes=0-9' });
    expect([response.status, body.length]).toEqual([304, 0]);
    expect(response.headers.get('ETag')).toBe(etag);
    expect(response.headers.get('Cache-Control')).toBe('public, max-age=31536000, s-maxage=3600, immutable');
    expect((await get({ 'If-None-Match': '"x"' })).response.status).toBe(200);
  });

  test('has the headers of the whole file for HEAD, which opens nothing', async () => {
    const opened = vi.spyOn(storage, 'get');
    const { response, body } = await get({ Range: 'bytes=0-9' }, 'HEAD');
    expect([response.status, body.length]).toEqual([200, 0]);
    expect(response.headers.get('Content-Length')).toBe(String(SIZE));
    expect(response.headers.get('ETag')).toBe(etag);
    expect(opened).not.toHaveBeenCalled();
  });

  test('may be asked for in ranges by a player on another site', async () => {
    const headers = { Origin: 'https://lms.example', 'Access-Control-Request-Method': 'GET' };
    const response = await app.anonymous(path, { method: 'OPTIONS', headers });
    expect(response.status).toBe(204);
    expect(response.headers.get('Access-Control-Allow-Headers')).toContain('Range');
    expect(response.headers.get('Access-Control-Allow-Methods')).toBe('GET,HEAD');
  });

  test('does not stay open when a client goes away, or never reads', async () => {
    const ranged: Record<string, string> = { Range: 'bytes=5-' };
    for (const headers of [ranged, {}, ranged, {}]) {
      const reader = (await app.anonymous(path, { headers })).body?.getReader();
      await reader?.read();
      expect(await openFiles()).toBe(1);
      await reader?.cancel();
      await expect.poll(openFiles).toBe(0);
    }
    await (await app.anonymous(path)).body?.cancel();
    await expect.poll(openFiles).toBe(0);
  });

  test('may be empty', async () => {
    const empty = await publishFile(new Uint8Array());
    const whole = await app.anonymous(empty.path);
    expect([whole.status, whole.headers.get('Content-Length'), await whole.text()]).toEqual([200, '0', '']);
    expect((await app.anonymous(empty.path, { headers: { Range: 'bytes=0-' } })).status).toBe(416);
  });

  test('is 404 when its object vanished, or while it is prepared and not published', async () => {
    const gone = await publishFile(randomBytes(10));
    await storage.remove([gone.element.object_key]);
    const response = await app.anonymous(gone.path);
    expect([response.status, response.headers.get('Cache-Control')]).toEqual([404, 'no-store']);
    const prepared = await insertElement(database, storage, randomBytes(10), { event_id, kind: 'media' });
    for (const publication of [publication_id, 'null']) {
      const address = `/publications/${publication}/${prepared.id}/file.bin`;
      expect((await app.anonymous(address)).status).toBe(404);
    }
  });

  test('has no other address', async () => {
    const [, , publication, element, filename] = path.split('/');
    for (const wrong of [
      `${randomUUID()}/${element}/${filename}`,
      `${publication}/${randomUUID()}/${filename}`,
      `${publication}/${element}/other.mp4`,
      `${publication}/${element}/${encodeURIComponent('../presenter.mp4')}`,
      `${publication}/${element}/%00`,
      `${publication}/${element}/%ff`,
      `${publication}/x/${filename}`,
      `x/${element}/${filename}`,
      `${publication}/${element}`,
      '',
    ]) {
      expect([wrong, (await app.anonymous(`/publications/${wrong}`)).status]).toEqual([wrong, 404]);
    }
  });
});

describe('the watch page', () => {
  async function publication(values: Parameters<typeof insertEvent>[1] = {}) {
    const event_id = await insertPublicEvent(database, values);
    const id = await insertPublication(database, event_id);
    const media = await insertElement(database, storage, Buffer.from('x'.repeat(2500)), {
      ...{ event_id, publication_id: id, ...MEDIA },
      ...{ duration: 3_723_000, width: 1280, height: 720 },
    });
    return { id, event_id, media };
  }
  const textOf = async (id: string) => (await app.anonymous(`/watch/${id}`)).text();

  test('shows the metadata of the recording and offers it for download', async () => {
    const { id, media } = await publication({
      title: 'Groups',
      presenters: ['Ada', 'Charles'],
      series_id: await insertSeries('Algebra I'),
      description: 'Sets with one operation.',
      start_date: new Date('2026-04-13T08:15:00Z'),
      rights_holder: 'The university',
      license: 'CC-BY-SA',
    });
    const response = await app.anonymous(`/watch/${id}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=UTF-8');
    const text = await response.text();
    const main = text.slice(text.indexOf('<main>'), text.indexOf('</main>'));
    const shown = main.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
    expect(shown.trim()).toBe(
      'Algebra I Groups Ada, Charles 13 April 2026 at 08:15 UTC 1:02:03 Sets with one operation. © The university CC BY-SA Download Presenter, 720p video MP4, 2.5 KB',
    );
    const url = `../publications/${id}/${media.id}/presenter.mp4`;
    expect(text).toContain(`<a href="${url}" download="presenter.mp4">`);
    expect(text).toMatch(new RegExp(`<video src="${url}"[^>]* controls[^>]* data-leader data-sound`));
    expect(await textOf(`${id}/`)).toContain(`src="../${url}"`);
  });

  test('has captions with the medium that leads, in their language', async () => {
    const { id, event_id } = await publication();
    const captions = await insertElement(database, storage, Buffer.from('WEBVTT\n'), {
      ...{ event_id, publication_id: id, kind: 'attachment', flavor: 'captions/delivery' },
      ...{ filename: 'captions-de.vtt', mediatype: 'text/vtt', tags: ['lang:de', 'generator-type:auto'] },
    });
    const url = `../publications/${id}/${captions.id}/captions-de.vtt`;
    expect(await textOf(id)).toContain(
      `<track kind="captions" src="${url}" srclang="de" label="Deutsch (automatic)"></video>`,
    );
  });

  test('makes no markup of what a client wrote', async () => {
    const attack = `"'><script>alert(1)</script><img src=x onerror=alert(1)>`;
    const texts = { title: attack, description: attack, rights_holder: attack, license: attack };
    const series_id = await insertSeries(attack);
    const text = await textOf((await publication({ ...texts, presenters: [attack], series_id })).id);
    expect(text).not.toContain('<script>alert');
    expect(text).not.toContain('<img src=x');
    expect(text.match(/&quot;&#39;&gt;&lt;script&gt;/g)).toHaveLength(7);
  });

  test('has a policy that allows its own style and files of this server, nothing else, and frames', async () => {
    const response = await app.anonymous(`/watch/${(await publication()).id}`);
    const text = await response.text();
    const policy = response.headers.get('Content-Security-Policy') ?? '';
    const [[, style = ''] = [], ...more] = [...text.matchAll(/<style>(.*?)<\/style>/gs)];
    expect(more).toEqual([]);
    expect(policy).toContain(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`);
    expect(policy).toMatch(/^default-src 'none'; /);
    expect(policy).toContain("; script-src 'self'; ");
    expect(text.match(/<script type="module" src=/g)).toHaveLength(text.match(/<script/g)?.length ?? 0);
    expect(policy).not.toMatch(/unsafe|frame-ancestors/);
    expect(response.headers.get('X-Frame-Options')).toBeNull();
    // Consumers of oEmbed expect a whole URL in the head.
    const rest = text.replace(/<link rel="alternate"[^>]*>/, '');
    expect(rest).not.toMatch(/\son[a-z]+=|\sstyle=|https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
    });
  });

  test.each(['', '/'])('at its address with the end %j finds its modules, which are public', async (end) => {
    const path = `/watch/${(await publication()).id}${end}`;
    const scripts = (await textOf(path.slice(7))).matchAll(/<script type="module" src="([^"]*)"/g);
    const paths = [...scripts].map(([, src = '']) => new URL(src, `http://inlet.test${path}`).pathname);
    expect(paths).toContain('/watch/assets/player.js');
    for (const script of paths) expect((await app.anonymous(script)).status).toBe(200);
  });

  test('says so when the publication has no media', async () => {
    const id = await insertPublication(database, await insertPublicEvent(database, { title: '' }));
    const response = await app.anonymous(`/watch/${id}`);
    expect(response.status).toBe(200);
    expect(await response.text()).toMatch(/Untitled recording.*nothing to play/s);
  });

  test.each([UNKNOWN, 'x', '%00', `${UNKNOWN}%27`, '%ff', 'A'.repeat(36)])(
    'is a page that says so at the address %s, which has no recording',
    async (id) => {
      const response = await app.anonymous(`/watch/${id}`);
      expect(response.status).toBe(404);
      expect(response.headers.get('Content-Security-Policy')).toContain("default-src 'none'");
      expect(await response.text()).toContain('Recording not found');
    },
  );
});
