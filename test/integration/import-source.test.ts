import { createHash } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { type CatalogueSource, SourceUnusable } from '#maintenance/import/catalogue-source.ts';
import { openServer, type ServerOptions } from '#maintenance/import/server-source.ts';
import type { SourceEvent, SourceSeries } from '#maintenance/import/source.schemas.ts';
import type { Outage } from '#maintenance/import/source-requests.ts';
import { serve as serveFetch } from '#platform/http/server/serve.ts';
import { createTestApp } from '#test/support/app.ts';
import { freePort } from '#test/support/free-port.ts';
import { listen } from '#test/support/listen.ts';
import { insertElement, insertEvent, insertPublication } from '#test/support/publication.ts';
import { eventId, kindOf, seriesId, usualStart } from '#test/support/reference-catalogue.ts';
import { type ReferenceOptions, ReferenceServer } from '#test/support/reference-server.ts';
import { createSeries } from '#test/support/series.ts';

/** Reading a catalogue from a server that behaves as the reference server does. */
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function reference(options: ReferenceOptions = {}): Promise<ReferenceServer> {
  const server = await ReferenceServer.start(options);
  closers.push(() => server.close());
  return server;
}

const CREDENTIALS = { username: 'import', password: 'secret' };

function open(url: string, options: Partial<ServerOptions> = {}): Promise<CatalogueSource> {
  const controller = new AbortController();
  closers.push(() => controller.abort());
  const limits = { requestsPerSecond: 200, retryMs: 1 };
  return openServer(url, { ...CREDENTIALS, ...limits, signal: controller.signal, ...options });
}

const { signal } = new AbortController();

async function readAll<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const ids = (items: readonly { identifier: string }[]) => items.map(({ identifier }) => identifier);
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

/** Serves something else. */
async function serve(handle: RequestListener): Promise<string> {
  const server = createServer(handle);
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return listen(server);
}

describe('opening', () => {
  test.each(['', '/', '/api', '/api/', '/api/?a=b#c'])('accepts an address that ends in "%s"', async (end) => {
    const { url } = await reference();
    expect((await open(`${url}${end}`)).name).toBe(url);
  });

  test('accepts a path in front of the API, and a version without credentials', async () => {
    const { url } = await reference({ basePath: '/media/api-1', hasPublicVersion: true });
    const source = await open(`${url}/api/`);
    expect(source.name).toBe(url);
    expect(await readAll(source.events({ signal }))).toHaveLength(24);
  });

  test('rejects an address that is no server', async () => {
    await expect(open('ftp://media.example.org')).rejects.toThrow(/must begin with http/);
    await expect(open('http://a:b@media.example.org')).rejects.toThrow(/must contain no user/);
    await expect(open(`http://127.0.0.1:${await freePort()}`)).rejects.toThrow(/ECONNREFUSED.*Check the URL/);
  });

  test.each<[what: string, handle: RequestListener, message: RegExp]>([
    ['a page', (_, response) => void response.end('<html></html>'), /not answered with JSON.*Check the URL/],
    ['other JSON', (_, response) => void response.end('{"version":"1"}'), /not of the External API.*Check the URL/],
    ['nothing', (_, response) => void response.writeHead(404).end(), /status 404.*Check the URL/],
    ['versions of the future', (_, response) => void response.end('{"versions":["v2.0.0"]}'), /none of the versions/],
    [
      'another address',
      (_, response) => void response.writeHead(301, { Location: 'https://media.example.org/?x=1' }).end(),
      /redirects to https:\/\/media.example.org\/\./,
    ],
    ['no answer', () => undefined, /sent nothing for 0.1 seconds/],
  ])('rejects a server that answers with %s', async (_, handle, message) => {
    const opening = open(await serve(handle), { idleMs: 100 });
    await expect(opening).rejects.toThrow(message);
    await expect(opening).rejects.toBeInstanceOf(SourceUnusable);
  });

  test('rejects wrong credentials, and names a role that is missing', async () => {
    const { url } = await reference();
    await expect(open(url, { password: 'wrong' })).rejects.toThrow('refuses the user name or the password');
    for (const part of ['EVENTS', 'EVENTS_MEDIA', 'SERIES', 'SERIES_ACL', 'SERIES_METADATA', 'SERIES_PROPERTIES']) {
      const role = `ROLE_API_${part}_VIEW`;
      const { url } = await reference({ missingRoles: [role] });
      await expect(open(url)).rejects.toThrow(`Give the account at the source the role ${role}`);
    }
  });
});

