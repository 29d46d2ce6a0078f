import { describe, expect, it } from 'vitest';
import { placesToLook } from './stills.ts';
import { timelineLayout } from './timeline.ts';

const TILE = { width: 160, height: 90 };

describe('timelineLayout', () => {
  it.each([
    ['an instant', 40, { imageCount: 1, columns: 1, rows: 1, intervalMs: 1000 }],
    ['half a second', 500, { imageCount: 1, columns: 1, rows: 1, intervalMs: 1000 }],
    ['twelve seconds', 12_000, { imageCount: 12, columns: 10, rows: 2, intervalMs: 1000 }],
    ['a lecture', 5_400_000, { imageCount: 100, columns: 10, rows: 10, intervalMs: 54_000 }],
    ['a bit more than fits evenly', 100_001, { imageCount: 100, columns: 10, rows: 10, intervalMs: 1001 }],
    ['ten hours', 36_000_000, { imageCount: 100, columns: 10, rows: 10, intervalMs: 360_000 }],
  ])('has a picture for every moment of %s', (_what, duration, expected) => {
    const layout = timelineLayout(duration, TILE);
    expect(layout).toMatchObject(expected);
    expect(Math.floor((duration - 1) / layout.intervalMs)).toBeLessThan(layout.imageCount);
  });
});

describe('placesToLook', () => {
  it('stays within the recording, near its start, and ends with the very start', () => {
    expect(placesToLook(500)).toEqual([0]);
    const places = placesToLook(36_000_000);
    expect(places.at(-1)).toBe(0);
    expect(Math.max(...places)).toBeLessThan(1800);
    expect(Math.max(...placesToLook(10_000))).toBeLessThan(10);
  });
});
