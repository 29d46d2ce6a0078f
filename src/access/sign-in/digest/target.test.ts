import { expect, test } from 'vitest';
import { isTarget } from './target.ts';

const HOST = 'http://10.0.0.7:8080';

test.each([
  ['/api/events?limit=1&filter=a:b', '/api/events?limit=1&filter=a:b'],
  ['http://media.example.org/api', '/api'],
  ['https://media.example.org', '/'],
  ['/agents/H%C3%B6rsaal%201', '/agents/H%c3%b6rsaal 1'],
  ['/agents/%28a%29~', '/agents/(a)%7E'],
  ['/agents/a%2fb', '/agents/a%2Fb'],
  ['/api//x/', '/api//x/'],
  ['/api?', '/api'],
])('%s is what was asked for with %s', (uri, asked) => {
  expect(isTarget(uri, HOST + asked, '')).toBe(true);
});

test.each([
  ['/api/series', '/api/events'],
  ['/api/events', '/api/events?limit=1'],
  ['/api/events?limit=1', '/api/events'],
  ['/api/events/', '/api/events'],
  ['/agents/a/b', '/agents/a%2Fb'],
  ['/a?b=1%262', '/a?b=1&2'],
  ['/agents/a%2525', '/agents/a%25'],
  ['//api/events', '/api/events'],
  ['api/events', '/api/events'],
  ['ftp://host/api', '/api'],
  ['http://', '/'],
  ['*', '/'],
  ['', '/'],
])('%j is something else than %s', (uri, asked) => {
  expect(isTarget(uri, HOST + asked, '')).toBe(false);
});

test('a proxy may take off the path that the server has outside', () => {
  expect(isTarget('/inlet/api?a=1', `${HOST}/api?a=1`, '/inlet')).toBe(true);
  expect(isTarget('/api', `${HOST}/api`, '/inlet')).toBe(true);
  expect(isTarget('/other/api', `${HOST}/api`, '/inlet')).toBe(false);
});
