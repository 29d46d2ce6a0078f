import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { CutPart } from '../../src/media/cutting.ts';
import { deliver } from '../../src/media/delivery.ts';
import { partsWithin } from '../../src/media/kept.ts';
import { probe } from '../../src/media/probe.ts';
import type { MediaTools } from '../../src/media/tools.ts';
import { clipFolder, testTools } from '../support/clips.ts';
import { markedClip, markedPictures, markedSound } from '../support/marked-clips.ts';
import { decodingErrors, streamDurations } from '../support/media.ts';

const QUALITY = { preset: 'veryfast', crf: 18 };
const TWO_PARTS: CutPart[] = [
  { begin: 1500, end: 3250 },
  { begin: 5000, end: 6500 },
];
let tools: MediaTools;

beforeAll(async () => {
  tools = await testTools();
});

async function cut(path: string, parts: readonly CutPart[]) {
  const target = join(await mkdtemp(join(clipFolder(), 'cut-')), 'result');
  const info = await probe(tools, path);
  const fractions: number[] = [];
  const kept = partsWithin(parts, info.duration);
  const onProgress = (fraction: number) => fractions.push(fraction);
  const plan = await deliver(tools, info, target, {
    quality: QUALITY,
    parts: kept,
    onProgress,
    timeLimitMs: 60_000,
  });
  expect(await decodingErrors(target)).toBe('');
  expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
  return { target, plan, kept, fractions, source: info, result: await probe(tools, target) };
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

const within = (value: number | undefined, expected: number, off: number) =>
  expect(Math.abs((value ?? Number.NaN) - expected)).toBeLessThanOrEqual(off);

describe('a recording with a steady rate', () => {
  it('is cut to the frame, with its sound in step', async () => {
    const source = await markedClip({ name: 'steady.mp4', seconds: 8 });
    const { target, plan, result, kept } = await cut(source, TWO_PARTS);
    expect([plan.video?.copy, plan.audio?.copy]).toEqual([false, false]);
    const pictures = await markedPictures(target);
    const numbers = pictures.map(({ number }) => number);
    // 3.25 s of 25 a second, of which 1.75 s are of the first part.
    const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
    expect(numbers).toEqual([...range(37, 81), ...range(125, 162)]);
    for (const { number, time } of pictures) within(sourceTime(kept, time + 0.001), number / 25, 0.022);
    const sound = await markedSound(target);
    expect(sound.map(({ second }) => second)).toEqual([1, 2, 3, 5, 6]);
    [0, 0.5, 1.5, 1.75, 2.75].forEach((from, i) => void within(sound[i]?.from, from, 0.02));
    within(sound.at(-1)?.to, 3.25, 0.025);
    const { video, audio } = await streamDurations(target);
    within(video, 3.25, 0.04);
    within(audio, 3.25, 0.04);
    within(result.duration, 3250, 40);
  });

  it('has no stretch lost or twice, however many parts there are', async () => {
    const source = await markedClip({ name: 'parts.mp4', rate: 30, seconds: 10 });
    const parts = Array.from({ length: 60 }, (_, i) => ({ begin: i * 150 + 11, end: i * 150 + 88.5 }));
    const { target, kept } = await cut(source, parts);
    const pictures = await markedPictures(target);
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
    const { target } = await cut(source, parts);
    const { video, audio } = await streamDurations(target);
    within(video, 5.123, 0.05);
    within(audio, 5.123, 0.05);
  });
});

describe('a recording of a browser, with pictures as they come and no duration', () => {
  const webm = {
    seconds: 8,
    rate: 30,
    video: ['-c:v', 'libvpx', '-b:v', '2M', '-deadline', 'realtime'],
    audio: ['-c:a', 'libvorbis'],
    options: ['-live', '1', '-f', 'webm'],
  };

  it('is cut where pictures come irregularly', async () => {
    const only = 'not(between(n,100,190))*(mod(n,3)+gt(n,200))';
    const source = await markedClip({ ...webm, name: 'live.webm', only });
    expect((await probe(tools, source)).indexed).toBe(false);
    const { target, kept } = await cut(source, TWO_PARTS);
    const pictures = await markedPictures(target);
    const numbers = pictures.map(({ number }) => number);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    // Number 98 is on screen until number 191, in which the second part begins.
    const second = pictures.filter(({ time }) => time > 1.74);
    expect(second[0]?.number).toBe(98);
    // There is no number 45, with which the first part would begin.
    expect(pictures[0]).toEqual({ number: 44, time: 0 });
    for (const { number, time } of pictures.slice(1).filter((each) => each.number !== 98)) {
      within(sourceTime(kept, time + 0.001), number / 30, 0.02);
    }
    const sound = await markedSound(target);
    expect(sound.map((stretch) => stretch.second)).toEqual([1, 2, 3, 5, 6]);
    [0, 0.5, 1.5, 1.75, 2.75].forEach((from, i) => void within(sound[i]?.from, from, 0.02));
    const { video, audio } = await streamDurations(target);
    within(video, 3.25, 0.04);
    within(audio, 3.25, 0.04);
  });

  it('shows what was on screen, for as long as it was', async () => {
    const source = await markedClip({ ...webm, name: 'still.webm', only: 'not(mod(n,100))', audio: false });
    const { target } = await cut(source, [
      { begin: 2000, end: 4000 },
      { begin: 5000, end: 6500 },
    ]);
    const pictures = await markedPictures(target);
    expect(pictures.map(({ number }) => number)).toEqual([0, 100, 100]);
    expect((await streamDurations(target)).video).toBeCloseTo(3.5, 1);
  });

  it('is cut by the times since it began, though its first is not 0', async () => {
    const late = ['-output_ts_offset', '5.3'];
    const source = await markedClip({ ...webm, name: 'late.webm', options: [...late, ...webm.options] });
    const { target } = await cut(source, [{ begin: 1500, end: 3250 }]);
    const pictures = await markedPictures(target);
    within(pictures[0]?.number, 45, 1);
    within(pictures.at(-1)?.number, 97, 1);
    const sound = await markedSound(target);
    [0, 0.5, 1.5].forEach((from, i) => void within(sound[i]?.from, from, 0.02));
  });
});

it('is cut without pictures, too', async () => {
  const source = await markedClip({
    name: 'sound.wav',
    seconds: 8,
    video: false,
    audio: ['-c:a', 'pcm_s16le'],
  });
  const { target, result, plan } = await cut(source, TWO_PARTS);
  expect(plan.mediatype).toBe('audio/mp4');
  const sound = await markedSound(target);
  expect(sound.map(({ second }) => second)).toEqual([1, 2, 3, 5, 6]);
  [0, 0.5, 1.5, 1.75, 2.75].forEach((from, i) => void within(sound[i]?.from, from, 0.01));
  within(result.duration, 3250, 30);
});

it('lasts to the end of the recording where the last part has none', async () => {
  const source = await markedClip({ name: 'open.mp4', seconds: 4 });
  const { target, result } = await cut(source, [{ begin: 1500 }]);
  const pictures = await markedPictures(target);
  expect([pictures[0]?.number, pictures.at(-1)?.number]).toEqual([37, 99]);
  within(result.duration, 2500, 60);
});

it('stays in step with a recording of another rate', async () => {
  const one = await cut(await markedClip({ name: 'rate-24.mp4', rate: 24, seconds: 8 }), TWO_PARTS);
  const other = await cut(
    await markedClip({ name: 'rate-30.mkv', rate: 30, seconds: 8, audio: ['-c:a', 'flac'] }),
    TWO_PARTS,
  );
  for (const [{ target, kept }, rate] of [
    [one, 24],
    [other, 30],
  ] as const) {
    const pictures = await markedPictures(target);
    expect(pictures).toHaveLength(Math.round(3.25 * rate));
    for (const { number, time } of pictures) {
      within(sourceTime(kept, time + 0.001), number / rate, 0.6 / rate);
    }
  }
  within(one.result.duration, other.result.duration, 45);
});
