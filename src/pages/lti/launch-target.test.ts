import { describe, expect, test } from 'vitest';
import { launchTarget } from './launch-target.ts';

const PUBLIC_URL = 'https://media.example.org/inlet';
const at = (tool: string | undefined, parameters: Record<string, string> = {}, url?: string) =>
  launchTarget({ tool, url, parameters: new Map(Object.entries(parameters)) }, PUBLIC_URL);

test.each<[string, object]>([
  ['/play/abc', { recording: 'abc' }],
  ['play/abc', { recording: 'abc' }],
  ['%2Fplay%2Fabc', { recording: 'abc' }],
  ['https://media.example.org/inlet/play/abc', { recording: 'abc' }],
  ['/inlet/play/abc', { recording: 'abc' }],
  ['/paella/ui/watch.html?id=abc', { recording: 'abc' }],
  ['/paella/ui/embed.html?id=abc', { recording: 'abc' }],
  ['/paella8/ui/watch.html?id=abc', { recording: 'abc' }],
  ['/engage/theodul/ui/core.html;id=abc', { recording: 'abc' }],
  ['/ltitools/index.html?subtool=player&id=abc', { recording: 'abc' }],
  ['ltitools/series/index.html?series=s%201', { list: { series: 's 1' } }],
  ['ltitools/series/index.html;series=s1', { list: { series: 's1' } }],
  ['/ltitools', { list: { series: undefined } }],
  ['engage/ui/', { list: { series: undefined } }],
  ['/watch/p1?t=90', { path: '/watch/p1?t=90' }],
  ['%2Feditor-ui%2Findex.html%3Fid%3Dabc', { path: '/editor-ui/index.html?id=abc' }],
  ['/studio?upload.seriesId=s1', { path: '/studio?upload.seriesId=s1' }],
  ['/upload', { path: '/upload' }],
  ['ltitools/upload/index.html', { path: '/upload' }],
])('the tool %s is a page', (tool, target) => expect(at(tool)).toEqual(target));

test('the parameters of a launch are those of its page, unless the page has them', () => {
  expect(at('ltitools/player/index.html', { id: 'abc', tool: 'x' })).toEqual({ recording: 'abc' });
  expect(at('/editor-ui/index.html?id=abc', { id: 'other' })).toEqual({ path: '/editor-ui/index.html?id=abc' });
});

test('without a tool, the URL of the launch counts, and without a page the list of recordings', () => {
  expect(at(undefined, {}, `${PUBLIC_URL}/watch/p1`)).toEqual({ path: '/watch/p1' });
  expect(at(undefined, {}, `${PUBLIC_URL}/lti`)).toEqual({ list: { series: undefined } });
  expect(at('', { series: 's1' })).toEqual({ list: { series: 's1' } });
  expect(at(undefined, { id: 'abc' }, `${PUBLIC_URL}/lti/launch`)).toEqual({ recording: 'abc' });
});

describe('no page is', () => {
  test.each([
    ...[
      'https://evil.example/watch/p1',
      '//evil.example/watch/p1',
      '/\\evil.example',
      '\\\\evil.example',
      '/\t/evil.example',
    ],
    ...['https://media.example.org/elsewhere/watch/p1', 'http://media.example.org/inlet/watch/p1'],
    ...['https://media.example.org@evil.example/inlet/watch/p1', 'https://a:b@media.example.org/inlet/watch/p1'],
    ...[
      'javascript:alert(1)',
      'data:text/html,x',
      '/admin',
      '/api/events',
      '/sign-in?next=/admin',
      '/watch',
      '/watch/../admin',
    ],
    ...['/watch/%2e%2e/admin', '/upload/../admin', '/studio/../admin', '/play/%E0%A4%A', '/play/', 'play/a/b'],
    ...['ltitools/player/index.html', '%2F%2Fevil.example', '/inlet//evil.example', '/annotation-tool/index.html?id=a'],
  ])('%s', (tool) => expect(at(tool)).toBeUndefined());
});
