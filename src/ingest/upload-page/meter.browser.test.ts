import { expect, test } from 'vitest';
import { createMeter } from './meter.browser.ts';

test('the rate is that of the last seconds, and unknown before there are any', () => {
  const meter = createMeter();
  expect(meter.rate(0)).toBeUndefined();
  for (let at = 0; at <= 20_000; at += 500) meter.note(at, at);
  expect(meter.rate(20_000)).toBeCloseTo(1000);
  for (let at = 20_500; at <= 40_000; at += 500) meter.note(20_000 + 3 * (at - 20_000), at);
  expect(meter.rate(40_000)).toBeCloseTo(3000);
});

test('what has to be sent again makes no rate below zero', () => {
  const meter = createMeter();
  meter.note(0, 0);
  meter.note(50_000, 2_000);
  meter.note(10_000, 3_000);
  expect(meter.rate(3_500)).toBeUndefined();
  meter.note(12_000, 5_000);
  expect(meter.rate(5_000)).toBe(1000);
});
