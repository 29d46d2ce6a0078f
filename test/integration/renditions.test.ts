import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type Delivery, deliver, deliverCopy } from '#platform/media/encode-delivery.ts';
import { indexFile } from '#platform/media/fragment-index.ts';
import { bitRatesOf, multivariantPlaylist } from '#platform/media/hls-playlists.ts';
import { parseHeights, USUAL_LADDER } from '#platform/media/ladder.ts';
import { probe } from '#platform/media/probe.ts';
import { runTool } from '#platform/media/tools/run-tool.ts';
import { publishedFile } from '#publications/files.endpoints.ts';
import { UrlSigner } from '#publications/signing/url-signer.ts';
import { workerApp } from '../support/app.ts';
import { type ClipOptions, clip, clipFolder, testTools } from '../support/clips.ts';
import { endpointApp } from '../support/endpoint-app.ts';
import { insertElement, insertEvent, insertPublication } from '../support/publication.ts';

const tools = await testTools();
const OPTIONS = { timeLimitMs: 60_000, onProgress: () => undefined };

async function ladderOf(options: ClipOptions, heights = 'source,360') {
  const folder = await mkdtemp(join(clipFolder(), 'ladder-'));
  const settings = { ...USUAL_LADDER, heights: parseHeights(heights) ?? [] };
  return deliver(tools, await probe(tools, await clip(options)), { ...OPTIONS, settings, folder });
}

/** The times of key frames, in seconds. */
async function keyframeTimes(path: string): Promise<number[]> {
  const entries = ['-select_streams', 'v:0', '-show_entries', 'packet=pts_time,flags', '-of', 'csv=p=0'];
  const { output } = await runTool(tools.ffprobe, ['-v', 'error', ...entries, path], OPTIONS);
  const packets = output.toString().trim().split('\n');
  return packets.filter((line) => line.includes('K')).map((line) => Number.parseFloat(line));
}

const NTSC: ClipOptions = {
  ...{ container: 'webm', seconds: 14 },
  video: { size: '640x480', rate: 29.97, options: ['-g', '500', '-deadline', 'realtime', '-cpu-used', '8'] },
};

describe('the renditions of a track', () => {
  it('have segments of about two seconds that begin with key frames at the same times', async () => {
    const { renditions } = await ladderOf(NTSC);
    expect(renditions.map(({ size }) => size?.height)).toEqual([480, 360]);
    const indexes = await Promise.all(renditions.map(({ path }) => indexFile(path)));
    const [best = [], lower] = indexes.map(({ segments }) => segments.map(({ seconds }) => seconds));
    expect(best).toEqual(lower);
    expect(best).toEqual(Array(7).fill(expect.closeTo(2, 1)));
    for (const { path } of renditions) {
      const times = await keyframeTimes(path);
      const starts = best.map((_, i) => best.slice(0, i).reduce((sum, seconds) => sum + seconds, 0));
      for (const start of starts) expect(Math.min(...times.map((time) => Math.abs(time - start)))).toBeLessThan(0.002);
    }
  });

  const EVERY_SECOND = ['-preset', 'ultrafast', '-sc_threshold', '0', '-g', '24', '-bf', '2'];
  const NEVER = ['-preset', 'ultrafast', '-sc_threshold', '0', '-g', '10000', '-keyint_min', '10000'];
  const gops = (isOpen: boolean) => [...EVERY_SECOND, '-x264-params', `b-adapt=0:open-gop=${Number(isOpen)}`];
  it.each<[string, ClipOptions, ClipOptions]>([
    ['its key frames too far apart', { seconds: 12, video: { options: NEVER } }, { seconds: 6 }],
    ['pictures that refer across key frames', { video: { options: gops(true) } }, { video: { options: gops(false) } }],
  ])('are encoded where a copy would have %s', async (_, options, difference) => {
    const copied = ({ renditions }: Delivery) => renditions.map((each) => each.video?.copy);
    expect(copied(await ladderOf(options))).toEqual([false]);
    const folder = await mkdtemp(join(clipFolder(), 'copy-'));
    const info = await probe(tools, await clip(options));
    expect(await deliverCopy(tools, info, { ...OPTIONS, settings: USUAL_LADDER, folder })).toBeUndefined();
    expect(copied(await ladderOf({ ...options, ...difference }))).toEqual([true]);
  });
});

const app = await workerApp();

