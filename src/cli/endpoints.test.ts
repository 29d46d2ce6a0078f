import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import {
  databaseEndpoints,
  keySetEndpoints,
  listenEndpoint,
  redisEndpoints,
  urlHostEndpoints,
} from './endpoints.ts';

test.each([
  ['postgres://user:secret@db.example.org/inlet', 'db.example.org:5432'],
  ['postgres://user@db.example.org:6000/inlet?sslmode=require', 'db.example.org:6000'],
  ['postgres://user@[::1]:6000/inlet', '[::1]:6000'],
])('the database of %s is at %s', (url, host) => {
  expect(databaseEndpoints(url)).toEqual({ hosts: [host], sockets: [], files: [] });
});

test('a database behind a socket has no host', () => {
  expect(databaseEndpoints('postgres:///inlet?host=/run/postgresql&user=inlet')).toEqual({
    hosts: [],
    sockets: ['/run/postgresql/.s.PGSQL.5432'],
    files: [],
  });
});

test('certificates named in the URL are files to read', () => {
  const file = fileURLToPath(import.meta.url);
  const url = `postgres://user@db/inlet?sslmode=verify-full&sslrootcert=${encodeURIComponent(file)}`;
  expect(databaseEndpoints(url).files).toEqual([file]);
});

test.each([
  ['redis://cache', 'cache:6379'],
  ['rediss://:secret@cache:7000/2', 'cache:7000'],
])('Redis of %s is at %s', (url, host) => {
  expect(redisEndpoints(url).hosts).toEqual([host]);
});

test.each([
  ['https://id.example.org/certs', 'id.example.org:443'],
  ['http://id.example.org/certs', 'id.example.org:80'],
  ['http://[::1]:8081/certs', '[::1]:8081'],
])('the key set of %s is at %s', (url, host) => {
  expect(keySetEndpoints(url)).toEqual({ hosts: [host], sockets: [], files: [] });
});

test('a key set in a file is a file to read', () => {
  expect(keySetEndpoints('/etc/inlet/keys.json')).toEqual({
    hosts: [],
    sockets: [],
    files: ['/etc/inlet/keys.json'],
  });
});

test.each([
  ['127.0.0.1', '127.0.0.1:8080'],
  ['::', '[::]:8080'],
  ['[::1]', '[::1]:8080'],
])('HOST %s listens at %s', (host, endpoint) => {
  expect(listenEndpoint({ host, port: 8080 })).toBe(endpoint);
});

test('files come from the named hosts, at the usual ports unless others are named', () => {
  const named = [
    { host: 'media.example.org', port: undefined },
    { host: '[2001:db8::1]', port: 8443 },
  ];
  expect(urlHostEndpoints(named).hosts).toEqual([
    'media.example.org:80',
    'media.example.org:443',
    '[2001:db8::1]:8443',
  ]);
});
