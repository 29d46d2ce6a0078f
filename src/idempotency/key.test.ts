import { expect, test } from 'vitest';
import { parseKey } from './key.ts';

test.each([
  ['8e03978e-40d5-43dd-bc93-6894a57f9324', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
  ['"8e03978e"', '8e03978e'],
  ['  plain:key/1+2=  ', 'plain:key/1+2='],
  ['"with blank, comma; \\"mark\\" and \\\\"', 'with blank, comma; "mark" and \\'],
  ['x'.repeat(255), 'x'.repeat(255)],
  [`"${'x'.repeat(255)}"`, 'x'.repeat(255)],
])('%j is the key %j', (header, key) => {
  expect(parseKey(header)).toBe(key);
});

test.each([
  '',
  '  ',
  '""',
  'a b',
  'one, two',
  '"one", "two"',
  '"open',
  'mark"',
  '"back\\slash"',
  '"key";parameter=1',
  'tab\tinside',
  '"tab\tinside"',
  'nul\0',
  'caf\u00e9',
  '"caf\u00e9"',
  'x'.repeat(256),
  `"${'x'.repeat(256)}"`,
])('%j is no key', (header) => {
  expect(() => parseKey(header)).toThrow(expect.objectContaining({ status: 400 }));
  expect(() => parseKey(header)).toThrow(/^The header Idempotency-Key must be .*\.$/);
});
