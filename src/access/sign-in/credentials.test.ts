import { expect, test } from 'vitest';
import { parseBasic } from './credentials.ts';

const basic = (text: string | Uint8Array, scheme = 'Basic') =>
  `${scheme} ${Buffer.from(text).toString('base64')}`;

test.each([
  [basic('ada:secret'), 'ada', 'secret'],
  [basic('ada:a:b:'), 'ada', 'a:b:'],
  [basic('müller:Grüße'), 'müller', 'Grüße'],
  [basic('ada:'), 'ada', ''],
  [basic('ada:secret', 'bAsIc'), 'ada', 'secret'],
  [basic('ada:secret').replace(/=+$/, ''), 'ada', 'secret'],
])('%s', (header, username, password) => {
  expect(parseBasic(header)).toEqual({ username, password });
});

test.each([
  '',
  'Basic',
  'Basic ',
  'Bearer YTpi',
  'Basic !!!!',
  'Basic YTpi YTpi',
  basic('no colon'),
  basic(':nameless'),
  basic('ada:nul\0'),
  basic('a\0da:secret'),
  basic(new Uint8Array([0x61, 0x3a, 0xff])),
])('%j is not understood', (header) => {
  expect(parseBasic(header)).toBeUndefined();
});