describe('series', () => {
  test('come with their details, the oldest first, and each once', async () => {
    // Two in each second.
    const server = await reference({ series: 150, events: 0 });
    const all = await readAll<SourceSeries>((await open(server.url)).series({ signal }));
    expect(ids(all)).toEqual(numbers(150).map(seriesId));
    expect(server.requests.deepestOffset).toBeLessThan(151);
    expect(all[0]).toMatchObject({ title: 'Series 0', created: '2014-10-01T08:00:00Z', acl: undefined });
    expect(all[0]?.properties).toEqual({ theme: '1', live: 'true' });
    expect(all[0]?.metadata.map(({ flavor }) => flavor)).toEqual(['university/series', 'dublincore/series']);
    expect(all[1]?.acl).toHaveLength(3);
    expect(all[1]?.metadata[0]?.fields).toContainEqual({ id: 'creator', value: ['Ada L.', 'Hopper, Grace'] });
  });

  test('that cannot be read are reported, and one can be chosen', async () => {
    const source = await open((await reference({ isSeriesBroken: (number) => number === 1 })).url);
    const unreadable: string[] = [];
    const all = source.series({ signal, onUnreadable: (id) => unreadable.push(id) });
    expect(ids(await readAll(all))).toEqual([seriesId(0), seriesId(2)]);
    expect(unreadable).toEqual([seriesId(1)]);
    expect(ids(await readAll(source.series({ signal, seriesId: seriesId(2) })))).toEqual([seriesId(2)]);
    expect(await source.findSeries(seriesId(7))).toBeUndefined();
    await expect(source.findSeries(seriesId(1))).rejects.toThrow(
      /metadata cannot be read|acl cannot be read|properties/,
    );
  });
});

