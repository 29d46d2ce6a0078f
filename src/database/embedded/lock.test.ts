import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { tryLock } from './lock.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-lock-'));
  path = join(folder, 'lock');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('one holder at a time', () => {
  const lock = tryLock(path);
  expect(lock).toBeDefined();
  expect(tryLock(path)).toBeUndefined();
  lock?.release();
  const next = tryLock(path);
  expect(next).toBeDefined();
  next?.release();
});

test('a killed holder leaves neither a lock nor another file behind', async () => {
  const module = JSON.stringify(new URL('./lock.ts', import.meta.url).href);
  const holder = spawn(process.execPath, [
    '--input-type=module',
    '-e',
    `import { tryLock } from ${module};
     globalThis.lock = tryLock(${JSON.stringify(path)});
     console.log('held');
     setInterval(() => undefined, 1000);`,
  ]);
  await once(holder.stdout, 'data');
  expect(tryLock(path)).toBeUndefined();
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  const lock = tryLock(path);
  expect(lock).toBeDefined();
  lock?.release();
  expect(await readdir(folder)).toEqual(['lock']);
});
