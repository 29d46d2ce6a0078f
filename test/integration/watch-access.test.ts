import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { publishedFile } from '#publications/files.endpoints.ts';
import { retractPublications } from '#publications/publish.ts';
import { UrlSigner } from '#publications/signing/url-signer.ts';
import { type TestApp, workerApp } from '../support/app.ts';
import { endpointApp } from '../support/endpoint-app.ts';
import { giveAcl } from '../support/event-writes.ts';
import { insertElement, insertEvent, insertPublication } from '../support/publication.ts';
import { ace } from '../support/series.ts';

const BROWSER = { Accept: 'text/html,*/*', 'Sec-Fetch-Site': 'none', 'Sec-Fetch-Dest': 'document' };
const BYTES = randomBytes(1000);
const PUBLIC = [ace('ROLE_ANONYMOUS')];
const HOUR_MS = 3_600_000;

const apps = {
  page: await workerApp(),
  strict: await workerApp({ WATCH_ACCESS: 'strict' }),
  link: await workerApp({ WATCH_ACCESS: 'link' }),
};

/** Publishes a recording of an hour with a file, a playlist that names it and a thumbnail. */
async function publish(
  app: TestApp,
  acl = [ace('ROLE_READER')],
  values: Parameters<typeof insertEvent>[1] = {},
  picture = { width: 1280, height: 720 },
) {
  const { database, storage } = app;
  const fields = { title: 'Optics <1>', presenters: ['Ada', 'Charles'], duration: HOUR_MS, ...values };
  const event = await insertEvent(database, fields);
  await giveAcl(app, event, acl);
  const id = await insertPublication(database, event);
  const of = { event_id: event, publication_id: id, track: 0 };
  const size = { ...picture, duration: HOUR_MS };
  const media = { ...of, ...size, kind: 'media', filename: 'a.mp4', mediatype: 'video/mp4' } as const;
  const { id: element } = await insertElement(database, storage, BYTES, media);
  const list = { ...of, kind: 'media', filename: 'a.m3u8', mediatype: 'application/x-mpegURL' } as const;
  const text = `#EXTM3U\n#EXT-X-MAP:URI="../${element}/a.mp4"\n../${element}/a.mp4\n`;
  const playlist = await insertElement(database, storage, Buffer.from(text), { ...list, position: 1 });
  const image = { ...of, kind: 'attachment', flavor: 'presenter/search+preview', filename: 'a.jpg' } as const;
  const thumbnail = await insertElement(database, storage, BYTES, { ...image, mediatype: 'image/jpeg' });
  const base = `/publications/${id}`;
  return {
    ...{ event, id, page: `/watch/${id}`, embed: `/embed/${id}`, file: `${base}/${element}/a.mp4` },
    ...{ playlist: `${base}/${playlist.id}/a.m3u8`, thumbnail: `${base}/${thumbnail.id}/a.jpg` },
  };
}

const newAccount = (app: TestApp, ...roles: string[]) => app.account(`watcher-${randomUUID()}`, ...roles);
const get = (app: TestApp, path: string, headers: Record<string, string> = {}, method = 'GET') =>
  app.anonymous(path, { method, headers });
const statuses = (app: TestApp, paths: readonly string[], headers: Record<string, string> = {}) =>
  Promise.all(paths.map(async (path) => (await get(app, path, headers)).status));
const cachingOf = async (answer: Promise<Response>) => (await answer).headers.get('Cache-Control');

/** Signs in with the form. @returns the cookie */
async function session(app: TestApp, ...roles: string[]): Promise<string> {
  const [username = ''] = atob((await newAccount(app, ...roles)).slice('Basic '.length)).split(':');
  const body = new URLSearchParams({ username, password: 'secret' });
  const answer = await app.anonymous('/sign-in', { method: 'POST', body });
  return answer.headers.get('Set-Cookie')?.split(';', 1)[0] ?? '';
}

/** Signs a path of the application that generated its secret. */
function sign(app: TestApp, path: string, ms = 60_000, source?: string): string {
  const { publicUrl, signer } = app.context.addresses;
  const url = signer?.sign(publicUrl + path, { validUntil: Date.now() + ms, source }) ?? '';
  return url.slice(publicUrl.length);
}

