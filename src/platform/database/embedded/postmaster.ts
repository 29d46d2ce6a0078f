import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { startTime } from './processes.ts';

/**
 * The server that runs on this cluster, as it says itself in `postmaster.pid`; undefined when none does. It is not ready
 * while it starts or stops.
 */
export function runningPostmaster(cluster: string): { port: number; ready: boolean } | undefined {
  const [pid, , , port, , , , status] = lines(join(cluster, 'postmaster.pid'));
  if (!Number(pid) || !startTime(Number(pid)) || !worksIn(Number(pid), cluster)) return undefined;
  return { port: Number(port), ready: status?.trim() === 'ready' };
}

/** The port of the last server that was started on this cluster. */
export function lastPort(cluster: string): number | undefined {
  const [command = ''] = lines(join(cluster, 'postmaster.opts'));
  return Number(/\bport=(\d+)/.exec(command)?.[1]) || undefined;
}

function lines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** Whether the process's working directory is the cluster, as that of a postmaster is; true where unknown. */
function worksIn(pid: number, cluster: string): boolean {
  if (process.platform !== 'linux') return true;
  try {
    const [theirs, ours] = [statSync(`/proc/${pid}/cwd`), statSync(cluster)];
    return theirs.dev === ours.dev && theirs.ino === ours.ino;
  } catch {
    // Root in a container may not look; anybody else may, unless it is somebody else's process.
    return process.getuid?.() === 0 && lines(`/proc/${pid}/comm`)[0] === 'postgres';
  }
}
