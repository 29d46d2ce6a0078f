import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { denoProgram } from '#cli/runtime.ts';
import { type CutPart, type KeptPart, partsWithin } from '#platform/media/cutting.ts';
import { deliver } from '#platform/media/encode-delivery.ts';
import { ffmpegArguments } from '#platform/media/ffmpeg-command.ts';
import { indexFile } from '#platform/media/fragment-index.ts';
import { probe } from '#platform/media/probe.ts';
import { runTool } from '#platform/media/tools/run-tool.ts';
import { type ClipOptions, clip, clipFolder, testTools } from '../support/clips.ts';
import { markedClip, markedPictures, markedSound } from '../support/marked-clips.ts';
import {
  boxes,
  decodingErrors,
  decodingTimes,
  packetHashes,
  pictureTimes,
  processesWith,
  streamDurations,
  tenHoursApart,
  turnSideways,
} from '../support/media.ts';
import { run } from '../support/run.ts';

const LIMIT = { timeLimitMs: 60_000 };
const tools = await testTools();

/** Makes a clip or file playable, all of it or parts, and reads the result back. */
async function delivered(source: ClipOptions | string, crf = 30, parts?: readonly KeptPart[]) {
  const path = typeof source === 'string' ? source : await clip(source);
  const folder = await mkdtemp(join(clipFolder(), 'delivered-'));
  const fractions: number[] = [];
  const onProgress = (fraction: number) => void fractions.push(fraction);
  const info = await probe(tools, path);
  const settings = { quality: { preset: 'veryfast', crf }, heights: ['source' as const] };
  const { renditions, mediatype } = await deliver(tools, info, { ...LIMIT, settings, folder, onProgress, parts });
  const [plan] = renditions;
  if (!plan) throw new Error('A ladder has a rendition.');
  const target = plan.path;
  const result = await probe(tools, target);
  const { frames } = await indexFile(target);
  expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
  const video = result.video && { ...result.video, frameCount: frames };
  return { path, target, mediatype, plan, fractions, source: info, result: { ...result, video } };
}

