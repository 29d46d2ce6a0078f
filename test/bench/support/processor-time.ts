import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** What a second of the processor has in /proc, on every Linux that Node runs on. */
const TICKS = 100;

/** Processor seconds a process has taken so far, its own and the system's for it. */
export function processorSeconds(pid: number): number {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path))
    return clock(execFileSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' }));
  // The name, which comes second, may hold anything.
  const fields = readFileSync(path, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** `1:02.50` or `01:02:03` in seconds. */
function clock(text: string): number {
  return text
    .trim()
    .split(':')
    .reduce((seconds, part) => seconds * 60 + Number(part), 0);
}
