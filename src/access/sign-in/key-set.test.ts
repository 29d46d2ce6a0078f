import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jwtVerify } from 'jose';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type SigningKey, serveKeys, signingKey } from '../../../test/support/identity-provider.ts';
import { ConfigError } from '../../config.ts';
import { KeysUnavailable, openKeySet } from './key-set.ts';

let folder: string;
let first: SigningKey;
let second: SigningKey;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-keys-'));
  [first, second] = await Promise.all([signingKey('ES256', 'first'), signingKey('ES256', 'second')]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));
afterEach(() => vi.useRealTimers());

test('keys of a file', async () => {
  const path = join(folder, 'keys.json');
  await writeFile(path, JSON.stringify({ keys: [first.publicJwk, second.publicJwk] }));
  const find = await openKeySet(path);
  expect((await jwtVerify(await second.sign(), find)).payload.sub).toBe('grace');
});

test.each<[string, () => unknown, string]>([
  ['no JSON', () => undefined, 'is no JSON'],
  ['no key set', () => ({ kty: 'EC' }), 'is no JSON key set'],
  ['an empty key set', () => ({ keys: [] }), 'is no JSON key set'],
  ['null', () => null, 'is no JSON key set'],
  ['keys that are none', () => ({ keys: ['x'] }), 'is no JSON key set'],
  [
    'a private key',
    () => ({ keys: [first.privateJwk] }),
    'holds a private or shared key; allowed are public keys only',
  ],
  [
    'a shared key',
    () => ({ keys: [{ kty: 'oct', k: 'AAAA' }] }),
    'holds a private or shared key; allowed are public keys only',
  ],
])('a file with %s stops the start', async (_name, content, reason) => {
  const path = join(folder, 'wrong.json');
  await writeFile(path, JSON.stringify(content()) ?? '{');
  await expect(openKeySet(path)).rejects.toThrow(
    new ConfigError(`JWT_JWKS is ${JSON.stringify(path)}, a file that ${reason}.`),
  );
});

test('a file that is not there stops the start', async () => {
  await expect(openKeySet(join(folder, 'none.json'))).rejects.toThrow('a file that cannot be read.');
});

test('keys of a server are fetched once, and again when a token names an unknown one', async () => {
  const server = await serveKeys(first.publicJwk);
  try {
    const find = await openKeySet(server.url);
    const tokens = await Promise.all([first.sign(), first.sign({ sub: 'ada' })]);
    for (const token of tokens) await jwtVerify(token, find);
    expect(server.fetches).toBe(1);
    server.keys = [second.publicJwk];
    const rotated = await second.sign();
    // Not at once: unknown keys in forged tokens must not make this server ask without end.
    await expect(jwtVerify(rotated, find)).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
    expect(server.fetches).toBe(1);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 });
    await jwtVerify(rotated, find);
    expect(server.fetches).toBe(2);
    await expect(jwtVerify(tokens[0] ?? '', find)).rejects.toMatchObject({
      code: 'ERR_JWKS_NO_MATCHING_KEY',
    });
  } finally {
    await server.close();
  }
});

test('a server that is down, or serves no key set, is not the fault of the token', async () => {
  const server = await serveKeys(first.publicJwk);
  await server.close();
  const find = await openKeySet(server.url);
  const token = await first.sign();
  await expect(jwtVerify(token, find)).rejects.toBeInstanceOf(KeysUnavailable);
  const odd = await serveKeys('x' as never);
  try {
    await expect(jwtVerify(token, await openKeySet(odd.url))).rejects.toBeInstanceOf(KeysUnavailable);
  } finally {
    await odd.close();
  }
});
