import { expect, test } from 'vitest';
import { loadConfig } from '../../../config.ts';
import { targetOf } from './target.ts';

const hosts = (list: string) => loadConfig({ INGEST_URL_HOSTS: list }).ingestUrlHosts ?? [];
const NAMED = hosts('Media.example.org, 127.0.0.1:8080,[::1], bücher.example, dot.example.');

test('no host is named unless the variable is set', () => {
  expect(loadConfig({}).ingestUrlHosts).toBeUndefined();
});

test.each([
  ['http://media.example.org/a', 'media.example.org', 80],
  ['https://MEDIA.example.org./a', 'media.example.org', 443],
  ['http://media.example.org:80/a', 'media.example.org', 80],
  ['http://127.0.0.1:8080', '127.0.0.1', 8080],
  ['http://0x7f.1:8080', '127.0.0.1', 8080],
  ['http://[0:0:0:0:0:0:0:1]/', '[::1]', 80],
  ['https://BÜCHER.example/', 'xn--bcher-kva.example', 443],
  ['http://dot.example/', 'dot.example', 80],
])('%s may be asked', (url, host, port) => {
  expect(targetOf(url, NAMED)).toMatchObject({ host, port });
});

const ELSEWHERE = 'its host and port are not among those of INGEST_URL_HOSTS';

test.each([
  ['http://media.example.org:8080/', ELSEWHERE],
  ['http://media.example.org:443/', ELSEWHERE],
  ['http://media.example.org:0/', ELSEWHERE],
  ['http://127.0.0.1/', ELSEWHERE],
  ['http://[::ffff:127.0.0.1]:8080/', ELSEWHERE],
  ['http://media.example.org.evil.example/', ELSEWHERE],
  ['http://sub.media.example.org/', ELSEWHERE],
  ['http://evil.example/?media.example.org', ELSEWHERE],
  ['http://evil.example\\@media.example.org/', ELSEWHERE],
  ['http://media.example.org@evil.example/', 'it must have no user and no password in it'],
  ['http://user@media.example.org/', 'it must have no user and no password in it'],
  ['http://:secret@media.example.org/', 'it must have no user and no password in it'],
  ['ftp://media.example.org/', 'it must begin with http:// or https://'],
  ['file:///etc/passwd', 'it must begin with http:// or https://'],
  ['//media.example.org/', 'it is none'],
  ['', 'it is none'],
])('%s may not be asked', (url, reason) => {
  expect(() => targetOf(url, NAMED)).toThrow(`The URL cannot be fetched: ${reason}.`);
});

test.each([
  ...['*', '*.example.org', 'http://media.example.org', 'media.example.org/', 'user@media.example.org'],
  ...[
    'a,,b',
    ',',
    'a b',
    'media.example.org:',
    'media.example.org:99999',
    '::1',
    '[::1',
    '[fe80::1%25eth0]',
    'a%62',
  ],
])('INGEST_URL_HOSTS may not be %s', (list) => {
  expect(() => hosts(list)).toThrow(
    /^INGEST_URL_HOSTS is .*; allowed is hosts, or hosts and ports such as media.example.org:8080, with commas between\.$/,
  );
});
