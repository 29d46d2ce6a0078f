import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { Nonces } from './nonces.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const key = randomBytes(32);

test('a nonce is good for a day, wherever the same key is', async () => {
  let now = Date.UTC(2026, 0, 1);
  const [here, there] = [
    new Nonces(
      async () => key,
      () => now,
    ),
    new Nonces(
      async () => key,
      () => now,
    ),
  ];
  const nonce = await here.issue();
  expect(nonce).toMatch(/^[\w-]{20,60}$/);
  now += DAY_MS - 1000;
  expect([await here.isGood(nonce), await there.isGood(nonce)]).toEqual([true, true]);
  now += 1000;
  expect([await here.isGood(nonce), await there.isGood(nonce)]).toEqual([false, false]);
});

test('a nonce that somebody made is not good', async () => {
  const nonces = new Nonces(async () => key);
  const nonce = await nonces.issue();
  expect(await nonces.issue()).not.toBe(nonce);
  const [second = '', chance = '', signature = ''] = nonce.split(/-(\w+)-(.*)/s);
  const later = (Number.parseInt(second, 36) + 1).toString(36);
  const elsewhere = await new Nonces(async () => randomBytes(32)).issue();
  const tampered = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
  for (const forged of [
    `${later}-${chance}-${signature}`,
    `${second}-${'0'.repeat(16)}-${signature}`,
    `${second}-${chance}-${tampered}`,
    `${second}-${chance}-${signature.slice(1)}`,
    `${second}-${chance}-`,
    elsewhere,
    second,
    '',
  ]) {
    expect([forged, await nonces.isGood(forged)]).toEqual([forged, false]);
  }
  expect(await nonces.isGood(nonce)).toBe(true);
});