describe('events', () => {
  test.each(['1.0.0', '1.1.0', '1.3.0', '1.4.0', '1.11.0'])('come each once in version %s', async (version) => {
    const server = await reference({ version, events: 250, startOf: (i) => usualStart(i - (i % 5)) });
    const warnings: string[] = [];
    const source = await open(server.url, { onWarning: (warning) => warnings.push(warning) });
    const all = await readAll<SourceEvent>(source.events({ signal }));
    expect(ids(all)).toEqual(numbers(250).map(eventId));
    expect(all[1]?.is_part_of).toBe(seriesId(1));
    expect(warnings).toHaveLength(version === '1.0.0' ? 1 : 0);
    expect(ids(await readAll(source.events({ signal, seriesId: seriesId(1) })))).toHaveLength(76);
    const since = new Date(usualStart(240));
    expect(ids(await readAll(source.events({ signal, since })))).toEqual(numbers(250).slice(240).map(eventId));
  });

  test('of 20,000 come each once without deep offsets', async () => {
    const server = await reference({ events: 20_000, startOf: (i) => (i === 19_999 ? undefined : usualStart(i)) });
    const warnings: string[] = [];
    const source = await open(server.url, { onWarning: (warning) => warnings.push(warning) });
    let count = 0;
    for await (const { identifier } of source.events({ signal })) {
      if (identifier !== eventId(count)) expect(identifier).toBe(eventId(count));
      count += 1;
    }
    expect(count).toBe(19_999);
    expect(server.requests.deepestOffset).toBeLessThan(100);
    expect(server.requests.of('/api/events')).toBeLessThan(220);
    expect(warnings).toEqual([expect.stringContaining('Items without a date, if any, are not read')]);
  });

  test('of one second, without a date, and added during the walk come each once', async () => {
    const crowded = (i: number) => (i > 320 ? undefined : usualStart(i > 10 && i < 300 ? 10 : i));
    const server = await reference({ events: 330, startOf: crowded });
    const source = await open(server.url);
    expect(ids(await readAll(source.events({ signal })))).toEqual(numbers(330).map(eventId));
    const growing = await reference({ events: 250 });
    const seen: string[] = [];
    for await (const { identifier } of (await open(growing.url)).events({ signal })) {
      if ([100, 230].includes(seen.push(identifier))) growing.add(70);
    }
    expect(seen).toEqual(numbers(250 + 2 * 70).map(eventId));
  });

  test('have all their parts', async () => {
    const { url } = await reference();
    const source = await open(url);
    const of = async (kind: string) =>
      await source.findEvent(eventId(numbers(24).findIndex((number) => number > 0 && kindOf(number) === kind)));
    const player = await source.findEvent(eventId(16));
    expect(player?.publications.map(({ channel }) => channel)).toEqual(['internal', 'engage-player']);
    const [published] = player?.publications.slice(-1) ?? [];
    expect(published?.media.map(({ flavor }) => flavor)).toEqual(['presenter/delivery', 'presentation/delivery']);
    expect(published?.media[0]).toMatchObject({
      duration: 2000,
      width: 160,
      checksum: expect.stringMatching(/ \(md5\)$/),
    });
    expect(published?.metadata[0]?.size).toBe(-1);
    expect(player?.acl).toHaveLength(3);
    expect((await of('scheduled'))?.scheduling).toMatchObject({ agent_id: 'hall-1', inputs: ['camera'] });
    expect((await of('scheduled'))?.duration).toBeNull();
    expect((await of('youtube'))?.publications[0]).toMatchObject({ channel: 'youtube', media: [] });
    expect((await of('failed'))?.processing_state).toBe('FAILED');
    expect((await of('streams'))?.publications.at(-1)?.media[0]?.is_master_playlist).toBe(true);
    expect(await source.findEvent('no/such event')).toBeUndefined();
    const tracks = await source.tracks(eventId(2));
    expect(tracks.map(({ flavor }) => flavor)).toEqual(['presenter/source', 'captions/source']);
    expect(await source.tracks('missing')).toEqual([]);
  });

  test('have names with commas as the list has them, although catalogs of older servers split them', async () => {
    const server = await reference();
    const fields = [
      { id: 'creator', value: ['Hopper', ' Grace', ' Ada L.'] },
      { id: 'contributor', value: ['Ada L.', ' Grace H.'] },
    ];
    const metadata = [{ flavor: 'dublincore/episode', fields }];
    server.change(4, { presenter: ['Hopper, Grace', 'Ada L.'], contributor: ['Somebody else'], metadata });
    const event = await (await open(server.url)).findEvent(eventId(4));
    expect(event?.metadata[0]?.fields).toEqual([{ id: 'creator', value: ['Hopper, Grace', 'Ada L.'] }, fields[1]]);
  });

  test('can be changed and deleted at the source', async () => {
    const server = await reference();
    const source = await open(server.url);
    server.change(4, { title: 'Changed' });
    server.delete(5);
    expect((await source.findEvent(eventId(4)))?.title).toBe('Changed');
    expect(await source.findEvent(eventId(5))).toBeUndefined();
    const left = numbers(24).filter((number) => number !== 5);
    expect(ids(await readAll(source.events({ signal })))).toEqual(left.map(eventId));
    expect(await readAll(source.events({ signal, seriesId: 'a,b' }))).toEqual([]);
  });

  test('that cannot be read are reported, and do not end the walk', async () => {
    const faults = { 3: 'broken', 5: 'unreadable', 110: 'broken', 120: 'tracks-broken' } as const;
    const server = await reference({ events: 150, faultOf: (number) => faults[number as keyof typeof faults] });
    const source = await open(server.url);
    const unreadable: string[] = [];
    const all = source.events({ signal, onUnreadable: (id, reason) => unreadable.push(`${id} ${reason}`) });
    const readable = numbers(150).filter((number) => ![3, 5, 110].includes(number));
    expect(ids(await readAll(all))).toEqual(readable.map(eventId));
    expect(unreadable).toEqual([
      `${eventId(3)} /api/events/${eventId(3)} cannot be read: it responded with status 500.`,
      expect.stringContaining(`${eventId(5)} The event cannot be read (title:`),
      expect.stringContaining(eventId(110)),
    ]);
    await expect(source.findEvent(eventId(3))).rejects.toMatchObject({ name: 'SourceError', status: 500 });
    await expect(source.tracks(eventId(120))).rejects.toMatchObject({ name: 'SourceError', status: 500 });
  });

  test('of a server that does not sort are not read', async () => {
    const source = await open((await reference({ isUnsorted: true })).url);
    await expect(readAll(source.events({ signal }))).rejects.toBeInstanceOf(SourceUnusable);
  });
});

