import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hasUsers, registerUser } from './users.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-users-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('a process counts until it takes back every entry of its own', () => {
  const first = registerUser(folder);
  const second = registerUser(folder);
  first();
  expect(hasUsers(folder)).toBe(true);
  second();
  expect(hasUsers(folder)).toBe(false);
});

test('the entry of a dead process does not count and is removed', async () => {
  await writeFile(join(folder, '4194305-1-1'), '');
  expect(hasUsers(folder)).toBe(false);
  expect(await readdir(folder)).toEqual([]);
});

test.runIf(process.platform === 'linux')(
  'a living process does not count for a dead one of its number',
  async () => {
    await writeFile(join(folder, `${process.pid}-1-1`), '');
    expect(hasUsers(folder)).toBe(false);
  },
);

test('a folder that is gone has no users', () => {
  expect(hasUsers(join(folder, 'gone'))).toBe(false);
});