/** The addresses that a playlist names. */
const NAMED = /(?:^|URI=")(\.\.[^"\n]*)/gm;

/** The condition of the policy in a signed path. */
const conditionOf = (path: string) =>
  JSON.parse(atob(new URLSearchParams(path.split('?')[1]).get('policy') ?? '')).Statement.Condition;

/** Expects the default validity and the length of the recording, from any client. */
function expectForOneViewing(path: string) {
  const { DateLessThan, ...others } = conditionOf(path);
  expect(others).toEqual({});
  const left = DateLessThan - Date.now();
  expect(left).toBeGreaterThan(2.9 * HOUR_MS);
  expect(left).toBeLessThan(3.1 * HOUR_MS);
}

/** The addresses that a text holds, as paths. */
function pathsIn(text: string, at: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => {
    const { pathname, search } = new URL(found.replaceAll('&amp;', '&'), `http://inlet.test${at}`);
    return pathname + search;
  });
}

describe.each(['page', 'strict'] as const)('the pages of a recording with WATCH_ACCESS=%s', (access) => {
  const app = apps[access];

  test('open for everyone if the list admits everyone, and set no cookie', async () => {
    const { page, embed } = await publish(app, PUBLIC);
    const cookie = await session(app);
    for (const path of [page, embed]) {
      const each: Record<string, string>[] = [{}, { Cookie: cookie }, { Authorization: 'Basic wrong' }];
      for (const headers of each) {
        const answer = await get(app, path, headers);
        expect([answer.status, answer.headers.get('Cache-Control')]).toEqual([200, 'no-cache']);
        expect(answer.headers.get('Set-Cookie')).toBeNull();
      }
    }
  });

  test('send a browser without a session to the sign-in page and back', async () => {
    const { page } = await publish(app);
    for (const method of ['GET', 'HEAD']) {
      const answer = await get(app, `${page}?t=90`, BROWSER, method);
      expect([answer.status, answer.headers.get('Location')]).toEqual([
        303,
        `../sign-in?next=${encodeURIComponent(`${page}?t=90`)}`,
      ]);
    }
    // The cookie is not sent after a link of another site, but when the page reloads.
    const linked = await get(app, page, { ...BROWSER, 'Sec-Fetch-Site': 'cross-site' });
    expect([linked.status, linked.headers.get('Refresh')]).toEqual([200, '0']);
    expect(await linked.text()).not.toContain('Optics');
  });

  test('ask a program for credentials', async () => {
    const { page } = await publish(app);
    const answer = await get(app, page);
    expect([answer.status, await answer.text()]).toEqual([401, expect.not.stringContaining('Optics')]);
    expect(answer.headers.get('WWW-Authenticate')).toContain('Basic');
    expect(answer.headers.get('Cache-Control')).toBe('private, no-store');
    expect(await statuses(app, [page], { Authorization: 'Basic d3Jvbmc6d3Jvbmc=' })).toEqual([401]);
  });

  test('open for a reader by session or password, and for an administrator', async () => {
    const { page, embed } = await publish(app);
    const Cookie = await session(app, 'ROLE_READER');
    const Authorization = await newAccount(app, 'ROLE_READER');
    const each: Record<string, string>[] = [{ Cookie }, { Authorization }];
    for (const headers of each) {
      const answer = await get(app, page, { ...BROWSER, ...headers });
      expect([answer.status, answer.headers.get('Cache-Control')]).toEqual([200, 'private, no-store']);
      expect(await answer.text()).toContain('<video');
      expect(await statuses(app, [embed], headers)).toEqual([200]);
    }
    expect((await app.request(page)).status).toBe(200);
  });

  test('say so to an account without access', async () => {
    const { page, embed } = await publish(app);
    for (const path of [page, embed]) {
      const answer = await get(app, path, { ...BROWSER, Cookie: await session(app, 'ROLE_OTHER') });
      const text = await answer.text();
      expect([answer.status, text]).toEqual([403, expect.stringContaining('This account may not watch')]);
      expect(text).not.toMatch(/Optics|publications\//);
    }
  });

  test('in a frame link to a new tab instead of the sign-in page', async () => {
    const { page, embed } = await publish(app);
    for (const path of [page, embed]) {
      const headers = { ...BROWSER, 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'iframe' };
      const answer = await get(app, `${path}?t=90`, headers);
      expect([answer.status, answer.headers.get('WWW-Authenticate')]).toEqual([401, null]);
      const text = await answer.text();
      expect(text).toMatch(/<a href="..\/watch\/[-\w]+\?t=90" target="_blank" rel="noopener">/);
      expect(text).not.toContain('Optics');
    }
  });

  test('follow the access control list at the next request, own or of the series', async () => {
    const { event, page, embed } = await publish(app);
    const pages = [page, embed];
    const reader = { Authorization: await newAccount(app, 'ROLE_READER') };
    const all = async () => [await statuses(app, pages), await statuses(app, pages, reader)];
    const [open, closed, forbidden] = [
      [200, 200],
      [401, 401],
      [403, 403],
    ];
    expect(await all()).toEqual([closed, open]);
    await giveAcl(app, event, PUBLIC);
    expect(await all()).toEqual([open, open]);
    await giveAcl(app, event, [ace('ROLE_OTHER'), ace('ROLE_ANONYMOUS', 'read', false), ace('ROLE_READER', 'write')]);
    expect(await all()).toEqual([closed, forbidden]);
    // Without a list, only administrators may read, as everywhere.
    await giveAcl(app, event, []);
    expect(await all()).toEqual([closed, forbidden]);

    const series_id = randomUUID();
    await app.database.insertInto('series').values({ id: series_id, title: 'Physics' }).execute();
    await app.database.updateTable('events').set({ series_id }).where('id', '=', event).execute();
    const acl = { series_id, position: 0, ...ace('ROLE_ANONYMOUS') };
    await app.database.insertInto('series_acl').values(acl).execute();
    expect(await all()).toEqual([open, open]);
    await app.database.deleteFrom('series_acl').where('series_id', '=', series_id).execute();
    expect(await all()).toEqual([closed, forbidden]);
  });

  test('are gone with the publication, for everyone', async () => {
    const { event, page, embed, file, playlist } = await publish(app, PUBLIC);
    await app.database.transaction().execute(async (trx) => {
      await retractPublications(trx, { eventId: event, channel: undefined });
    });
    const paths = [page, embed, file, playlist, '/watch/1', `/embed/${randomUUID()}`];
    expect(await statuses(app, paths)).toEqual(paths.map(() => 404));
    const reader = { Authorization: await newAccount(app, 'ROLE_READER') };
    expect(await statuses(app, paths, reader)).toEqual(paths.map(() => 404));
  });
});

describe('the files of a recording', () => {
  test.each(['page', 'strict', 'link'] as const)(
    'that everyone may read are for every cache with %s',
    async (access) => {
      const app = apps[access];
      const { file, playlist, thumbnail } = await publish(app, PUBLIC);
      const Cookie = await session(app);
      for (const path of [file, thumbnail]) {
        const caching = 'public, max-age=31536000, s-maxage=3600, immutable';
        expect(await cachingOf(get(app, path, { Cookie }))).toBe(caching);
        expect(await cachingOf(get(app, path, { Range: 'bytes=0-9' }))).toBe(caching);
      }
      const listed = await get(app, playlist);
      expect(listed.headers.get('Cache-Control')).toBe('public, max-age=3600');
      expect(await listed.text()).not.toContain('signature');
    },
  );

  test.each(['page', 'link'] as const)(
    'that not everyone may read stay open, for one browser, with %s',
    async (access) => {
      const app = apps[access];
      const { file, playlist } = await publish(app);
      for (const path of [file, playlist]) {
        expect(await cachingOf(get(app, path))).toBe('private, max-age=3600');
        expect(await statuses(app, [path], { Authorization: 'Basic wrong' })).toEqual([200]);
      }
    },
  );
});

test('answers of the API, which depend on the session, are for one browser', async () => {
  const Cookie = await session(apps.page, 'ROLE_API_EVENTS_VIEW', 'ROLE_API');
  expect(await cachingOf(get(apps.page, '/api/events', { Cookie }))).toBe('private, no-cache');
});

describe('with WATCH_ACCESS=strict, files that not everyone may read', () => {
  const app = apps.strict;

  test('need an account, for each method, range and kind', async () => {
    const { file, playlist, thumbnail } = await publish(app);
    for (const path of [file, playlist, thumbnail]) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await get(app, path, { Range: 'bytes=0-9', 'If-None-Match': '*' }, method);
        expect([path, method, answer.status]).toEqual([path, method, 401]);
        expect(answer.headers.get('Cache-Control')).toBe('no-store');
        expect(answer.headers.get('WWW-Authenticate')).toContain('Basic');
        expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
      }
    }
    const Cookie = await session(app, 'ROLE_OTHER');
    expect(await statuses(app, [file, playlist, thumbnail], { Cookie })).toEqual([403, 403, 403]);
    const image = await get(app, thumbnail, { 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Dest': 'image' });
    expect([image.status, image.headers.get('WWW-Authenticate')]).toEqual([401, null]);
  });

  test('answer a reader, whom the list is asked about each time', async () => {
    const { event, file } = await publish(app);
    const Cookie = await session(app, 'ROLE_READER');
    const answer = await get(app, file, { Cookie, Range: 'bytes=10-19' });
    expect([answer.status, answer.headers.get('Cache-Control')]).toEqual([206, 'private, no-cache']);
    expect(BYTES.subarray(10, 20).equals(Buffer.from(await answer.arrayBuffer()))).toBe(true);
    const etag = answer.headers.get('ETag') ?? '';
    expect(await statuses(app, [file], { Cookie, 'If-None-Match': etag })).toEqual([304]);
    await giveAcl(app, event, [ace('ROLE_OTHER')]);
    expect(await statuses(app, [file], { Cookie, 'If-None-Match': etag })).toEqual([403]);
    await giveAcl(app, event, PUBLIC);
    expect(await statuses(app, [file])).toEqual([200]);
  });

  test('answer a signature for this address, until it expires, and no other', async () => {
    const [one, other] = [await publish(app), await publish(app)];
    const signed = sign(app, one.file);
    const answer = await get(app, signed, { Range: 'bytes=0-9' });
    expect(answer.status).toBe(206);
    expect(answer.headers.get('Cache-Control')).toMatch(/^private, max-age=(59|60)$/);
    const query = (path: string) => path.slice(path.indexOf('?'));
    const [, , publication, element] = one.file.split('/');
    const foreign = new UrlSigner({ keyId: 'inlet', secret: 'guess', ttlSeconds: 60 });
    const forged = foreign.sign(`http://inlet.test${one.file}`, { validUntil: Date.now() + 60_000 });
    const wrong: [string, number][] = [
      [other.file + query(signed), 403],
      [one.playlist + query(signed), 403],
      [one.page + query(signed), 403],
      [one.file + query(sign(app, other.file)), 403],
      [one.file + query(sign(app, one.page)), 403],
      [new URL(forged).pathname + new URL(forged).search, 403],
      [sign(app, one.file, -1), 410],
      [sign(app, one.file, 60_000, '192.0.2.1'), 403],
      [`${one.file}?signature=${'0'.repeat(64)}`, 400],
      [sign(app, `/publications/${other.id}/${element}/a.mp4`), 404],
      [sign(app, `/publications/${publication}/${randomUUID()}/a.mp4`), 404],
    ];
    for (const [path, status] of wrong) expect([path, ...(await statuses(app, [path]))]).toEqual([path, status]);
    const reader = { Authorization: await newAccount(app, 'ROLE_READER') };
    expect(await statuses(app, [sign(app, one.file, -1)], reader)).toEqual([200]);
  });

  test('are played by their page, which signs them for the recording and some hours', async () => {
    const { page, embed, playlist } = await publish(app);
    const headers = { Authorization: await newAccount(app, 'ROLE_READER') };
    for (const path of [page, embed, sign(app, page)]) {
      const answer = await get(app, path, path.includes('?') ? {} : headers);
      const found = pathsIn(await answer.text(), path, /(?:src|href|poster)="([^"]*\/publications\/[^"]*)"/g);
      expect(found.length).toBeGreaterThan(0);
      for (const file of found) {
        expect(file).toContain('signature=');
        expect(await statuses(app, [file, file.replace(/\?.*/, '')])).toEqual([200, 401]);
        expectForOneViewing(file);
      }
    }
    const answer = await get(app, playlist, headers);
    expect(answer.headers.get('Cache-Control')).toBe('private, no-cache');
    const named = pathsIn(await answer.text(), playlist, NAMED);
    expect(named).toHaveLength(2);
    for (const path of named) {
      expectForOneViewing(path);
      expect(await statuses(app, [path])).toEqual([200]);
    }
  });

  test('are named by a signed playlist for its end and its client', async () => {
    const { playlist } = await publish(app);
    const { database, storage, addresses } = app.context;
    const served = endpointApp([publishedFile], { database, storage, addresses });
    const source = '192.0.2.7';
    const from = async (path: string, remoteAddress = source) => served.request(path, {}, { remoteAddress });
    const signed = sign(app, playlist, 50_000, source);
    const answer = await from(signed);
    expect(answer.headers.get('Cache-Control')).toMatch(/^private, max-age=\d\d$/);
    const named = pathsIn(await answer.text(), playlist, NAMED);
    expect(named).toHaveLength(2);
    const { DateLessThan } = conditionOf(signed);
    for (const path of named) {
      expect(conditionOf(path)).toEqual({ DateLessThan, IpAddress: source });
      expect([(await from(path)).status, (await from(path, '192.0.2.8')).status]).toEqual([200, 403]);
    }
  });

  test('are signed for clients that ask for it, and those of others are not', async () => {
    const { event, page } = await publish(app);
    const answer = await app.request(`/api/events/${event}/publications?sign=true`);
    const [{ url, media }] = await answer.json();
    expect(await statuses(app, [url.slice('http://inlet.test'.length)])).toEqual([200]);
    expect(media[0].url).toContain('signature=');
    const visible = await publish(app, PUBLIC);
    expect(await (await get(app, visible.page)).text()).not.toContain('signature=');
    const body = new URLSearchParams({ url: `http://inlet.test${page}` });
    const Authorization = await newAccount(app, 'ROLE_API', 'ROLE_API_SECURITY_EDIT');
    const refused = await app.request('/api/security/sign', { method: 'POST', body, headers: { Authorization } });
    expect(await refused.json()).toEqual({ error: 'Given URL cannot be signed' });
  });
});

test('a page whose signed link has expired offers to sign in', async () => {
  const { page } = await publish(apps.strict);
  const answer = await get(apps.strict, sign(apps.strict, page, -1), BROWSER);
  const text = await answer.text();
  expect([answer.status, text]).toEqual([410, expect.stringContaining('Ask for a new link.')]);
  expect(text).toMatch(/<a href="[^"]*sign-in\?next=\/watch\/[-\w]+">Sign in<\/a>/);
});

test('with WATCH_ACCESS=page and a secret, a signed address opens the page of a protected recording', async () => {
  const signing = await workerApp({ WATCH_ACCESS: 'page', URL_SIGNING_SECRET: 'secret' });
  const { page, embed, file } = await publish(signing);
  expect(await statuses(signing, [page, embed, sign(signing, page), sign(signing, embed)])).toEqual([
    401, 401, 200, 200,
  ]);
  expect(await statuses(signing, [file, sign(signing, page, -1)])).toEqual([200, 410]);
});

test('with WATCH_ACCESS=link, everyone with the address may watch', async () => {
  const { page, embed, file } = await publish(apps.link);
  expect(await statuses(apps.link, [page, embed, file], { Authorization: 'Basic wrong' })).toEqual([200, 200, 200]);
});

describe('the player for frames', () => {
  test('is the player alone, which other sites and apps may frame', async () => {
    const { embed } = await publish(apps.page, PUBLIC);
    const answer = await get(apps.page, embed);
    const text = await answer.text();
    // `frame-ancestors *` would exclude the app of Moodle on iOS, whose pages are at moodleappfs://localhost.
    expect(answer.headers.get('Content-Security-Policy')).not.toContain('frame-ancestors');
    expect(answer.headers.get('X-Frame-Options')).toBeNull();
    expect(text).toContain('<section class="player"');
    expect(text).not.toMatch(/Download/);
    const [script = ''] = pathsIn(text, embed, /<script type="module" src="([^"]*)"/g);
    expect(await statuses(apps.page, [script])).toEqual([200]);
  });
});