describe('requests', () => {
  test('keep to a rate and a number at the same time', async () => {
    const server = await reference({ events: 200, latencyMs: 100 });
    const source = await open(server.url, { requestsPerSecond: 40, concurrency: 3 });
    await Promise.all(numbers(60).map((number) => source.findEvent(eventId(number))));
    expect(server.requests.perSecond).toBeLessThanOrEqual(41);
    expect(server.requests.atOnce).toBe(3);
  });

  test('wait as long as the source demands', async () => {
    const server = await reference();
    const waits: (Outage | undefined)[] = [];
    const source = await open(server.url, { onWait: (outage) => waits.push(outage) });
    server.throttle(2, '1');
    const begun = performance.now();
    expect((await source.findEvent(eventId(1)))?.identifier).toBe(eventId(1));
    expect(performance.now() - begun).toBeGreaterThan(1900);
    expect(waits[0]?.reason).toBe('it responded with status 429');
    expect(waits.at(-1)).toBeUndefined();
  });

  test.each(['refused', 503] as const)('wait for a source that is away (%s)', async (how) => {
    const server = await reference({ events: 300 });
    const waits: (Outage | undefined)[] = [];
    const onWait = (outage: Outage | undefined) => {
      waits.push(outage);
      if (waits.length === 8) server.comeBack();
    };
    const source = await open(server.url, { onWait, concurrency: 2 });
    const seen: string[] = [];
    for await (const { identifier } of source.events({ signal })) if (seen.push(identifier) === 150) server.leave(how);
    expect(seen).toEqual(numbers(300).map(eventId));
    expect(waits[7]?.since).toEqual(waits[0]?.since);
    expect(waits.at(-1)).toBeUndefined();
  });

  test('stop waiting when the signal aborts', async () => {
    const server = await reference();
    const controller = new AbortController();
    const onWait = () => controller.abort(new Error('stopped'));
    const source = await open(server.url, { signal: controller.signal, onWait });
    server.leave(503);
    await expect(source.findEvent(eventId(1))).rejects.toThrow('stopped');
    await expect(readAll(source.events({ signal: controller.signal }))).rejects.toThrow('stopped');
  });

  test('read no answer beyond a limit', async () => {
    const chunk = Buffer.alloc(2 ** 20, ' ');
    const url = await serve((_, response) => {
      let left = 80;
      const write = () => {
        while (left-- > 0) if (!response.write(chunk)) return response.once('drain', write);
        return response.end('{}');
      };
      write();
    });
    await expect(open(url)).rejects.toThrow('larger than 64 MiB');
  });
});

