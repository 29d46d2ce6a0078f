import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { deliver } from '../../src/media/delivery.ts';
import { probe } from '../../src/media/probe.ts';
import { runTool } from '../../src/media/process.ts';
import type { MediaTools } from '../../src/media/tools.ts';
import { type ClipOptions, clip, clipFolder, testTools } from '../support/clips.ts';
import {
  boxes,
  decodingErrors,
  packetHashes,
  pictureTimes,
  tenHoursApart,
  turnSideways,
} from '../support/media.ts';

const QUALITY = { preset: 'veryfast', crf: 30 };
const LIMIT = { timeLimitMs: 60_000 };
let tools: MediaTools;

beforeAll(async () => {
  tools = await testTools();
});

async function newTarget(): Promise<string> {
  return join(await mkdtemp(join(clipFolder(), 'delivery-')), 'result');
}

/** Makes a clip or file playable and reads the result back. */
async function delivered(source: ClipOptions | string) {
  const path = typeof source === 'string' ? source : await clip(source);
  const target = await newTarget();
  const fractions: number[] = [];
  const onProgress = (fraction: number) => fractions.push(fraction);
  const info = await probe(tools, path);
  const plan = await deliver(tools, info, target, { ...LIMIT, quality: QUALITY, onProgress });
  return { path, target, plan, fractions, source: info, result: await probe(tools, target) };
}

describe('what browsers play already', () => {
  it.each<[string, ClipOptions]>([
    ['Matroska', { container: 'mkv' }],
    ['QuickTime', { container: 'mov' }],
    ['MP4', { container: 'mp4' }],
  ])('is taken over from %s bit by bit', async (_what, options) => {
    const { path, target, plan } = await delivered(options);
    expect([plan.video?.copy, plan.audio?.copy]).toEqual([true, true]);
    for (const stream of ['v:0', 'a:0']) {
      const hashes = await packetHashes(target, stream);
      expect(hashes.length).toBeGreaterThan(40);
      expect(hashes).toEqual(await packetHashes(path, stream));
    }
  });

  it.each<[string, ClipOptions, number]>([
    ['a transport stream', { container: 'ts' }, 50],
    ['Flash video', { container: 'flv' }, 50],
    ['a raw AAC file', { container: 'aac' }, 0],
  ])('is taken over from %s', async (_what, options, frames) => {
    const { target, plan, result } = await delivered(options);
    expect(plan.video?.copy ?? true).toBe(true);
    expect(plan.audio?.copy).toBe(true);
    expect(result.video?.frameCount ?? 0).toBe(frames);
    expect(await decodingErrors(target)).toBe('');
  });

  it('stays sideways where the source says so', async () => {
    const rotated = await turnSideways(await clip(), join(clipFolder(), 'rotated.mp4'));
    const { source, result } = await delivered(rotated);
    expect(source.video).toMatchObject({ width: 240, height: 320 });
    expect(result.video).toMatchObject({ width: 240, height: 320, rotation: source.video?.rotation });
  });
});

