import { expect, test } from 'vitest';
import { allowsRange, matchesNone, strongEtag } from './etag.ts';

const etag = strongEtag('abc');

test.each(['"abc"', 'W/"abc"', '"x", "abc"', '"x","abc"', '*', ' * '])(
  'If-None-Match: %s has it',
  (header) => {
    expect(matchesNone(header, etag)).toBe(true);
  },
);

test.each([undefined, '', '"ab"', '"abcd"', 'abc', '"x", "y"', '"*"'])(
  'If-None-Match: %s lacks it',
  (header) => {
    expect(matchesNone(header, etag)).toBe(false);
  },
);

test('a weak tag of the resource matches its strong form in If-None-Match', () => {
  expect(matchesNone('"abc"', 'W/"abc"')).toBe(true);
});

test('a range is served without If-Range and with the same strong tag only', () => {
  expect(allowsRange(undefined, etag)).toBe(true);
  expect(allowsRange('"abc"', etag)).toBe(true);
  expect(allowsRange('"abcd"', etag)).toBe(false);
  expect(allowsRange('W/"abc"', etag)).toBe(false);
  expect(allowsRange('W/"abc"', 'W/"abc"')).toBe(false);
  expect(allowsRange('Wed, 01 May 2024 08:00:00 GMT', etag)).toBe(false);
});
