import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runTool } from '#platform/media/tools/run-tool.ts';
import { clip, clipFolder, testTools } from '#test/support/clips.ts';
import { tenHoursApart } from '#test/support/media.ts';
import { createOperationBench } from '#test/support/operation-context.ts';
import { infrastructureError } from '../operation-failure.ts';
import { encode } from './encode.ts';
import { inspect } from './inspect.ts';
import { preview } from './preview.ts';

/** Only root may mount, and not even root in most containers. */
const mountable = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'inlet-test', '/tmp']).status === 0;

const bench = await createOperationBench();
afterAll(() => bench.close());

const TILE = { width: 64, height: 48 };

/** How many of the pictures on a sheet differ from each other; the sheet has the size that its layout asks for. */
async function distinctTiles(key: string, layout: { columns: number; rows: number; imageCount: number }) {
  const { columns, rows, imageCount } = layout;
  const path = join(clipFolder(), 'sheet.jpg');
  await writeFile(path, await bench.bytesOf(key));
  const grey = ['-v', 'error', '-i', path, '-pix_fmt', 'gray', '-f', 'rawvideo', 'pipe:1'];
  const { output } = await runTool((await testTools()).ffmpeg, grey, { timeLimitMs: 60_000 });
  const stride = columns * TILE.width;
  expect(output.length).toBe(stride * rows * TILE.height);
  const tiles = Array.from({ length: imageCount }, (_, i) => {
    const corner = Math.floor(i / columns) * TILE.height * stride + (i % columns) * TILE.width;
    const lines = Array.from({ length: TILE.height }, (_, y) =>
      output.subarray(corner + y * stride, corner + y * stride + TILE.width),
    );
    return Buffer.concat(lines).toString('base64');
  });
  return new Set(tiles).size;
}

it('encode repeats no picture of half a megabyte that shows two in ten hours, nor do the others', async () => {
  const eventId = await bench.addEvent({ 'presenter/source': await tenHoursApart('mkv') });
  for (const operation of [inspect, encode, preview]) await bench.perform(operation, eventId);
  const elements = await bench.elementsOf(eventId);
  expect(elements.find(({ flavor }) => flavor === 'presenter/timeline+preview')).toMatchObject({
    properties: { imageCount: 100 },
  });
  const duration = 36_000_040;
  expect(elements.find(({ kind }) => kind === 'media')).toMatchObject({
    ...{ duration, frame_count: 2, width: 3840 },
  });
  const track = bench.database.selectFrom('tracks').select(['duration', 'streams']);
  // The header says 25 frames a second.
  expect(await track.where('event_id', '=', eventId).execute()).toMatchObject([
    { duration, streams: [{ frameCount: 2 }] },
  ]);
});

describe('preview', () => {
  it.skipIf(!mountable)('on a full disk blames the disk, whatever tool had no room', async () => {
    const disk = await mkdtemp(join(tmpdir(), 'inlet-disk-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'inlet-test', disk]);
    try {
      await writeFile(join(disk, 'filler'), Buffer.alloc(2 ** 20));
      const video = { size: '1280x720', filter: 'noise=alls=100' };
      for (const track of [clip({ seconds: 1, video }), clip({ container: 'mp3', seconds: 1 })]) {
        const eventId = await bench.addEvent({ 'presenter/source': await track });
        const folder = join(disk, 'work');
        const error = await bench.perform(preview, eventId, { folder }).catch((thrown) => thrown);
        expect(infrastructureError(error), error).toBeDefined();
      }
    } finally {
      execFileSync('umount', ['--lazy', disk]);
      await rm(disk, { recursive: true });
    }
  });

  const SINGLE = { codec: 'mjpeg', options: ['-frames:v', '1', '-pix_fmt', 'yuvj420p'] };
  it.each([
    ['half a second', { seconds: 0.5 }],
    ['a single frame', { container: 'mov', audio: false, video: SINGLE }],
    ['a recording made live', { container: 'webm', seconds: 2, options: ['-live', '1'] }],
    ['a portrait', { seconds: 1, video: { size: '240x426' } }],
  ] as const)('makes do with %s', async (_what, options) => {
    const source = await clip(structuredClone(options) as object);
    const eventId = await bench.addEvent({ 'presenter/source': source });
    await bench.perform(preview, eventId);
    const pictures = await bench.elementsOf(eventId);
    expect(pictures.map(({ flavor }) => flavor)).toEqual([
      ...['presenter/player+preview', 'presenter/search+preview', 'presenter/timeline+preview'],
    ]);
    for (const { size } of pictures) expect(size).toBeGreaterThan(300);
  });

  it.each([
    ['decodes only keyframes', 45, { imageCount: 45, columns: 10, rows: 5, intervalMs: 1000 }],
    ['seeks', 660, { imageCount: 100, columns: 10, rows: 10, intervalMs: 6600 }],
  ])('%s in longer recordings', async (_what, seconds, layout) => {
    const video = { size: `${TILE.width}x${TILE.height}`, rate: 2, options: ['-g', '2'] };
    const source = await clip({ seconds, video, audio: false });
    const eventId = await bench.addEvent({ 'presenter/source': source });
    await bench.perform(preview, eventId);
    const timeline = (await bench.elementsOf(eventId)).find(({ flavor }) => flavor.includes('timeline'));
    expect(timeline?.properties).toMatchObject(layout);
    expect(await distinctTiles(timeline?.object_key ?? '', layout)).toBeGreaterThan(layout.imageCount / 2);
  });
});