describe('what browsers may not play', () => {
  it.each<[string, ClipOptions, object]>([
    ['VP8 and Vorbis', { container: 'webm' }, { width: 320, height: 240, frameRate: 25 }],
    [
      'odd sides',
      { container: 'mkv', video: { codec: 'ffv1', filter: 'scale=321:241' } },
      { width: 322, height: 242 },
    ],
    ['ten bits', { container: 'mkv', video: { options: ['-pix_fmt', 'yuv420p10le'] } }, { width: 320 }],
    [
      'HEVC',
      { video: { codec: 'libx265', options: ['-x265-params', 'log-level=none'] } },
      { frameCount: 50 },
    ],
    [
      'ProRes',
      { container: 'mov', video: { codec: 'prores_ks', options: ['-pix_fmt', 'yuv422p10le'] } },
      { height: 240 },
    ],
    [
      '120 frames a second',
      { container: 'mkv', video: { codec: 'mpeg4', rate: 120 } },
      { frameRate: expect.closeTo(60, 0) },
    ],
    [
      'oblong pixels',
      { container: 'mkv', video: { codec: 'mpeg4', filter: 'setsar=4/3' } },
      { width: 426, pixelAspect: 1 },
    ],
    [
      'interlaced pictures',
      { container: 'mpg', video: { rate: 50, filter: 'interlace', options: ['-flags', '+ilme+ildct'] } },
      { interlaced: false, frameRate: 25 },
    ],
    ['MPEG-4 in AVI', { container: 'avi' }, { frameCount: 50 }],
    ['a portrait', { container: 'webm', video: { size: '90x160' } }, { width: 90, height: 160 }],
  ])('is encoded: %s', async (_what, options, expected) => {
    const { target, plan, source, result } = await delivered(options);
    expect(plan.video?.copy).toBe(false);
    expect(result.video).toMatchObject({
      codec: 'h264',
      profile: 'High',
      pixelFormat: 'yuv420p',
      ...expected,
    });
    expect(result.audio).toMatchObject({ codec: 'aac', channels: 2 });
    expect(Math.abs(result.duration - source.duration)).toBeLessThan(120);
    expect(await decodingErrors(target)).toBe('');
  });

  it('turns sideways pictures upright', async () => {
    const upright = await clip({ container: 'mov', video: { codec: 'mpeg4' } });
    const rotated = await turnSideways(upright, join(clipFolder(), 'rotated.mov'));
    const { result } = await delivered(rotated);
    expect(result.video).toMatchObject({ width: 240, height: 320, rotation: 0 });
  });

  it('keeps the times of pictures that come irregularly, and repeats none', async () => {
    const options = {
      container: 'mkv',
      seconds: 3,
      video: { codec: 'mpeg4', filter: "select='lt(n,20)+not(mod(n,9))'" },
    } as const;
    const { path, target, source, result } = await delivered(options);
    expect(Math.abs(result.duration - source.duration)).toBeLessThan(120);
    const [before, after] = [await pictureTimes(path), await pictureTimes(target)];
    expect(after).toHaveLength(26);
    after.forEach((time, i) => {
      expect(Math.abs(time - (before[i] ?? Number.NaN))).toBeLessThan(0.021);
    });
  });

  it('is done in no time when two pictures are ten hours apart', async () => {
    const { result, fractions } = await delivered(await tenHoursApart('mp4'));
    expect(await pictureTimes(result.recording.path)).toEqual([0, 36_000]);
    expect(result).toMatchObject({ video: { width: 3840, height: 2160, frameCount: 2 } });
    expect(fractions.slice(0, -1).every((fraction) => fraction < 1)).toBe(true);
  });

  it.each<[string, ClipOptions]>([
    ['six channels', { container: 'wav', audio: { channels: 6 } }],
    ['three channels', { container: 'wav', audio: { channels: 3 } }],
    ['sixteen channels', { container: 'wav', audio: { channels: 16 } }],
    ['96 kHz', { container: 'flac', audio: { rate: 96_000 } }],
  ])('is mixed and sampled down: %s', async (_what, options) => {
    const { plan, result } = await delivered(options);
    expect(plan).toMatchObject({ mediatype: 'audio/mp4', extension: 'm4a', video: undefined });
    expect(result.recording.mediatype).toBe('audio/mp4');
    expect(result).toMatchObject({
      hasVideo: false,
      audio: { codec: 'aac', channels: 2, samplingRate: 48_000 },
    });
    expect(Math.abs(result.duration - 2000)).toBeLessThan(50);
  });

  it('is mixed down from more channels than any layout has', async () => {
    const path = join(clipFolder(), 'twelve.wav');
    const silence = ['-f', 's16le', '-ac', '12', '-ar', '48000', '-t', '1', '-i', '/dev/zero', '-y', path];
    await runTool(tools.ffmpeg, ['-v', 'error', ...silence], LIMIT);
    expect((await delivered(path)).result.audio).toMatchObject({ codec: 'aac', channels: 2 });
  });

  it('is only encoded as far as needed', async () => {
    const { path, target, plan } = await delivered({ container: 'mkv', audio: { codec: 'flac' } });
    expect([plan.video?.copy, plan.audio?.copy]).toEqual([true, false]);
    expect(await packetHashes(target, 'v:0')).toEqual(await packetHashes(path, 'v:0'));
  });
});

describe('every delivery', () => {
  it('can be started before all of it has arrived', async () => {
    for (const options of [{}, { container: 'webm' }, { container: 'mp3' }] satisfies ClipOptions[]) {
      const names = await boxes((await delivered(options)).target);
      expect(names.indexOf('moov')).toBeGreaterThan(0);
      expect(names.indexOf('moov')).toBeLessThan(names.indexOf('mdat'));
    }
  });

  it('reports its progress up to the end', async () => {
    const { fractions } = await delivered({ container: 'webm' });
    expect(fractions.length).toBeGreaterThan(10);
    expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
    expect(fractions.at(-1)).toBe(1);
  });

  it('carries nothing of what the source tells about people and places', async () => {
    const path = await clip({
      options: ['-metadata', 'location=+48.1+11.6/', '-metadata', 'artist=Somebody'],
    });
    const { target } = await delivered(path);
    const args = ['-v', 'error', '-show_format', '-print_format', 'json', target];
    const { output } = await runTool(tools.ffprobe, args, LIMIT);
    expect(output.toString()).not.toMatch(/Somebody|48\.1/);
  });

  it('is made of pictures alone, or of a single one', async () => {
    const silent = await delivered({ container: 'webm', audio: false });
    expect(silent.result).toMatchObject({ hasAudio: false, hasVideo: true });
    const single: ClipOptions = {
      container: 'mov',
      audio: false,
      video: { codec: 'mjpeg', options: ['-frames:v', '1', '-pix_fmt', 'yuvj420p'] },
    };
    expect((await delivered(single)).result.video?.frameCount).toBe(1);
  });

  it('is encoded after all when it cannot be taken over', async () => {
    const info = await probe(tools, await clip({ container: 'webm' }));
    // As if VP8 had been taken for something an MP4 may hold.
    const mistaken = info.video && { ...info.video, codec: 'h264', profile: 'High' };
    const target = await newTarget();
    const options = { ...LIMIT, quality: QUALITY, onProgress: () => undefined };
    const plan = await deliver(tools, { ...info, video: mistaken }, target, options);
    expect(plan.video?.copy).toBe(false);
    expect((await probe(tools, target)).video?.codec).toBe('h264');
  });
});
