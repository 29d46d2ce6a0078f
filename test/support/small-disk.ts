import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Only root may mount, and not even root in most containers. */
export const mountable = await run('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'inlet-test', '/tmp']).then(
  () => true,
  () => false,
);

/** Mounts a disk of so many MiB over a folder. @returns a function that unmounts it */
export async function smallDisk(folder: string, mebibytes: number): Promise<() => Promise<unknown>> {
  await mkdir(folder, { recursive: true });
  await run('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'inlet-test', folder]);
  return () => run('umount', ['--lazy', folder]);
}

export async function growDisk(folder: string, mebibytes: number): Promise<void> {
  await run('mount', ['-o', `remount,size=${mebibytes}m`, folder]);
}

/** Fills a disk to its last byte. @returns a function that makes room again */
export async function fillDisk(folder: string): Promise<() => Promise<void>> {
  const inTheWay = join(folder, 'in-the-way');
  // It ends with an error when there is no space left.
  await run('dd', ['if=/dev/zero', `of=${inTheWay}`, 'bs=64k']).catch(() => undefined);
  return () => rm(inTheWay);
}