/** Publishes a real rendition with the playlist that lists it. */
async function publishRendition({ database, storage }: Pick<typeof app, 'database' | 'storage'>) {
  const { renditions } = await ladderOf({ seconds: 8, video: { options: ['-g', '50'] } }, 'source');
  const path = renditions[0]?.path ?? '';
  const index = await indexFile(path);
  const event_id = await insertEvent(database);
  const publication_id = await insertPublication(database, event_id);
  const common = { event_id, publication_id, kind: 'media' } as const;
  const properties = { headBytes: index.headBytes, codecs: ['avc1.64001f'], ...bitRatesOf(index.segments) };
  const bytes = await readFile(path);
  const file = { ...common, filename: 'presenter.mp4', mediatype: 'video/mp4', properties };
  const rendition = await insertElement(database, storage, bytes, file);
  const text = multivariantPlaylist([{ uri: `../${rendition.id}/index.m3u8`, ...properties }]);
  const list = { ...common, filename: 'presenter.m3u8', mediatype: 'application/x-mpegURL' };
  const playlist = await insertElement(database, storage, Buffer.from(text), list);
  const base = `/publications/${publication_id}`;
  return { bytes, index, list: `${base}/${playlist.id}/presenter.m3u8`, own: `${base}/${rendition.id}/index.m3u8` };
}

/** The addresses that a playlist names, resolved. */
function addressesIn(text: string, path: string): string[] {
  const lines = text.split('\n').flatMap((line) => /URI="([^"]+)"/.exec(line)?.[1] ?? (/^#|^$/.test(line) ? [] : line));
  return lines.map((uri) => new URL(uri, `http://x${path}`)).map(({ pathname, search }) => pathname + search);
}

describe('a playlist', () => {
  it('names the ranges of one file: what comes before the first segment, then each with its key frame', async () => {
    const { bytes, index, list, own } = await publishRendition(app);
    const listed = await app.anonymous(list);
    expect([listed.status, listed.headers.get('Content-Type')]).toEqual([200, 'application/x-mpegURL']);
    expect(addressesIn(await listed.text(), list)).toEqual([own]);
    const response = await app.anonymous(own);
    const text = await response.text();
    expect(text).toContain(`#EXT-X-MAP:URI="presenter.mp4",BYTERANGE="${index.initBytes}@0"`);
    const ranges = [...text.matchAll(/#EXT-X-BYTERANGE:(\d+)@(\d+)/g)].map(([, length, at]) => [
      Number(length),
      Number(at),
    ]);
    expect(ranges).toEqual(index.segments.map((segment) => [segment.bytes, segment.offset]));
    expect(ranges.at(-1)?.reduce((sum, value) => sum + value, 0)).toBeLessThanOrEqual(bytes.length);
    for (const [, at = 0] of ranges) expect(bytes.toString('latin1', at + 4, at + 8)).toBe('moof');
    const again = await app.anonymous(own, { headers: { 'If-None-Match': response.headers.get('ETag') ?? '' } });
    expect(again.status).toBe(304);
  });

  it('is compressed for clients that accept gzip, with another entity tag', async () => {
    const { own } = await publishRendition(app);
    const read = (accept: string) => app.anonymous(own, { headers: { 'Accept-Encoding': accept } });
    const [plain, gzipped] = [await read('identity'), await read('gzip, br')];
    expect([plain, gzipped].map(({ headers }) => headers.get('Content-Encoding'))).toEqual([null, 'gzip']);
    expect(gzipped.headers.get('Vary')).toContain('Accept-Encoding');
    expect(gzipped.headers.get('ETag')).not.toBe(plain.headers.get('ETag'));
    const bytes = Buffer.from(await gzipped.arrayBuffer());
    expect(bytes).toHaveLength(Number(gzipped.headers.get('Content-Length')));
    expect(gunzipSync(bytes).toString()).toBe(await plain.text());
  });

  it('that was signed signs what it names, for the same time and client', async () => {
    const publicUrl = 'https://video.example';
    const signer = new UrlSigner({ keyId: 'inlet', secret: 'secret', ttlSeconds: 60 });
    const { database, storage } = app;
    const signing = endpointApp([publishedFile], {
      database,
      storage,
      addresses: { signer, publicUrl, access: 'signed' },
    });
    const { list } = await publishRendition(app);
    const terms = { validUntil: Date.now() + 50_000, source: '192.0.2.7' };
    const get = async (path: string, init: RequestInit = {}, remoteAddress = terms.source) =>
      signing.request(path, init, { remoteAddress });
    const read = async (path: string) => (await get(path)).text();
    const [own = ''] = addressesIn(await read(signer.sign(publicUrl + list, terms).slice(publicUrl.length)), list);
    const files = addressesIn(await read(own), own);
    expect(new Set(files).size).toBe(1);
    for (const path of [own, ...files]) {
      const policy = Buffer.from(new URL(path, 'http://x').searchParams.get('policy') ?? '', 'base64url');
      const { DateLessThan, IpAddress } = JSON.parse(policy.toString()).Statement.Condition;
      expect({ validUntil: DateLessThan, source: IpAddress }).toEqual(terms);
    }
    const [file = ''] = files;
    const headers = { Range: 'bytes=0-7' };
    expect((await get(file, { headers })).status).toBe(206);
    expect((await get(file, { headers }, '192.0.2.8')).status).toBe(403);
    expect((await get(own.split('?')[0] ?? '')).status).toBe(400);
  });
});
