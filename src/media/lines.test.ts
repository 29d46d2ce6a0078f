import { describe, expect, it } from 'vitest';
import { Lines } from './lines.ts';

function linesOf(...chunks: string[]): string[] {
  const found: string[] = [];
  const lines = new Lines((line) => found.push(line));
  for (const chunk of chunks) lines.add(chunk);
  lines.end();
  return found;
}

describe('Lines', () => {
  it('puts lines together from pieces of any size', () => {
    expect(linesOf('a', 'b\nc', '\n\nd', 'e')).toEqual(['ab', 'c', '', 'de']);
  });

  it('keeps nothing of what never breaks, and goes on with the next line', () => {
    const flood = Array.from({ length: 1000 }, () => 'x'.repeat(1000));
    expect(linesOf('a\n', ...flood, '\nb\n', 'y'.repeat(5000), '\nc')).toEqual(['a', 'b', 'c']);
  });
});
