import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { register, registered, startTime } from './processes.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-processes-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('a process counts until it is killed', async () => {
  const child = spawn('sleep', ['60']);
  await once(child, 'spawn');
  register(folder, child.pid);
  expect(registered(folder)).toEqual([child.pid]);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(registered(folder)).toEqual([]);
});

test.runIf(process.platform === 'linux')('a process that nobody has buried is dead', async () => {
  // When the shell's child ends, the shell is a sleep, which never asks for its children.
  const shell = spawn('sh', ['-c', 'sleep 0.5 & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = (await once(shell.stdout, 'data')) as [Buffer];
  const zombie = Number(line.toString());
  await expect.poll(() => startTime(zombie)).toBeUndefined();
  // Signals still reach it, so that its number alone would not tell.
  expect(() => process.kill(zombie, 0)).not.toThrow();
  shell.kill('SIGKILL');
});

test('a process counts until it takes back every entry of its own', () => {
  const first = register(folder);
  const second = register(folder);
  first();
  expect(registered(folder)).toEqual([process.pid]);
  second();
  expect(registered(folder)).toEqual([]);
});

test('the entry of a dead process does not count, and is removed with the next entry', async () => {
  await mkdir(join(folder, '4194305-1-abc'));
  expect(registered(folder)).toEqual([]);
  expect(await readdir(folder)).toEqual(['4194305-1-abc']);
  register(folder)();
  expect(await readdir(folder)).toEqual([]);
});

test.runIf(process.platform === 'linux')(
  'a living process does not count for a dead one of its number',
  async () => {
    await mkdir(join(folder, `${process.pid}-1-abc`));
    expect(registered(folder)).toEqual([]);
  },
);

test('a folder that is gone has no processes', () => {
  expect(registered(join(folder, 'gone'))).toEqual([]);
});
