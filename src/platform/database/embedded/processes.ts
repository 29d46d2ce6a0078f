import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

const STATE = 0;
const START_TIME = 19;
/** Where the system does not say. */
const UNKNOWN = '0';

/**
 * When the running process with this number started, in a unit of the system, which tells it from a later one that
 * gets its number; an execve does not change it. Undefined when there is none, or only its unburied remains (a zombie).
 */
export function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command's name comes before, and may itself hold blanks and brackets.
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

/**
 * Enters a process in a folder, and removes what dead ones left there. The entry counts as long as the process lives; it
 * need not be taken back.
 *
 * @returns takes the entry back
 */
export function register(folder: string, pid = process.pid): () => void {
  mkdirSync(folder, { recursive: true });
  for (const name of entries(folder)) if (!lives(name)) rmSync(join(folder, name), { recursive: true, force: true });
  const entry = mkdtempSync(join(folder, `${pid}-${startTime(pid)}-`));
  return () => rmSync(entry, { recursive: true, force: true });
}

/** The numbers of the living processes entered in a folder, as far as they can be seen from this container. */
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
