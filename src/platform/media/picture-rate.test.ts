import { expect, it } from 'vitest';
import { PictureRate } from './picture-rate.ts';

const rateOf = (times: readonly number[]) => {
  const rate = new PictureRate();
  for (const time of times) rate.add(time);
  return rate.end() ?? 0;
};

const range = (count: number) => [...Array(count).keys()];
const regular = (count: number, rate: number, from = 0) => range(count).map((i) => from + i / rate);
const rounded = (times: readonly number[]) => times.map((time) => Math.round(time * 1000) / 1000);
/** Stored as codecs store B-frames: after a picture that is shown later. */
const reordered = (times: readonly number[]) => times.map((_, i) => times[i % 2 ? i - 1 : i + 1] ?? times[i] ?? 0);
/** Off by up to 8 ms. */
const shaken = (times: readonly number[]) => times.map((time, i) => time + 0.008 * Math.sin(i * i));

it.each<[string, number, number[]]>([
  ['regular pictures', 25, regular(100, 25)],
  ['pictures stored out of order', 25, reordered(regular(100, 25))],
  ['times in milliseconds', 60, rounded(regular(300, 60))],
  ['times that are off a little', 30, shaken(regular(300, 30))],
  ['two stretches with a long pause between them', 25, [...regular(100, 25), ...regular(100, 25, 34)]],
  ['a slow recording with a lively end', 60, [...regular(100, 1), ...regular(100, 60, 100)]],
  ['slides', 1 / 30, regular(40, 1 / 30)],
])('is the rate of %s', (_what, expected, times) => {
  expect(Math.abs(rateOf(times) / expected - 1)).toBeLessThan(0.02);
});

it('is high enough for a few pictures that come fast, and counts pictures of the same time once', () => {
  expect(rateOf([0, 1, 2, 2.01, 3, 4])).toBeGreaterThan(45);
  expect(rateOf([...regular(50, 1), ...regular(5, 60, 50)])).toBeGreaterThan(50);
  expect(rateOf(regular(50, 10).flatMap((time) => [time, time]))).toBeCloseTo(10);
});

it('is unknown for a single picture', () => {
  expect(new PictureRate().end()).toBeNull();
  const single = new PictureRate();
  single.add(1);
  expect(single.end()).toBeNull();
});
