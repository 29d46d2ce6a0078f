import { expect, it } from 'vitest';
import { piecewise } from './cut-expression.ts';
import { PictureCut } from './cut-pictures.ts';
import { cutSound } from './cut-sound.ts';
import { partsWithin, readFor } from './kept.ts';

it('compares as often as a thousand stretches can be halved', () => {
  const stretches = Array.from({ length: 1000 }, (_, i) => ({ until: i + 1, value: `${i}` }));
  const depth = (text: string) => {
    let [open, deepest] = [0, 0];
    for (const sign of text) {
      open += Number(sign === '(') - Number(sign === ')');
      deepest = Math.max(deepest, open);
    }
    return deepest;
  };
  expect(depth(piecewise('t', stretches))).toBeLessThanOrEqual(11);
  expect(piecewise('t', stretches.slice(0, 2))).toBe('if(lt(t,1),0,1)');
});

it('fits a thousand parts of a long recording into what a process takes as one argument', () => {
  const parts = Array.from({ length: 1000 }, (_, i) => ({
    begin: i * 80_000 + 1234.567,
    end: i * 80_000 + 70_001.2,
  }));
  const pictures = new PictureCut(parts, 59.94);
  for (let second = 0; second < 80_000; second++) pictures.add(second + 0.123);
  const filters = [pictures.filters().join(','), cutSound(parts, 48_000).join(',')];
  for (const filter of filters) expect(filter.length).toBeLessThan(120_000);
});

it('is clipped to what there is, and joins what touches', () => {
  const parts = [{ begin: 0, end: 1000 }, { begin: 1000, end: 2000 }, { begin: 3000 }];
  expect(partsWithin(parts, 5000)).toEqual([
    { begin: 0, end: 2000 },
    { begin: 3000, end: 5000 },
  ]);
  expect(partsWithin(parts, 1500)).toEqual([{ begin: 0, end: 1500 }]);
  expect(partsWithin([{ begin: 1500 }], 1500)).toEqual([]);
  expect(partsWithin([{ begin: 1490 }], 1500)).toEqual([]);
});

it('is read up to the end of its last part', () => {
  const parts = [{ begin: 500, end: 1000 }];
  expect(readFor({ duration: 4000, video: undefined }, parts)).toEqual({ duration: 1000, video: undefined });
});
