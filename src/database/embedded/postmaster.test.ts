import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runningPostmaster } from './postmaster.ts';

let cluster: string;
beforeEach(async () => {
  cluster = await mkdtemp(join(tmpdir(), 'inlet-cluster-'));
});
afterEach(() => rm(cluster, { recursive: true, force: true }));

const write = (pid: number) =>
  writeFile(
    join(cluster, 'postmaster.pid'),
    [pid, '/proc/self/cwd', '1790000000', 5999, '', '127.0.0.1', '  1  2', 'ready   ', ''].join('\n'),
  );

test('a process that works in the cluster is its server', async () => {
  const server = spawn('sleep', ['60'], { cwd: cluster });
  await once(server, 'spawn');
  await write(server.pid ?? 0);
  expect(runningPostmaster(cluster)).toMatchObject({
    port: 5999,
    ready: true,
  });
  server.kill('SIGKILL');
});

test.runIf(process.platform === 'linux')(
  'a process elsewhere that has got the number of a dead server is not the server',
  async () => {
    await write(process.pid);
    expect(runningPostmaster(cluster)).toBeUndefined();
  },
);

test('a file cut short is no server', async () => {
  await writeFile(join(cluster, 'postmaster.pid'), '');
  expect(runningPostmaster(cluster)).toBeUndefined();
});
