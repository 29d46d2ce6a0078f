import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runTool } from '../../src/media/process.ts';
import { clip, clipFolder, testTools } from '../../test/support/clips.ts';
import { createOperationBench, type OperationBench } from '../../test/support/operation-context.ts';
import { ownFault } from '../own-fault.ts';
import { encode } from './encode.ts';
import { preview } from './preview.ts';

/** Only root may mount, and not even root in most containers. */
const mountable =
  spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'inlet-test', '/tmp']).status === 0;

let bench: OperationBench;
beforeAll(async () => {
  bench = await createOperationBench();
});
afterAll(() => bench.close());

/** Width and height of a stored picture, by ffprobe. */
async function sizeOf(key: string): Promise<string> {
  const path = join(clipFolder(), 'picture');
  await writeFile(path, await bench.bytesOf(key));
  const args = ['-v', 'error', '-show_entries', 'stream=codec_name,width,height', '-of', 'csv=p=0', path];
  const { output } = await runTool((await testTools()).ffprobe, args, { timeLimitMs: 60_000 });
  return output.toString().trim();
}

const TILE = { width: 64, height: 48 };

/** How many of the pictures on a sheet with so many columns differ from each other. */
async function distinctTiles(key: string, columns: number, count: number): Promise<number> {
  const path = join(clipFolder(), 'sheet.jpg');
  await writeFile(path, await bench.bytesOf(key));
  const grey = ['-v', 'error', '-i', path, '-pix_fmt', 'gray', '-f', 'rawvideo', 'pipe:1'];
  const { output } = await runTool((await testTools()).ffmpeg, grey, { timeLimitMs: 60_000 });
  const stride = columns * TILE.width;
  const tiles = Array.from({ length: count }, (_, i) => {
    const corner = Math.floor(i / columns) * TILE.height * stride + (i % columns) * TILE.width;
    const lines = Array.from({ length: TILE.height }, (_, y) =>
      output.subarray(corner + y * stride, corner + y * stride + TILE.width),
    );
    return Buffer.concat(lines).toString('base64');
  });
  return new Set(tiles).size;
}

