import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeStalePostmasterFile, runningPostmaster } from './postmaster-file.ts';

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
    process: { pid: server.pid },
    port: 5999,
    status: 'ready',
  });
  removeStalePostmasterFile(cluster);
  expect(await readdir(cluster)).toEqual(['postmaster.pid']);
  server.kill('SIGKILL');
});

test.runIf(process.platform === 'linux')(
  'a process elsewhere that has got the number of a dead server does not keep the next one from starting',
  async () => {
    await write(process.pid);
    expect(runningPostmaster(cluster)).toBeUndefined();
    removeStalePostmasterFile(cluster);
    expect(await readdir(cluster)).toEqual([]);
  },
);

test('a file cut short is no server', async () => {
  await writeFile(join(cluster, 'postmaster.pid'), '');
  expect(runningPostmaster(cluster)).toBeUndefined();
});
