import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generatedSecret } from './signing-secret.ts';

const folder = async () => join(await mkdtemp(join(process.env.TEST_CLIPS ?? tmpdir(), 'secret-')), 'data');

test('is created once, for its owner alone, and agreed on by those that start concurrently', async () => {
  const dataDir = await folder();
  const secrets = await Promise.all(Array.from({ length: 20 }, () => generatedSecret(dataDir)));
  expect(new Set(secrets).size).toBe(1);
  expect(secrets[0]).toMatch(/^[\w-]{43}$/);
  expect(await generatedSecret(dataDir)).toBe(secrets[0]);
  expect(await readdir(dataDir)).toEqual(['url-signing-secret']);
  const path = join(dataDir, 'url-signing-secret');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readFile(path, 'utf8')).toBe(secrets[0]);
  expect(await generatedSecret(await folder())).not.toBe(secrets[0]);
});

test('is not taken from a file without one, nor from a folder that is none', async () => {
  const dataDir = await folder();
  await generatedSecret(dataDir);
  await writeFile(join(dataDir, 'url-signing-secret'), '');
  await expect(generatedSecret(dataDir)).rejects.toThrow('holds no secret');
  await expect(generatedSecret(join(dataDir, 'url-signing-secret'))).rejects.toThrow('Set URL_SIGNING_SECRET.');
});
