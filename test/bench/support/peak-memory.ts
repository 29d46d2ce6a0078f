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
    return { peak: () => kernelPeak(pid), stop: () => undefined };
  }
  let highest = residentNow(pid);
  const timer = setInterval(() => {
    highest = Math.max(highest, residentNow(pid));
  }, SAMPLE_MS);
  return { peak: () => highest, stop: () => clearInterval(timer) };
}

function kernelPeak(pid: number): number {
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) * 1024;
}

function residentNow(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) * 1024;
}
