import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Search } from './search.ts';

/** What `Search` is to find, found without any art. */
function expected(bytes: string, needle: string, from: number): number {
  const at = bytes.indexOf(needle, from);
  if (at >= 0) return at;
  for (let begin = from; begin < bytes.length; begin += 1) {
    if (needle.startsWith(bytes.slice(begin))) return begin;
  }
  return bytes.length;
}

// Few letters, so that beginnings and repetitions are common.
const letters = (min: number, max: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b', '-'), minLength: min, maxLength: max });

test('finds what stands first, and what may begin at the end', () => {
  fc.assert(
    fc.property(letters(1, 6), letters(0, 40), fc.nat(5), (needle, bytes, from) => {
      const start = Math.min(from, bytes.length);
      expect(new Search(Buffer.from(needle)).in(Buffer.from(bytes), start)).toBe(
        expected(bytes, needle, start),
      );
    }),
    { numRuns: 2000 },
  );
});
