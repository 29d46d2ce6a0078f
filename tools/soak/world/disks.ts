import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Cleanup } from '../../bench/support/cleanup.ts';

/** Enough for what a world keeps, and for what is encoded at once; little enough to be filled. */
const SIZES = { data: '1536m', work: '192m' } as const;

/**
 * Gives the data folder, and the workers' folder in it, disks of their own. Only root may mount, and not even root in
 * most containers.
 *
 * @returns where the disks are, by what they are for; none where one may not mount
 */
export function mountDisks(dataDir: string, cleanup: Cleanup): Record<string, string> {
  const work = join(dataDir, 'work');
  if (!mount(dataDir, SIZES.data, cleanup)) return {};
  mkdirSync(work);
  return mount(work, SIZES.work, cleanup) ? { data: dataDir, work } : { data: dataDir };
}

function mount(folder: string, size: string, cleanup: Cleanup): boolean {
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'inlet-soak', folder], { stdio: 'ignore' });
  } catch {
    return false;
  }
  cleanup.add(() => void execFileSync('umount', ['--lazy', folder]));
  return true;
}
