import { expect, test } from 'vitest';
import { parseProcessing } from './processing.ts';

test('values that are no text are kept as their JSON text', () => {
  const configuration = { a: 'b', c: true, d: { e: [1] } };
  expect(parseProcessing(JSON.stringify({ workflow: ' fast ', configuration }))).toEqual({
    workflow: 'fast',
    configuration: { a: 'b', c: 'true', d: '{"e":[1]}' },
  });
});

test('a value with more levels than can be written out is refused', () => {
  const deep = '['.repeat(50_000) + ']'.repeat(50_000);
  expect(() => parseProcessing(`{"workflow":"fast","configuration":{"a":${deep}}}`)).toThrow(
    'Unable to parse processing configuration',
  );
});
