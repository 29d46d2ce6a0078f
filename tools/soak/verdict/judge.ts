import type { Upload } from '../uploads/upload.ts';
import type { World } from '../world/world.ts';
import { abandonedGo } from './abandoned.ts';
import { type Finding, finding } from './finding.ts';
import { objectsAreRows } from './objects.ts';
import { nothingIsStuck } from './rest.ts';
import { allEnd, allPublished, noOthers, troublesFailed, unexplained } from './uploads.ts';

/** What holds after everything has been mended. Waits as long as that may take. */
export async function judge(world: World, uploads: readonly Upload[]): Promise<Finding[]> {
  const accepted = uploads.filter(({ id }) => id !== undefined);
  return [
    await finding('both APIs are ready again', async () => {
      await world.ready();
      return [];
    }),
    await finding('every accepted upload ends', () => allEnd(world, accepted)),
    await finding('every accepted upload is published once and whole', () => allPublished(world, accepted)),
    await finding('every recording that the tools cannot process fails with a reason', () =>
      troublesFailed(world, accepted),
    ),
    await finding('what was not accepted is no event, or one that was published', () => noOthers(world, uploads)),
    await finding('nothing was refused for no reason', async () => unexplained(uploads)),
    await finding('uploads that were given up can be taken back', () => abandonedGo(world)),
    await finding('nothing is at work, queued or locked', () => nothingIsStuck(world)),
    await finding('every object is a row, with its size and digest', () => objectsAreRows(world)),
    await finding('processes end only when told, and then do', async () => unasked(world)),
  ];
}

function unasked({ processes }: World): string[] {
  return processes.flatMap(({ name, crashes, hangs }) => [...crashes, ...hangs].map((what) => `${name}: ${what}`));
}
