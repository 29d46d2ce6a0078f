import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '#test/support/folders.ts';
import { withLock } from './file-lock.ts';
import { register, registered, runningPostmaster, startTime } from './process-register.ts';
import { lastErrorMessage } from './programs.ts';

const onLinux = test.runIf(process.platform === 'linux');
let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});

/** A process that is killed after the test at the latest. */
async function started(program: string, args: string[], options: SpawnOptions = {}): Promise<ChildProcess> {
  const child = spawn(program, args, options);
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  return child;
}
const printed = async ({ stdout }: ChildProcess) => String(stdout && (await once(stdout, 'data'))[0]);

describe('withLock', () => {
  let path: string;
  beforeEach(() => {
    path = join(folder, 'lock');
  });

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
    const code = `import { withLock } from ${JSON.stringify(new URL('./file-lock.ts', import.meta.url).href)};
      await withLock(${JSON.stringify(path)}, () => {
        console.log('held');
        return new Promise((resolve) => setTimeout(resolve, 60_000));
      });`;
    const holder = await started(process.execPath, ['--input-type=module', '-e', code]);
    await printed(holder);
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
});

describe('runningPostmaster', () => {
  const write = (pid = 0) =>
    writeFile(
      join(folder, 'postmaster.pid'),
      [pid, '/proc/self/cwd', '1790000000', 5999, '', '127.0.0.1', '  1  2', 'ready   ', ''].join('\n'),
    );

  test('a process that works in the cluster is its server', async () => {
    await write((await started('sleep', ['60'], { cwd: folder })).pid);
    expect(runningPostmaster(folder)).toMatchObject({ port: 5999, ready: true });
  });

  onLinux(
    'neither another process with the number of a dead server nor a truncated file is taken for the server',
    async () => {
      await write(process.pid);
      expect(runningPostmaster(folder)).toBeUndefined();
      await writeFile(join(folder, 'postmaster.pid'), '');
      expect(runningPostmaster(folder)).toBeUndefined();
    },
  );
});

describe('registered', () => {
  test('a process counts until it is killed', async () => {
    const child = await started('sleep', ['60']);
    register(folder, child.pid);
    expect(registered(folder)).toEqual([child.pid]);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(registered(folder)).toEqual([]);
  });

  onLinux('a zombie does not count', async () => {
    // When the shell's child ends, the shell is a sleep, which never asks for its children.
    const shell = await started('sh', ['-c', 'sleep 0.5 & echo $!; exec sleep 60']);
    const zombie = Number(await printed(shell));
    await expect.poll(() => startTime(zombie)).toBeUndefined();
    // Signals still reach it, so that its number alone would not tell.
    expect(() => process.kill(zombie, 0)).not.toThrow();
  });

  test('a process counts until it takes back each of its entries', () => {
    const [first, second] = [register(folder), register(folder)];
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
    expect(registered(join(folder, 'gone'))).toEqual([]);
  });

  onLinux('a living process does not count for a dead one of its number', async () => {
    await mkdir(join(folder, `${process.pid}-1-abc`));
    expect(registered(folder)).toEqual([]);
  });
});

const FATAL = `2026-01-01 00:00:00.000 UTC [7] LOG:  starting PostgreSQL
2026-01-01 00:00:00.001 UTC [7] FATAL:  data directory "/x" has invalid permissions
2026-01-01 00:00:00.001 UTC [7] DETAIL:  Permissions should be u=rwx (0700).
`;
const FULL = 'could not create directory "x": No space left on device';

test.each([
  ['the sentence after FATAL alone', FATAL, 'data directory "/x" has invalid permissions'],
  ['the message of initdb without its name', `initdb: error: ${FULL}\n`, FULL],
  ['nothing of a silent program', '\n', 'it printed no error'],
])('the reason why a program failed is %s', (_, log, reason) => {
  expect(lastErrorMessage(log)).toBe(reason);
});