describe('files', () => {
  const files = (event: SourceEvent | undefined) =>
    event?.publications.flatMap(({ media, attachments, metadata }) => [...media, ...attachments, ...metadata]) ?? [];

  test('have the size and the checksum of the catalogue', async () => {
    const { url } = await reference();
    const source = await open(url);
    const elements = (await Promise.all([0, 1, 2, 3].map((number) => source.findEvent(eventId(number))))).flatMap(
      files,
    );
    const tracks = await source.tracks(eventId(2));
    const all = [...elements, ...tracks.map((track) => ({ ...track, url: track.uri }))];
    expect(all.length).toBeGreaterThan(20);
    for (const { url, size, checksum } of all) {
      if (url.endsWith('.m3u8')) continue;
      const { stream, size: told } = await source.open(url, signal);
      const content = await buffer(stream);
      expect(told).toBe(content.length);
      if (size !== -1) expect(size).toBe(content.length);
      if (checksum) expect(checksum).toBe(`${createHash('md5').update(content).digest('hex')} (md5)`);
    }
    const relative = new URL(all[0]?.url ?? '').pathname;
    expect((await buffer((await source.open(relative, signal)).stream)).length).toBe(all[0]?.size);
  });

  test('with signed addresses can be read until they expire', async () => {
    const server = await reference({ signedForMs: 400 });
    const source = await open(server.url);
    const [file] = files(await source.findEvent(eventId(0)));
    const address = file?.url ?? '';
    expect(await buffer((await source.open(address, signal)).stream)).toHaveLength(file?.size ?? 0);
    const reading = () => source.open(address, signal).then(({ stream }) => buffer(stream));
    await expect.poll(() => reading().catch((error) => error)).toMatchObject({ status: 410 });
    await expect(source.open(address.split('?')[0] ?? '', signal)).rejects.toMatchObject({ status: 400 });
  });

  test('that are missing or cut short fail', async () => {
    const faults = ['file-missing', 'file-cut'] as const;
    const source = await open((await reference({ faultOf: (number) => faults[number] })).url);
    const [missing] = files(await source.findEvent(eventId(0)));
    const opening = source.open(missing?.url ?? '', signal);
    await expect(opening).rejects.toMatchObject({ name: 'SourceError', status: 404 });
    const [cut] = files(await source.findEvent(eventId(1)));
    const { stream } = await source.open(cut?.url ?? '', signal);
    await expect(buffer(stream)).rejects.toThrow('before the file was complete');
  });

  test('are requested with credentials at the source only, also after a redirect', async () => {
    const seen: Record<string, string | undefined> = {};
    const other = await serve(({ url = '', headers }, response) => {
      seen[`other ${url}`] = headers.authorization;
      response.end('file');
    });
    const url = await serve(({ url = '', headers }, response) => {
      seen[`own ${url}`] = headers.authorization;
      if (url.startsWith('/api')) response.end(url === '/api/version' ? '{"versions":["v1.11.0"]}' : '[]');
      else response.writeHead(302, { Location: `${other}/redirected` }).end();
    });
    const source = await open(url);
    for (const address of [`${url}/moved`, '/moved', `${other}/direct`])
      expect(await buffer((await source.open(address, signal)).stream)).toHaveLength(4);
    expect(seen).toMatchObject({
      'own /api/version': 'Basic aW1wb3J0OnNlY3JldA==',
      'own /moved': 'Basic aW1wb3J0OnNlY3JldA==',
      'other /redirected': undefined,
      'other /direct': undefined,
    });
  });

  test('are requested with credentials at nodes of the source that are named, and at no other host', async () => {
    const node = await serve(({ headers }, response) => {
      if (headers.authorization) response.end('file');
      else response.writeHead(403).end();
    });
    const { hostname: host, port } = new URL(node);
    const { url } = await reference();
    const refused = (await open(url)).open(`${node}/a.mp4`, signal);
    await expect(refused).rejects.toThrow(`status 403. If ${host} belongs to the source, name it with --node.`);
    await expect(refused).rejects.toMatchObject({ status: 403 });
    const source = await open(url, { nodes: [{ host, port: Number(port) }] });
    expect(await buffer((await source.open(`${node}/a.mp4`, signal)).stream)).toHaveLength(4);
  });

  test.each([
    ['http://localhost:1/a.mp4', 'neither public nor named in the URL of the source'],
    ['http://10.0.0.1/a.mp4', 'neither public nor named in the URL of the source'],
    ['file:///etc/passwd', 'must begin with http'],
    ['http://a:b@media.example.org/', 'must contain no user'],
    ['rtmp://media.example.org/live', 'must begin with http'],
    ['', 'status 404'],
  ])('at %s are not read', async (address, reason) => {
    const source = await open((await reference()).url);
    await expect(source.open(address, signal)).rejects.toThrow(new RegExp(reason));
    await expect(source.open(address, signal)).rejects.toMatchObject({ name: 'SourceError' });
  });

  test('are not followed to where the source may not send anyone', async () => {
    let location = '';
    const redirecting = await serve((_, response) => void response.writeHead(302, { Location: location }).end());
    const source = await open((await reference()).url);
    const opened = (to: string) => {
      location = to;
      return source.open(`${redirecting}/a.mp4`, signal);
    };
    await expect(opened('http://10.0.0.1/secret')).rejects.toThrow('neither public nor named');
    await expect(opened('file:///etc/passwd')).rejects.toThrow('must begin with http');
    await expect(opened('/login.html')).rejects.toMatchObject({ status: 401 });
    await expect(opened('/again')).rejects.toThrow('redirects more than 5 times');
  });

  test('are no longer read when the signal aborts', async () => {
    const endless = await serve((_, response) => void response.write('a'));
    const source = await open((await reference()).url);
    const controller = new AbortController();
    const { stream } = await source.open(`${endless}/a.mp4`, controller.signal);
    const reading = buffer(stream);
    controller.abort();
    await expect(reading).rejects.toThrow(/abort/i);
  });

  test('leave room for JSON while they are open', async () => {
    const source = await open((await reference()).url, { concurrency: 1 });
    const [file] = files(await source.findEvent(eventId(0)));
    const { stream } = await source.open(file?.url ?? '', signal);
    expect(await source.findEvent(eventId(1))).toBeDefined();
    await buffer(stream);
    expect(await buffer((await source.open(file?.url ?? '', signal)).stream)).toHaveLength(file?.size ?? 0);
  });
});

