import { expect, test } from 'vitest';
import { usualHeaderName } from './header-names.ts';

test.each([
  ['etag', 'ETag'],
  ['location', 'Location'],
  ['content-type', 'Content-Type'],
  ['WWW-Authenticate', 'WWW-Authenticate'],
  ['x-request-id', 'X-Request-Id'],
])('%s is written %s', (name, usual) => {
  expect(usualHeaderName(name)).toBe(usual);
});
