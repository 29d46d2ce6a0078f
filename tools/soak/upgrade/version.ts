import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Runtime } from '../../../src/cli/role.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { freePort } from '../../../test/support/free-port.ts';
import type { Cleanup } from '../../bench/support/cleanup.ts';

const READY_MS = 120_000;
const STOP_MS = 45_000;
const TAIL = 2_000;

/** One version of Inlet that serves: an API and a worker. */
export interface RunningVersion {
  url: string;
  /** Asks it to stop, and waits. @returns the processes that did not within their time, or not well */
  stop(): Promise<string[]>;
}

/** @param tree the files of the version */
export async function startVersion(
  tree: string,
  runtime: Runtime,
  env: Record<string, string>,
  cleanup: Cleanup,
): Promise<RunningVersion> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const start = (role: 'api' | 'worker') => {
    const child = run(tree, [role, '--runtime', runtime], { PORT: String(port), PUBLIC_URL: url, ...env });
    cleanup.add(() => void child.process.kill('SIGKILL'));
    return { role, ...child };
  };
  const all = [start('api'), start('worker')];
  await eventually(async () => {
    const dead = all.find(({ process }) => process.exitCode !== null);
    const answer = await fetch(`${url}/health/ready`).catch(() => undefined);
    if (answer?.status !== 200) throw new Error(`It does not serve. ${dead?.tail() ?? all[0]?.tail()}`);
  }, READY_MS);
  const stop = async ({ role, process }: (typeof all)[number]) => {
    const ended = once(process, 'exit');
    process.kill('SIGTERM');
    const late = setTimeout(() => process.kill('SIGKILL'), STOP_MS);
    const [code, signal] = await ended;
    clearTimeout(late);
    return code === 0 ? [] : [`the ${role} ended with ${code ?? signal}`];
  };
  return { url, stop: async () => (await Promise.all(all.map(stop))).flat() };
}

/** Applies the migrations of a tree, as an operator does. @returns how long it took, in milliseconds */
export async function migrateTo(tree: string, env: Record<string, string>): Promise<number> {
  const started = performance.now();
  const { process, tail } = run(tree, ['migrate'], env);
  const [code] = await once(process, 'exit');
  if (code !== 0) throw new Error(`npm run migrate ended with ${code}: ${tail()}`);
  return Math.round(performance.now() - started);
}

function run(tree: string, args: string[], env: Record<string, string>): { process: ChildProcess; tail(): string } {
  const { PATH, HOME } = process.env;
  let tail = '';
  const child = spawn(process.execPath, [join(tree, 'src/cli/launch.ts'), ...args], {
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-TAIL);
    });
  return { process: child, tail: () => tail };
}
