import { expect, test } from 'vitest';
import { endOf, parseWords, utcInstant } from './filters.ts';

test.each([
  ['2026-04-13T08:15:00Z', '2026-04-13T08:15:00.000Z'],
  ['2026-04-13T08:15:00.5Z', '2026-04-13T08:15:00.500Z'],
  ['2026-04-13T08:15:00.123456789Z', '2026-04-13T08:15:00.123Z'],
])('%s is an instant', (text, instant) => expect(utcInstant(text)?.toISOString()).toBe(instant));

test.each([
  '',
  '2026-04-13',
  '2026-04-13T08:15Z',
  '2026-04-13T08:15:00',
  '2026-04-13T08:15:00+02:00',
  '2026-02-30T00:00:00Z',
  '2026-04-13T24:00:00Z',
  '0000-01-01T00:00:00Z',
  '2026-04-13T08:15:00.Z',
  ' 2026-04-13T08:15:00Z',
])('%j is none', (text) => expect(utcInstant(text)).toBeUndefined());

test('the end of a period includes what clients see as that second', () => {
  expect(endOf('2026-04-13T08:15:00Z')?.toISOString()).toBe('2026-04-13T08:15:01.000Z');
  expect(endOf('2026-04-13T08:15:00.250Z')?.toISOString()).toBe('2026-04-13T08:15:00.251Z');
  expect(endOf('never')).toBeUndefined();
});

test('words are told apart by any white space, and not too many of them', () => {
  expect(parseWords(' a\tb\u00a0a  c ')).toEqual(['a', 'b', 'c']);
  expect(parseWords('  ')).toEqual([]);
  expect(() => parseWords(Array.from({ length: 21 }, (_, i) => `w${i}`).join(' '))).toThrow(/21 words/);
});
