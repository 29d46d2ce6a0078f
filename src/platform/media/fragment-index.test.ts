import { expect, it } from 'vitest';
import { InvalidFragmentIndex, segmentsOf } from './fragment-index.ts';

/** An index of fragments of a byte each as ffmpeg writes it, whose number has 16 bits. */
function sidx(fragments: number): Buffer {
  const box = Buffer.alloc(32 + fragments * 12);
  box.writeUInt32BE(box.length);
  box.write('sidx', 4);
  box.writeUInt32BE(1000, 16);
  box.writeUInt16BE(fragments % 2 ** 16, 30);
  for (let i = 0; i < fragments; i++) {
    box.writeUInt32BE(1, 32 + i * 12);
    box.writeUInt32BE(2000, 36 + i * 12);
  }
  return box;
}

it('names as many fragments as an index can count, and refuses one that holds more', () => {
  const segments = segmentsOf(sidx(65_535), 1_000_000);
  expect([segments.length, segments.at(-1)]).toEqual([65_535, { offset: 1_065_534, bytes: 1, seconds: 2 }]);
  expect(() => segmentsOf(sidx(65_537), 1_000_000)).toThrow(InvalidFragmentIndex);
});
