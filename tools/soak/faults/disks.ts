import { execFile } from 'node:child_process';
import { rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Fault } from '../plan.ts';

/** No byte is left on a disk. */
export function fullDisk(name: string, folder: string): Fault {
  const filler = join(folder, 'filler');
  return {
    name: `the disk for ${name} is full`,
    kind: `the disk for ${name} is full`,
    target: `disk for ${name}`,
    begin: async () => {
      const { bavail, bsize } = await statfs(folder);
      // Others write meanwhile: what cannot be had is as good.
      await promisify(execFile)('fallocate', ['-l', String(bavail * bsize), filler]).catch(() => undefined);
    },
    end: () => rm(filler, { force: true }),
  };
}
