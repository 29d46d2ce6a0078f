import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { openFiles } from './open-files.ts';

const PAGE_MIB = 4096 / 2 ** 20;
const TICKS_PER_SECOND = 100;
const WATCHED_MS = 10_000;

/** What a process takes while nothing is asked of it. */
export interface Vitals {
  mib: number;
  /** Open files and sockets, by kind. */
  open: Record<string, number>;
  /** Of one core, from 0. */
  load: number;
}

/** Watches processes for a while. Linux only. */
export async function vitalsOf(pids: readonly number[]): Promise<Vitals[]> {
  const before = pids.map(ticks);
  await pause(WATCHED_MS);
  return pids.map((pid, i) => ({
    mib: Math.round(Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_MIB),
    open: openFiles(pid),
    load: (ticks(pid) - (before[i] ?? 0)) / TICKS_PER_SECOND / (WATCHED_MS / 1000),
  }));
}

/** How many files and sockets are open. */
export function handlesOf({ open }: Pick<Vitals, 'open'>): number {
  return Object.values(open).reduce((sum, count) => sum + count, 0);
}

export function parentOf(pid: number): number {
  return Number(fields(pid)[1]);
}

export function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.filter((pid) => {
    try {
      return parentOf(pid) === parent;
    } catch {
      return false;
    }
  });
}

/** Processor time so far. */
function ticks(pid: number): number {
  const all = fields(pid);
  return Number(all[11]) + Number(all[12]);
}

/** What /proc says of a process, from its state on. */
function fields(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}
