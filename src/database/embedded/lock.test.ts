import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withLock } from './lock.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-lock-'));
  path = join(folder, 'lock');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('one holder at a time', async () => {
  const events: string[] = [];
  const hold = (name: string) =>
    withLock(path, async () => {
      events.push(`${name} begins`);
      await sleep(50);
      events.push(`${name} ends`);
    });
  await Promise.all([hold('first'), hold('second')]);
  expect(events).toEqual(['first begins', 'first ends', 'second begins', 'second ends']);
});

test('work that fails leaves no lock behind', async () => {
  await expect(withLock(path, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await withLock(path, () => 'done')).toBe('done');
});

test('a killed holder leaves neither a lock nor another file behind', async () => {
  const module = JSON.stringify(new URL('./lock.ts', import.meta.url).href);
  const holder = spawn(process.execPath, [
    '--input-type=module',
    '-e',
    `import { withLock } from ${module};
     await withLock(${JSON.stringify(path)}, () => {
       console.log('held');
       return new Promise((resolve) => setTimeout(resolve, 60_000));
     });`,
  ]);
  await once(holder.stdout, 'data');
  let locked = false;
  const next = withLock(path, () => {
    locked = true;
  });
  await sleep(100);
  expect(locked).toBe(false);
  holder.kill('SIGKILL');
  await next;
  expect(await readdir(folder)).toEqual(['lock']);
});
