import { describe, expect, test } from 'vitest';
import { faultOfTarget } from './request-target.ts';

describe('a path that leads to a resource only when it is resolved is refused', () => {
  test.each([
    '/api/events/.',
    '/api/events/..',
    '/api/events/../',
    '/..',
    '/api/./events?filter=x',
    '/api/events/..#x',
    '/%2e%2E/api',
    '/docs/.%2e/api',
    '/docs/%2E./api',
    '/%2e',
  ])('%s', (path) => {
    for (const target of [path, `http://inlet${path}`]) {
      expect(faultOfTarget(target, 'inlet')).toMatch(/^The path must hold no segment/);
    }
  });
  test.each(['/api\\events', '/api/..\\events', '/\\'])('%s', (path) => {
    for (const target of [path, `http://inlet:80${path}`]) {
      expect(faultOfTarget(target, 'inlet')).toBe('The path must hold no backslash.');
    }
  });
});

test.each([
  '/',
  '/api/events',
  '/api/events/',
  '//api//events',
  '/api/events/...',
  '/api/events/..;/a',
  '/api/events/%2e%2e%2fseries',
  '/api/events/%5c..',
  '/api/events/a.b',
  '/api/events?filter=/../&b=\\',
  '/api/events#/../\\',
  '/*',
  'http://inlet',
  'http://inlet?x',
  'https://[::1]:8080/api',
])('%s is let through', (target) => expect(faultOfTarget(target, 'inlet')).toBeUndefined());

test.each([
  '*',
  '',
  'api/events',
  '?x',
  'ftp://inlet/api',
  'HTTP://inlet/api',
  'http:/api',
  'http://a:99999/api',
  'inlet:80',
])('%j is no address', (target) =>
  expect(faultOfTarget(target, 'inlet')).toMatch(/^The address must be a path/),
);

test.each([undefined, '', 'inlet', 'INLET:8080', 'a_b.example', '127.0.0.1:80', '[::1]', '[::1]:8080'])(
  'the host %j is one',
  (host) => expect(faultOfTarget('/', host)).toBeUndefined(),
);

test.each([
  'a/b',
  'a b',
  'a\\b',
  'a?b',
  'a#b',
  'a@b',
  'a:',
  'a:99999',
  'a:b',
  '[::1',
  '::1',
  '[x]',
  'ä',
  'a,b',
  '%61',
])('the host %j is none', (host) => expect(faultOfTarget('/', host)).toMatch(/^The header 'Host' must be/));
