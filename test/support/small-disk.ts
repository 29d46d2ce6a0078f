import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bytes } from './bytes.ts';

const run = promisify(execFile);
const MIB = 2 ** 20;

/** Only root may mount, and not even root in most containers. */
export const mountable = await run('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'inlet-test', '/tmp']).then(
  () => true,
  () => false,
);

/** Makes a folder a disk of so many MiB. @returns what takes the disk away */
export async function smallDisk(folder: string, mebibytes: number): Promise<() => Promise<unknown>> {
  await mkdir(folder, { recursive: true });
  await run('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'inlet-test', folder]);
  return () => run('umount', ['--lazy', folder]);
}

export async function growDisk(folder: string, mebibytes: number): Promise<void> {
  await run('mount', ['-o', `remount,size=${mebibytes}m`, folder]);
}

/** Leaves no room on a disk of so many MiB. @returns what makes room again */
export async function fillDisk(folder: string, mebibytes: number): Promise<() => Promise<void>> {
  const inTheWay = join(folder, 'in-the-way');
  await writeFile(inTheWay, bytes(mebibytes * MIB)).catch(() => undefined);
  return () => rm(inTheWay);
}
