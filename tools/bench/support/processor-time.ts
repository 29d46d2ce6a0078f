import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** What a second of the processor has in /proc, on every Linux that Node runs on. */
const TICKS = 100;
/** The least that is seen. */
export const TICK_SECONDS = 1 / TICKS;

/** Processor seconds a process has taken so far, its own and the system's for it. */
export function processorSeconds(pid: number): number {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path)) return clock(execFileSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' }));
  return statOf(pid).seconds;
}

/**
 * Processor seconds that a process and the children of it that live or have ended have taken so far.
 *
 * @throws Error without /proc
 */
export function familySeconds(pid: number): number {
  const { seconds, endedChildren } = statOf(pid);
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter(({ parent }) => parent === pid);
  return children.reduce((sum, child) => sum + child.seconds, seconds + endedChildren);
}

/** What Linux says of a process in /proc; all zero of one that has ended. */
export function statOf(pid: number) {
  const text = readIfThere(`/proc/${pid}/stat`);
  // The name, which comes second, may hold anything.
  const end = text.lastIndexOf(')');
  const fields = text.slice(end + 2).split(' ');
  const seconds = (first: number) => (Number(fields[first] ?? 0) + Number(fields[first + 1] ?? 0)) / TICKS;
  return {
    name: text.slice(text.indexOf('(') + 1, Math.max(0, end)),
    parent: Number(fields[1] ?? 0),
    seconds: seconds(11),
    endedChildren: seconds(13),
  };
}

/** A process may end at any time, also while its file is read. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** `1:02.50` or `01:02:03` in seconds. */
function clock(text: string): number {
  return text
    .trim()
    .split(':')
    .reduce((seconds, part) => seconds * 60 + Number(part), 0);
}
