import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { identify, isAlive } from './process-identity.ts';

test('a process is alive until it is killed', async () => {
  const child = spawn('sleep', ['60']);
  await once(child, 'spawn');
  const identity = identify(child.pid ?? 0);
  expect(identity && isAlive(identity)).toBe(true);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(identity && isAlive(identity)).toBe(false);
});

test.runIf(process.platform === 'linux')(
  'a process that got the number of a dead one is not the dead one',
  () => {
    expect(isAlive({ pid: process.pid, started: '1' })).toBe(false);
  },
);

test.runIf(process.platform === 'linux')('a process that nobody has buried is dead', async () => {
  // When the shell's child ends, the shell is a sleep, which never asks for its children.
  const shell = spawn('sh', ['-c', 'sleep 0.5 & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = (await once(shell.stdout, 'data')) as [Buffer];
  const zombie = Number(line.toString());
  await expect.poll(() => identify(zombie)).toBeUndefined();
  // Signals still reach it, so that its number alone would not tell.
  expect(() => process.kill(zombie, 0)).not.toThrow();
  shell.kill('SIGKILL');
});
