import { scryptSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { hashPassword, verifyPassword } from './password.ts';

test('a hash accepts its password and no other, and never repeats', async () => {
  const [hash, again] = await Promise.all([hashPassword('pä:ss'), hashPassword('pä:ss')]);
  expect(hash).toMatch(/^scrypt\$N=16384,r=8,p=5\$/);
  expect(hash).not.toBe(again);
  expect(hash).not.toContain('pä:ss');
  expect(await verifyPassword('pä:ss', hash)).toBe(true);
  expect(await verifyPassword('pa:ss', hash)).toBe(false);
  expect(await verifyPassword('', hash)).toBe(false);
});

test('a hash made with other parameters is verified with these', async () => {
  const key = scryptSync('x', Buffer.from('AAAA', 'base64url'), 32, { N: 2, r: 1, p: 1 });
  const hash = `scrypt$N=2,r=1,p=1$AAAA$${key.toString('base64url')}`;
  expect(await verifyPassword('x', hash)).toBe(true);
  expect(await verifyPassword('y', hash)).toBe(false);
});

test.each(['', 'plain', 'scrypt$N=16384,r=8,p=5$$'])(
  'the stored hash %j is an error, not a match',
  async (hash) => {
    await expect(verifyPassword('', hash)).rejects.toThrow('unknown format');
  },
);
