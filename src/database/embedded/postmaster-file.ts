import { readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { identify, type ProcessIdentity } from './process-identity.ts';

/** The main process of a PostgreSQL server. */
export interface Postmaster {
  process: ProcessIdentity;
  port: number;
  /** What it says about itself: starting, ready, stopping. */
  status: string;
}

const PID = 0;
const PORT = 3;
const STATUS = 7;

/** The server that runs on this cluster according to its `postmaster.pid`; undefined when none does. */
export function runningPostmaster(cluster: string): Postmaster | undefined {
  const lines = readLines(join(cluster, 'postmaster.pid'));
  const pid = Number(lines?.[PID]);
  if (!lines || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  const process = identify(pid);
  if (!process || !worksIn(pid, cluster)) return undefined;
  return { process, port: Number(lines[PORT]), status: lines[STATUS]?.trim() ?? 'starting' };
}

/**
 * Removes the `postmaster.pid` of a server that is gone. PostgreSQL would do so itself, but not when another process
 * has got the number since, or while nobody has buried the old one.
 */
export function removeStalePostmasterFile(cluster: string): void {
  if (!runningPostmaster(cluster)) rmSync(join(cluster, 'postmaster.pid'), { force: true });
}

/** Whether the process's working directory is the cluster, as that of a postmaster is; true where unknown. */
function worksIn(pid: number, cluster: string): boolean {
  try {
    readlinkSync(`/proc/${pid}/cwd`);
  } catch (error) {
    // Without /proc nothing is known; a process of somebody else's, on the other hand, is no server of ours.
    return process.platform !== 'linux' && (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
  const [theirs, ours] = [statSync(`/proc/${pid}/cwd`, { throwIfNoEntry: false }), statSync(cluster)];
  return theirs?.dev === ours.dev && theirs.ino === ours.ino;
}

function readLines(path: string): string[] | undefined {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return undefined;
  }
}
