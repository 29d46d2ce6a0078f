import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clip } from '../support/clips.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type Run, run } from '../support/run.ts';

const MINUTES = 60_000;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-demo-e2e-'));
  // The embedded database runs as another user.
  await chmod(folder, 0o755);
  await mkdir(join(folder, 'tmp'), { mode: 0o777 });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What a newcomer types, with a data folder and a port of its own. */
function demo(name: string, port: number, ...args: string[]): Promise<Run> {
  return run('npm', ['run', '--silent', 'demo', '--', ...args], {
    HOME: folder,
    TMPDIR: join(folder, 'tmp'),
    DATA_DIR: join(folder, name),
    PORT: String(port),
  });
}

/** Numbers of the processes that were started in the folder, or in whose command it stands. */
function processesOf(path: string): number[] {
  const holds = (pid: number, file: string) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(path);
    } catch {
      return false;
    }
  };
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && (holds(pid, 'cmdline') || holds(pid, 'environ')));
}

test.each([
  ['deno', 'Demo lecture (presenter, presentation)', async () => []],
  ['node', /^[0-9a-f]+ \(presenter, audio\)$/m, async () => [await clip(), await clip({ container: 'mp3' })]],
] as const)(
  'npm run demo -- --exit publishes a recording and leaves nothing running, on %s',
  {
    timeout: 6 * MINUTES,
  },
  async (runtime, title, files) => {
    const port = await freePort();
    const { code, stdout, stderr } = await demo(runtime, port, '--exit', '--runtime', runtime, ...(await files()));
    expect([code, stderr], stdout).toEqual([0, '']);
    expect(stdout).toMatch(title);
    expect(stdout).toContain(`Serving at http://127.0.0.1:${port} (log: `);
    expect(stdout).toMatch(/^Upload {5}100%/m);
    expect(stdout).toMatch(/^Processing 100% {2}done$/m);
    expect(stdout).toMatch(/^State {6}SUCCEEDED$/m);
    expect(stdout).toMatch(new RegExp(`^Watch {6}http://127.0.0.1:${port}/watch/[0-9a-f-]{36}$`, 'm'));
    expect(stdout).toContain(`http://127.0.0.1:${port}/admin/queues (account admin, password opencast)`);
    await eventually(() => expect(processesOf(join(folder, runtime))).toEqual([]), MINUTES);
    const left = await readdir(join(folder, 'tmp'));
    expect(left.filter((name) => name.startsWith('inlet'))).toEqual([]);
  },
);

test('the demo says in one line that PORT is taken', async () => {
  const port = await freePort();
  const holder = createServer().listen(port, '127.0.0.1');
  await once(holder, 'listening');
  const stderr = `PORT ${port} is already in use; set PORT to a free one.\n`;
  expect(await demo('taken', port, '--exit')).toEqual({ code: 1, stdout: '', stderr });
  holder.close();
  expect(await readdir(folder)).not.toContain('taken');
});
