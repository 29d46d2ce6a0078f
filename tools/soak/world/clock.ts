import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Debian's package libfaketime. */
const LIBRARY = ['x86_64', 'aarch64']
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`)
  .find((path) => existsSync(path));

/**
 * The time of day as some processes see it. Their monotonic clock, by which they wait, goes on as it does when an
 * operator or NTP sets the time.
 */
export interface SoakClock {
  /** In words, for reports. */
  whose: string;
  /** What makes a process see it. */
  env: Record<string, string>;
  /** Moves it this far from the real one. */
  step(seconds: number): void;
}

/** @returns undefined where the library that it takes is not installed */
export function createClock(folder: string, whose: string): SoakClock | undefined {
  if (!LIBRARY) return undefined;
  const file = join(folder, 'clock');
  const step = (seconds: number) => writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}s\n`);
  step(0);
  const env = {
    LD_PRELOAD: LIBRARY,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    FAKETIME_DONT_RESET: '1',
  };
  return { whose, env, step };
}