describe('preview', () => {
  it('makes poster, thumbnail and timeline of pictures, and a waveform of sound alone', async () => {
    const eventId = await bench.addEvent({
      'presenter/source': await clip({
        seconds: 3,
        video: { size: '1920x1080', rate: 10, filter: 'fade=in:st=0:d=2' },
      }),
      'presenter-audio/source': await clip({ container: 'mp3', seconds: 1 }),
    });
    expect((await bench.perform(preview, eventId)).at(-1)).toBe(1);
    const elements = await bench.elementsOf(eventId);
    expect(elements).toMatchObject([
      {
        kind: 'attachment',
        position: 0,
        flavor: 'presenter/player+preview',
        filename: 'presenter-poster.jpg',
        mediatype: 'image/jpeg',
      },
      { position: 1, flavor: 'presenter/search+preview', filename: 'presenter-thumbnail.jpg' },
      {
        position: 2,
        flavor: 'presenter/timeline+preview',
        filename: 'presenter-timeline.jpg',
        properties: { imageCount: 3, columns: 3, rows: 1, tileWidth: 160, tileHeight: 90, intervalMs: 1000 },
      },
      {
        position: 3,
        flavor: 'presenter-audio/waveform',
        filename: 'presenter-audio-waveform.png',
        mediatype: 'image/png',
      },
    ]);
    const sizes = await elements.reduce<Promise<string[]>>(
      async (before, { object_key }) => [...(await before), await sizeOf(object_key)],
      Promise.resolve([]),
    );
    expect(sizes).toEqual(['mjpeg,1280,720', 'mjpeg,320,180', 'mjpeg,480,90', 'png,1920,240']);
  });

  it.skipIf(!mountable)('on a full disk blames the disk, whatever tool had no room', async () => {
    const disk = await mkdtemp(join(tmpdir(), 'inlet-disk-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'inlet-test', disk]);
    try {
      await writeFile(join(disk, 'filler'), Buffer.alloc(2 ** 20));
      const video = {
        'presenter/source': await clip({ seconds: 1, video: { size: '1280x720', filter: 'noise=alls=100' } }),
      };
      const audio = { 'presenter/source': await clip({ container: 'mp3', seconds: 1 }) };
      for (const tracks of [video, audio]) {
        const folder = join(disk, 'work');
        const error = await bench.perform(preview, await bench.addEvent(tracks), { folder }).catch((e) => e);
        expect(ownFault(error), error).toBeDefined();
      }
    } finally {
      execFileSync('umount', ['--lazy', disk]);
      await rm(disk, { recursive: true });
    }
  });

  it('does not show a black frame where it finds another', async () => {
    const eventId = await bench.addEvent({
      'presenter/source': await clip({ seconds: 4, video: { filter: 'fade=in:st=1.5:d=0.1' } }),
    });
    await bench.perform(preview, eventId);
    const thumbnail = (await bench.elementsOf(eventId)).find(
      ({ flavor }) => flavor === 'presenter/search+preview',
    );
    const path = join(clipFolder(), 'thumbnail.jpg');
    await writeFile(path, await bench.bytesOf(thumbnail?.object_key ?? ''));
    const grey = ['-i', path, '-vf', 'scale=1:1,format=gray', '-f', 'rawvideo', 'pipe:1'];
    const { output } = await runTool((await testTools()).ffmpeg, ['-v', 'error', ...grey], {
      timeLimitMs: 60_000,
    });
    expect(output[0]).toBeGreaterThan(60);
  });

  it.each([
    ['half a second', { seconds: 0.5 }],
    [
      'a single frame',
      {
        container: 'mov',
        audio: false,
        video: { codec: 'mjpeg', options: ['-frames:v', '1', '-pix_fmt', 'yuvj420p'] },
      },
    ],
    ['a recording made live', { container: 'webm', seconds: 2, options: ['-live', '1'] }],
    ['a portrait', { seconds: 1, video: { size: '240x426' } }],
  ] as const)('makes do with %s', async (_what, options) => {
    const eventId = await bench.addEvent({
      'presenter/source': await clip(structuredClone(options) as object),
    });
    await bench.perform(preview, eventId);
    const pictures = await bench.elementsOf(eventId);
    expect(pictures.map(({ flavor }) => flavor)).toEqual([
      'presenter/player+preview',
      'presenter/search+preview',
      'presenter/timeline+preview',
    ]);
    for (const { size } of pictures) expect(size).toBeGreaterThan(300);
  });

  it.each([
    [
      'decodes only keyframes',
      45,
      { imageCount: 45, columns: 10, rows: 5, intervalMs: 1000 },
      'mjpeg,640,240',
    ],
    ['seeks', 660, { imageCount: 100, columns: 10, rows: 10, intervalMs: 6600 }, 'mjpeg,640,480'],
  ])('%s in longer recordings', async (_what, seconds, layout, size) => {
    const video = { size: `${TILE.width}x${TILE.height}`, rate: 2, options: ['-g', '2'] };
    const eventId = await bench.addEvent({
      'presenter/source': await clip({ seconds, video, audio: false }),
    });
    await bench.perform(preview, eventId);
    const timeline = (await bench.elementsOf(eventId)).find(
      ({ flavor }) => flavor === 'presenter/timeline+preview',
    );
    expect(timeline?.properties).toMatchObject(layout);
    expect(await sizeOf(timeline?.object_key ?? '')).toBe(size);
    const { columns, imageCount } = layout;
    const distinct = await distinctTiles(timeline?.object_key ?? '', columns, imageCount);
    expect(distinct).toBeGreaterThan(imageCount / 2);
  });

  it('looks at the prepared media rather than at what the client sent', async () => {
    const eventId = await bench.addEvent({
      'presenter/source': await clip({ container: 'webm', seconds: 1 }),
    });
    await bench.perform(encode, eventId);
    const tracks = bench.database.selectFrom('tracks').select('object_key').where('event_id', '=', eventId);
    await bench.storage.remove((await tracks.execute()).map(({ object_key }) => object_key));
    await bench.perform(preview, eventId);
    expect((await bench.elementsOf(eventId)).map(({ kind }) => kind)).toEqual([
      'attachment',
      'attachment',
      'attachment',
      'media',
    ]);
  });

  it('has nothing to do for an event without tracks', async () => {
    const eventId = await bench.addEvent({});
    await bench.perform(preview, eventId);
    expect(await bench.elementsOf(eventId)).toEqual([]);
  });
});
