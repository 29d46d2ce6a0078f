import { expect, test } from 'vitest';
import { PartsUnderWay } from './parts-under-way.ts';

const widths = (store: (atOnce: number) => number) => {
  const width = new PartsUnderWay();
  width.took(store(1), 1);
  return Array.from({ length: 50 }, () => {
    width.took(store(width.most), width.most);
    return width.most;
  });
};

test('a store that is far away gets as many parts as allowed', () => {
  expect(widths(() => 100).at(-1)).toBe(8);
});

test('a store that takes one part after the other gets few', () => {
  expect(Math.max(...widths((atOnce) => atOnce * 20))).toBeLessThanOrEqual(4);
});

test('a line that becomes slow gets fewer', () => {
  let parts = 0;
  const found = widths((atOnce) => (++parts < 20 ? 100 : atOnce * 100));
  expect(found[15]).toBe(8);
  expect(found.at(-1)).toBeLessThanOrEqual(5);
});

test('what was not used is not made wider', () => {
  const width = new PartsUnderWay();
  for (let i = 0; i < 20; i += 1) width.took(100, 1);
  expect(width.most).toBe(2);
});