const within = (value: number | undefined, expected: number, off: number) =>
  expect(Math.abs((value ?? Number.NaN) - expected)).toBeLessThanOrEqual(off);

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
  const prores = { codec: 'prores_ks', options: ['-pix_fmt', 'yuv422p10le'] };
  const interlaced = { rate: 50, filter: 'interlace', options: ['-flags', '+ilme+ildct'] };
  const hevc = { codec: 'libx265', options: ['-x265-params', 'log-level=none'] };
  it.each<[string, ClipOptions['container'], ClipOptions['video'], object]>([
    ['VP8 and Vorbis', 'webm', undefined, { width: 320, height: 240, frameRate: 25 }],
    ['odd sides', 'mkv', { codec: 'ffv1', filter: 'scale=321:241' }, { width: 322, height: 242 }],
    ['ten bits', 'mkv', { options: ['-pix_fmt', 'yuv420p10le'] }, { width: 320 }],
    ['HEVC', 'mp4', hevc, { frameCount: 50 }],
    ['ProRes', 'mov', prores, { height: 240 }],
    ['120 frames a second', 'mkv', { codec: 'mpeg4', rate: 120 }, { frameRate: expect.closeTo(60, 0) }],
    ['oblong pixels', 'mkv', { codec: 'mpeg4', filter: 'setsar=4/3' }, { width: 426, pixelAspect: 1 }],
    ['interlaced pictures', 'mpg', interlaced, { interlaced: false, frameRate: 25 }],
    ['MPEG-4 in AVI', 'avi', undefined, { frameCount: 50 }],
    ['a portrait', 'webm', { size: '90x160' }, { width: 90, height: 160 }],
  ])('is encoded: %s', async (_what, container, video, expected) => {
    const { target, plan, source, result } = await delivered({ container, ...(video && { video }) });
    expect(plan.video?.copy).toBe(false);
    const h264 = { codec: 'h264', profile: 'High', pixelFormat: 'yuv420p' };
    expect(result.video).toMatchObject({ ...h264, ...expected });
    expect(result.audio).toMatchObject({ codec: 'aac', channels: 2 });
    within(result.duration, source.duration, 120);
    expect(await decodingErrors(target)).toBe('');
  });

  it('is turned upright', async () => {
    const upright = await clip({ container: 'mov', video: { codec: 'mpeg4' } });
    const { result } = await delivered(await turnSideways(upright, join(clipFolder(), 'rotated.mov')));
    expect(result.video).toMatchObject({ width: 240, height: 320, rotation: 0 });
  });

  it('keeps the times of pictures that come irregularly, and repeats none', async () => {
    const video = { codec: 'mpeg4', filter: "select='lt(n,20)+not(mod(n,9))'" };
    const { path, target, source, result } = await delivered({ container: 'mkv', seconds: 3, video });
    within(result.duration, source.duration, 120);
    const [before, after] = [await pictureTimes(path), await pictureTimes(target)];
    expect(after).toHaveLength(26);
    after.forEach((time, i) => void within(time, before[i] ?? Number.NaN, 0.021));
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
    expect(plan.video).toBeUndefined();
    expect(result.recording.mediatype).toBe('audio/mp4');
    const audio = { codec: 'aac', channels: 2, samplingRate: 48_000 };
    expect(result).toMatchObject({ hasVideo: false, audio });
    within(result.duration, 2000, 50);
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

describe('the segments of a recording with a pause', () => {
  const paused = (from: number, to: number) => `select='lt(t,${from})+gte(t,${to})'`;
  const small = { size: '160x120', options: ['-vsync', 'vfr', '-g', '50'] };
  it.each<[string, ClipOptions]>([
    // Long enough for an average close to the rate.
    ['that is encoded', { seconds: 120, video: { ...small, codec: 'mpeg4', filter: paused(4, 6.2) } }],
    ['whose source has B-frames', { seconds: 20, video: { ...small, filter: paused(4, 10) } }],
    ['at its end', { seconds: 45, video: { ...small, filter: 'trim=end=10' }, audio: true }],
  ])('are decoded where they are shown: %s', async (_what, options) => {
    const { target } = await delivered(options);
    const { segments } = await indexFile(target);
    let start = 0;
    for (const [i, time] of (await decodingTimes(target, segments)).entries()) {
      within(time, start, 0.9);
      start += segments[i]?.seconds ?? 0;
    }
  });
});

describe('every delivery', () => {
  it.each(['webm', 'mp3'] as const)('can be started before all of it has arrived: %s', async (container) => {
    const { target, fractions } = await delivered({ container });
    const names = await boxes(target);
    expect(names.indexOf('moov')).toBeGreaterThan(0);
    expect(names.indexOf('moov')).toBeLessThan(names.indexOf('mdat'));
    if (container === 'webm') expect(fractions.length).toBeGreaterThan(10);
    expect(fractions.at(-1)).toBe(1);
  });

  it('carries nothing of what the source tells about people and places', async () => {
    const metadata = ['-metadata', 'location=+48.1+11.6/', '-metadata', 'artist=Somebody'];
    const { target } = await delivered({ options: metadata });
    const args = ['-v', 'error', '-show_format', '-print_format', 'json', target];
    expect((await runTool(tools.ffprobe, args, LIMIT)).output.toString()).not.toMatch(/Somebody|48\.1/);
  });

  it('is made of pictures alone, or of a single one', async () => {
    const silent = await delivered({ container: 'webm', audio: false });
    expect(silent.result).toMatchObject({ hasAudio: false, hasVideo: true });
    const video = { codec: 'mjpeg', options: ['-frames:v', '1', '-pix_fmt', 'yuvj420p'] };
    const single = await delivered({ container: 'mov', audio: false, video });
    expect(single.result.video?.frameCount).toBe(1);
  });
});

const TWO_PARTS: CutPart[] = [
  { begin: 1500, end: 3250 },
  { begin: 5000, end: 6500 },
];

async function cut(path: string, parts: readonly CutPart[] = TWO_PARTS) {
  const kept = partsWithin(parts, (await probe(tools, path)).duration);
  const made = await delivered(path, 18, kept);
  expect(await decodingErrors(made.target)).toBe('');
  const pictures = made.plan.video ? await markedPictures(made.target) : [];
  return { ...made, kept, pictures, numbers: pictures.map(({ number }) => number) };
}

/** Where in the source that is, in seconds, which is to be seen and heard at `time`. */
function sourceTime(parts: readonly { begin: number; end: number }[], time: number): number {
  let left = time * 1000;
  for (const { begin, end } of parts) {
    if (left < end - begin) return (begin + left) / 1000;
    left -= end - begin;
  }
  return Number.NaN;
}

/**
 * Expects the sound of the two parts, to the hundredths of a second that codecs blur. From the second fragment on, ffmpeg
 * reads the sound a packet of AAC early, whose times in the file are right.
 */
async function hearsTwoParts(path: string, off = 0.025): Promise<void> {
  const sound = await markedSound(path);
  expect(sound.map(({ second }) => second)).toEqual([1, 2, 3, 5, 6]);
  [0, 0.5, 1.5, 1.75, 2.75].forEach((from, i) => void within(sound[i]?.from, from, off));
  within(sound.at(-1)?.to, 3.25, 0.03);
}

async function lasts(path: string, seconds: number, off = 0.04): Promise<void> {
  const { video, audio } = await streamDurations(path);
  within(video, seconds, off);
  within(audio, seconds, off);
}

describe('a recording with a steady rate', () => {
  it('is cut to the frame, with its sound in step', async () => {
    const source = await markedClip({ name: 'steady.mp4', seconds: 8 });
    const { target, result, kept, numbers, pictures } = await cut(source);
    // 3.25 s of 25 a second, of which 1.75 s are of the first part.
    const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
    expect(numbers).toEqual([...range(37, 81), ...range(125, 162)]);
    for (const { number, time } of pictures) within(sourceTime(kept, time + 0.001), number / 25, 0.022);
    await hearsTwoParts(target);
    await lasts(target, 3.25);
    within(result.duration, 3250, 40);
  });

  it('has no stretch lost or twice, however many parts there are', async () => {
    const source = await markedClip({ name: 'parts.mp4', rate: 30, seconds: 10 });
    const parts = Array.from({ length: 60 }, (_, i) => ({ begin: i * 150 + 11, end: i * 150 + 88.5 }));
    const { target, kept, pictures } = await cut(source, parts);
    expect(pictures).toHaveLength(Math.round(60 * 0.0775 * 30));
    for (const { number, time } of pictures.slice(1)) within(sourceTime(kept, time), number / 30, 0.1);
    const sound = await markedSound(target);
    expect(sound.map(({ second }) => second)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    within(sound.at(-1)?.to, 60 * 0.0775, 0.025);
    sound.slice(1).forEach(({ second, from }) => void within(sourceTime(kept, from), second, 0.09));
  });

  it('may be cut into a thousand parts', async () => {
    const source = await markedClip({ name: 'thousand.mp4', seconds: 10 });
    const parts = Array.from({ length: 1000 }, (_, i) => ({ begin: i * 10, end: i * 10 + 5.123456 }));
    await lasts((await cut(source, parts)).target, 5.123, 0.05);
  });

  it.each([
    [24, 'mp4', ['-c:a', 'aac']],
    [30, 'mkv', ['-c:a', 'flac']],
  ])('stays in step with a recording of another rate: %d a second', async (rate, container, audio) => {
    const name = `rate-${rate}.${container}`;
    const { result, kept, pictures } = await cut(await markedClip({ name, rate, seconds: 8, audio }));
    expect(pictures).toHaveLength(Math.round(3.25 * rate));
    for (const { number, time } of pictures) within(sourceTime(kept, time + 0.001), number / rate, 0.6 / rate);
    within(result.duration, 3250, 40);
  });

  it('is cut without pictures, too', async () => {
    const wav = { name: 'sound.wav', seconds: 8, video: false, audio: ['-c:a', 'pcm_s16le'] } as const;
    const { target, result, mediatype } = await cut(await markedClip({ ...wav, audio: [...wav.audio] }));
    expect(mediatype).toBe('audio/mp4');
    await hearsTwoParts(target, 0.01);
    within(result.duration, 3250, 30);
  });
});

describe('a recording of a browser, with pictures as they come and no duration', () => {
  const webm = {
    ...{ seconds: 8, rate: 30, audio: ['-c:a', 'libvorbis'], options: ['-live', '1', '-f', 'webm'] },
    video: ['-c:v', 'libvpx', '-b:v', '2M', '-deadline', 'realtime'],
  };

  it('is cut where pictures come irregularly', async () => {
    const only = 'not(between(n,100,190))*(mod(n,3)+gt(n,200))';
    const { target, source, kept, numbers, pictures } = await cut(
      await markedClip({ ...webm, name: 'live.webm', only }),
    );
    expect(source.indexed).toBe(false);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    // Number 98 is on screen until number 191, in which the second part begins.
    expect(pictures.find(({ time }) => time > 1.74)?.number).toBe(98);
    // There is no number 45, with which the first part would begin.
    expect(pictures[0]).toEqual({ number: 44, time: 0 });
    for (const { number, time } of pictures.slice(1).filter((each) => each.number !== 98))
      within(sourceTime(kept, time + 0.001), number / 30, 0.02);
    await hearsTwoParts(target);
    await lasts(target, 3.25);
  });

  it('shows what was on screen, for as long as it was', async () => {
    const source = await markedClip({ ...webm, name: 'still.webm', only: 'not(mod(n,100))', audio: false });
    const { target, numbers } = await cut(source, [
      { begin: 2000, end: 4000 },
      { begin: 5000, end: 6500 },
    ]);
    expect(numbers).toEqual([0, 100, 100]);
    expect((await streamDurations(target)).video).toBeCloseTo(3.5, 1);
  });

  it('is cut by the times since it began, though its first is not 0', async () => {
    const options = ['-output_ts_offset', '5.3', ...webm.options];
    const source = await markedClip({ ...webm, name: 'late.webm', options });
    const { target, numbers } = await cut(source, [{ begin: 1500, end: 3250 }]);
    within(numbers[0], 45, 1);
    within(numbers.at(-1), 97, 1);
    const sound = await markedSound(target);
    [0, 0.5, 1.5].forEach((from, i) => void within(sound[i]?.from, from, 0.02));
  });
});

describe.runIf(process.platform === 'linux')('an encoder', () => {
  it('does not outlive a worker that was killed', async () => {
    const media = (name: string) => JSON.stringify(new URL(`../../src/platform/media/${name}`, import.meta.url).href);
    const code = `
      const { probe } = await import(${media('probe.ts')});
      const { deliver } = await import(${media('encode-delivery.ts')});
      const [path, folder] = process.argv.slice(1);
      const tools = JSON.parse(process.env.TOOLS);
      await deliver(tools, await probe(tools, path), {
        folder,
        settings: { quality: { preset: 'slow', crf: 18 }, heights: ['source'] },
        timeLimitMs: 60_000,
        onProgress: () => console.log('encoding'),
      });`;
    const video = { size: '1280x720', codec: 'mpeg4' };
    const path = await clip({ container: 'mkv', seconds: 60, video, audio: false });
    const target = await mkdtemp(join(clipFolder(), 'orphan-'));
    const worker = spawn(process.execPath, ['--input-type=module', '-e', code, path, target], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, TOOLS: JSON.stringify(tools) },
    });
    await once(worker.stdout, 'data');
    expect(processesWith(target).length).toBeGreaterThan(1);
    worker.kill('SIGKILL');
    // What it has read is encoded yet; all of the recording would take far longer.
    await expect.poll(() => processesWith(target), { timeout: 30_000, interval: 100 }).toEqual([]);
  });
});

describe('on Deno, which signals groups of processes in another way,', () => {
  const LEAVES = ['/bin/sh', '-c', 'setsid /bin/sleep 60 & /bin/sleep 0.5'] as const;
  const PROBE = fileURLToPath(new URL('../support/tool-probe.ts', import.meta.url));

  /** @returns how it came out, in the words of the probe */
  async function probed(...args: [kind: string, endMs: string, program: string, ...more: string[]]) {
    const flags = ['run', '--no-prompt', '--allow-env', '--allow-read', `--allow-run=${args[2]}`];
    const { stdout, stderr } = await run(denoProgram(), [...flags, PROBE, ...args]);
    return stdout + stderr;
  }

  it('the ffmpeg that a script runs is stopped', async () => {
    const program = join(clipFolder(), 'ffmpeg-script');
    await writeFile(program, `#!/bin/sh\n'${tools.ffmpeg}' "$@"\n`, { mode: 0o755 });
    const mark = `color=size=${randomInt(100, 1000)}x${randomInt(100, 1000)}`;
    const input = { path: mark, options: ['-re', '-f', 'lavfi'] };
    const args = ffmpegArguments(input, [{ target: '-', options: ['-f', 'null'] }]);
    expect(await probed('tool', '700', program, ...args)).toBe('ended\n');
    await expect.poll(() => processesWith(mark)).toEqual([]);
  });

  it.each([
    ['program', '60000', 'succeeded\n'],
    ['tool', '2000', 'ended\n'],
  ])('a %s is not waited for that continues in another session', async (kind, endMs, outcome) => {
    const begun = performance.now();
    expect(await probed(kind, endMs, ...LEAVES)).toBe(outcome);
    expect(performance.now() - begun).toBeLessThan(50_000);
  });
});
