import { hostileContainers } from './containers.ts';
import { damaged } from './damaged.ts';
import type { Hostile } from './hostile.ts';
import { hostileMatroska } from './matroska.ts';
import { hostileMp4 } from './mp4.ts';
import { otherFiles } from './other-files.ts';
import { hostileSound } from './sound.ts';

export type { Hostile };

/**
 * The corpus of hostile media, made by code.
 *
 * @param outside the address of a server that nobody may ask, with a slash at its end
 */
export async function hostileMedia(outside: string): Promise<Hostile[]> {
  const files = await Promise.all([
    hostileMp4(outside),
    hostileMatroska(),
    hostileContainers(),
    hostileSound(),
    otherFiles(outside),
    damaged(),
  ]);
  return files.flat();
}
