import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const SAMPLE_MS = 50;

/** Watches how much memory a process holds. */
export interface MemoryWatch {
  /** Largest resident size so far in bytes. */
  peak(): number;
  stop(): void;
}

/** Linux remembers the peak itself; elsewhere the process is looked at many times a second. */
export function watchMemory(pid: number): MemoryWatch {
  if (existsSync(`/proc/${pid}/status`)) {
    return { peak: () => kernelSize(pid, 'VmHWM'), stop: () => undefined };
  }
  let highest = residentNow(pid);
  const timer = setInterval(() => {
    highest = Math.max(highest, residentNow(pid));
  }, SAMPLE_MS);
  return { peak: () => highest, stop: () => clearInterval(timer) };
}

/** Resident size of a process in bytes. */
export function residentNow(pid: number): number {
  if (existsSync(`/proc/${pid}/status`)) return kernelSize(pid, 'VmRSS');
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) * 1024;
}

function kernelSize(pid: number, which: 'VmHWM' | 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const [, kib] = new RegExp(`^${which}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
  return Number(kib) * 1024;
}
