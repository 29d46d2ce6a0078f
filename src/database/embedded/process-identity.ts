import { readFileSync } from 'node:fs';

/** A process, told apart from a later one that got the same number. */
export interface ProcessIdentity {
  pid: number;
  /** When it started, in a unit of the system; `0` where the system does not say. */
  started: string;
}

const STATE = 0;
const START_TIME = 19;

/** The running process with this number; undefined when there is none, or only its unburied remains (a zombie). */
export function identify(pid: number): ProcessIdentity | undefined {
  const fields = procStat(pid);
  if (fields) {
    return fields[STATE] === 'Z' || fields[STATE] === 'X'
      ? undefined
      : { pid, started: fields[START_TIME] ?? '0' };
  }
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return undefined;
  }
  return { pid, started: '0' };
}

/** Whether that very process still runs. It does not change by an execve. */
export function isAlive(identity: ProcessIdentity): boolean {
  const now = identify(identity.pid);
  if (!now) return false;
  return now.started === identity.started || now.started === '0' || identity.started === '0';
}

/** The fields of /proc/PID/stat after the command's name, which may itself hold blanks and brackets. */
function procStat(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
