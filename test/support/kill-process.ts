import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Kills a process unless it has exited, and waits for its exit. */
export async function killProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
