import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

const STATE = 0;
const START_TIME = 19;
/** Used on systems that do not report start times. */
const UNKNOWN = '0';

/**
 * Returns the start time of a running process, which distinguishes it from a later one with the same ID; an execve does
 * not change it. Undefined when no such process runs, or only its zombie is left.
 */
export function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the command comes first, and may contain blanks and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return /[ZX]/.test(fields[STATE] ?? '') ? undefined : fields[START_TIME];
  } catch {
    return answersSignals(pid) ? UNKNOWN : undefined;
  }
}

function answersSignals(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Registers a process in a folder until it exits, and removes entries of dead processes. @returns removes the entry */
export function register(folder: string, pid = process.pid): () => void {
  mkdirSync(folder, { recursive: true });
  for (const name of entries(folder)) if (!lives(name)) rmSync(join(folder, name), { recursive: true, force: true });
  const entry = mkdtempSync(join(folder, `${pid}-${startTime(pid)}-`));
  return () => rmSync(entry, { recursive: true, force: true });
}

/** Returns the IDs of the registered processes that live, as far as this container can see them. */
export function registered(folder: string): number[] {
  return entries(folder).filter(lives).map(numberIn);
}

function entries(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function lives(entry: string): boolean {
  const [, started = ''] = entry.split('-');
  return [started, UNKNOWN].includes(startTime(numberIn(entry)) ?? 'dead');
}

function numberIn(entry: string): number {
  return Number(entry.split('-')[0]);
}

/** Returns the server that runs on this cluster. It is not ready while it starts or stops. */
export function runningPostmaster(cluster: string): { port: number; ready: boolean } | undefined {
  const [pid, , , port, , , , status] = lines(join(cluster, 'postmaster.pid'));
  if (!Number(pid) || !startTime(Number(pid)) || !worksIn(Number(pid), cluster)) return undefined;
  return { port: Number(port), ready: status?.trim() === 'ready' };
}

/** Returns the port of the server that was last started on this cluster. */
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

/** Reports whether the process works in the cluster's folder, as a postmaster does; true where unknown. */
function worksIn(pid: number, cluster: string): boolean {
  if (process.platform !== 'linux') return true;
  try {
    const [theirs, ours] = [statSync(`/proc/${pid}/cwd`), statSync(cluster)];
    return theirs.dev === ours.dev && theirs.ino === ours.ino;
  } catch {
    // Root in a container may not read the link. Any other account can read it unless the process belongs to another
    // user.
    return process.getuid?.() === 0 && lines(`/proc/${pid}/comm`)[0] === 'postgres';
  }
}