describe('oEmbed', () => {
  const app = apps.page;
  const ask = (url: string, more = '', at = app) => get(at, `/oembed?url=${encodeURIComponent(url)}${more}`);

  test('describes a recording for the URLs of its pages, and is named by its page', async () => {
    const { id, page, embed, thumbnail } = await publish(app, PUBLIC);
    for (const path of [page, `${page}?t=90`, embed]) {
      const answer = await ask(`http://inlet.test${path}`, '&format=json');
      const start = path.endsWith('?t=90') ? '?t=90' : '';
      expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'application/json']);
      expect(await answer.json()).toEqual({
        ...{ version: '1.0', type: 'video', title: 'Optics <1>', author_name: 'Ada, Charles' },
        ...{ provider_name: 'Inlet', provider_url: 'http://inlet.test', width: 960, height: 540 },
        html: `<iframe src="http://inlet.test/embed/${id}${start}" width="960" height="540" title="Optics &lt;1&gt;" allow="fullscreen; picture-in-picture; clipboard-write" allowfullscreen></iframe>`,
        ...{ thumbnail_url: `http://inlet.test${thumbnail}`, thumbnail_width: 320, thumbnail_height: 180 },
      });
    }
    const [head = ''] = (await (await get(app, page)).text()).split('</head>');
    const [link = ''] = pathsIn(head, page, /type="application\/json\+oembed" href="([^"]*)"/g);
    expect(await (await get(app, link)).json()).toMatchObject({ title: 'Optics <1>' });
  });

  test('keeps the shape within limits', async () => {
    const url = `http://inlet.test${(await publish(app, PUBLIC)).page}`;
    const sizes = async (more: string, of = url) => {
      const { width, height, thumbnail_width } = await (await ask(of, more)).json();
      return [width, height, thumbnail_width];
    };
    expect(await sizes('&maxwidth=640')).toEqual([640, 360, 320]);
    expect(await sizes('&maxwidth=640&maxheight=180')).toEqual([320, 180, 320]);
    expect(await sizes('&maxwidth=300')).toEqual([300, 169, undefined]);
    expect(await sizes('&maxheight=170')).toEqual([302, 170, undefined]);
    const tall = `http://inlet.test${(await publish(app, PUBLIC, {}, { width: 720, height: 1280 })).page}`;
    expect(await sizes('', tall)).toEqual([304, 540, 180]);
    expect(await sizes('&maxheight=1080', tall)).toEqual([608, 1080, 180]);
    expect((await ask(url, '&maxwidth=0')).status).toBe(400);
    expect((await ask(url, '&maxheight=1e3')).status).toBe(400);
  });

  test('refuses recordings that are not public or do not exist, and other formats than JSON', async () => {
    const { page, file } = await publish(app);
    const url = `http://inlet.test${page}`;
    const refused = await ask(url);
    expect([refused.status, await refused.text()]).toEqual([401, 'Not everyone may watch this recording.']);
    expect((await app.request(`/oembed?url=${encodeURIComponent(url)}`)).status).toBe(401);
    const visible = `http://inlet.test${(await publish(app, PUBLIC)).page}`;
    expect((await ask(visible, '&format=xml')).status).toBe(501);
    expect((await get(app, '/oembed')).status).toBe(400);
    const others = ['x', 'http://other.test/watch/1', `http://inlet.test${file}`, 'http://inlet.test/api'];
    for (const each of [...others, `http://inlet.test/watch/${randomUUID()}`, visible.replace('inlet', 'evil')]) {
      expect([each, (await ask(each)).status]).toEqual([each, 404]);
    }
  });

  test('passes a signature on to the player and the picture', async () => {
    const { page } = await publish(apps.strict);
    const url = `http://inlet.test${sign(apps.strict, page)}`;
    const body = await (await ask(url, '', apps.strict)).json();
    const [embed = ''] = pathsIn(body.html, '/', /src="([^"]*)"/g);
    const { pathname, search } = new URL(body.thumbnail_url);
    expect(await statuses(apps.strict, [embed, pathname + search])).toEqual([200, 200]);
    expect((await ask(`http://inlet.test${sign(apps.strict, page, -1)}`, '', apps.strict)).status).toBe(401);
  });
});