test('another Inlet is a source', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const app = await createTestApp(undefined, { PUBLIC_URL: url });
  const passed = ({ url, headers }: Request) => {
    const { pathname, search } = new URL(url);
    return app.anonymous(pathname + search, { headers });
  };
  const server = await serveFetch(passed, { host: '127.0.0.1', port });
  closers.push(
    () => app.close(),
    () => server.destroy(),
  );
  const { database, storage } = app;
  const series = await Promise.all(numbers(3).map((number) => createSeries(app, { title: `Series ${number}` })));
  const id = (number: number) => `event-${String(number).padStart(3, '0')}`;
  // Several in each second.
  const start = (number: number) => new Date(Date.UTC(2026, 3, 13) + Math.floor(number / 7) * 1000 + (number % 7));
  for (const number of numbers(230)) await insertEvent(database, { id: id(number), start_date: start(number) });
  const content = Buffer.from('video');
  const publication = await insertPublication(database, id(0));
  await insertElement(database, storage, content, { event_id: id(0), publication_id: publication, kind: 'media' });

  const source = await open(url, { username: 'admin', password: 'opencast' });
  expect(ids(await readAll(source.series({ signal }))).sort()).toEqual(series.sort());
  const events = await readAll(source.events({ signal }));
  expect(ids(events)).toEqual(numbers(230).map(id));
  expect(await source.findEvent(id(0))).toEqual(events[0]);
  const { stream, size } = await source.open(events[0]?.publications[0]?.media[0]?.url ?? '', signal);
  expect(await buffer(stream)).toEqual(content);
  expect(size).toBe(content.length);
});
