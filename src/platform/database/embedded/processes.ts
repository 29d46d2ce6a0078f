import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
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
  for (const name of entries(folder))
    if (!lives(name)) rmSync(join(folder, name), { recursive: true, force: true });
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
