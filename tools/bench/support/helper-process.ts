import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Runtime } from '../../../src/cli/role.ts';
import { denoProgram } from '../../../src/cli/runtime.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));

/** A process that does one thing when asked, as often as asked. */
export interface HelperProcess<Task, Result> {
  pid: number;
  run(task: Task): Promise<Result>;
  stop(): Promise<void>;
}

/** Starts a program that calls `serveTasks`. */
export function startHelper<Task, Result>(
  runtime: Runtime,
  program: string,
  env: NodeJS.ProcessEnv,
  args: readonly string[] = [],
): HelperProcess<Task, Result> {
  const deno = ['run', '--quiet', '-A', '--no-config', '--no-lock', '--node-modules-dir=manual'];
  const [command, own] = runtime === 'deno' ? [denoProgram(), [...deno, program]] : [process.execPath, [program]];
  const child = spawn(command, [...own, ...args], { cwd: PROJECT, env, stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    pid: child.pid ?? 0,
    run: async (task) => {
      child.stdin.write(`${JSON.stringify(task)}\n`);
      const { value, done } = await answers.next();
      if (done) throw new Error(`${program} ended before it answered.`);
      const { result, error } = JSON.parse(value);
      if (error) throw new Error(`${program}: ${error}`);
      return result;
    },
    stop: () => end(child),
  };
}

/** In the program: answers each task until standard input ends. */
export async function serveTasks<Task, Result>(handle: (task: Task) => Promise<Result>): Promise<void> {
  for await (const line of createInterface(process.stdin)) {
    let answer: object;
    try {
      answer = { result: await handle(JSON.parse(line)) };
    } catch (error) {
      answer = { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
