import type { Upload } from '../uploads/upload.ts';
import type { Vitals } from '../world/vitals.ts';
import type { World } from '../world/world.ts';
import { type Finding, finding } from './finding.ts';
import { objectsAreRows } from './objects.ts';
import { nothingIsStuck } from './rest.ts';
import { allEnd, allPublished, noOthers, troublesFailed, unexplained } from './uploads.ts';

const GROWTH = { share: 1.5, mib: 64, handles: 12 };
const AT_REST = 0.15;

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
    await finding('what was not accepted is no event, or one that was published', () =>
      noOthers(world, uploads),
    ),
    await finding('nothing was refused for no reason', async () => unexplained(uploads)),
    await finding('nothing is at work, queued or locked', () => nothingIsStuck(world)),
    await finding('every object is a row, with its size and digest', () => objectsAreRows(world)),
    await finding('processes end only when told, and then do', async () => unasked(world)),
  ];
}

function unasked({ processes }: World): string[] {
  return processes.flatMap(({ name, crashes, hangs }) =>
    [...crashes, ...hangs].map((what) => `${name}: ${what}`),
  );
}

/** What has grown or spins. */
export function judgeVitals(
  names: readonly string[],
  before: readonly Vitals[],
  after: readonly Vitals[],
): Finding {
  const faults = names.flatMap((name, i) => {
    const [then, now] = [before[i], after[i]];
    if (!then || !now) return [`${name}: unknown`];
    return [
      now.mib > Math.max(then.mib * GROWTH.share, then.mib + GROWTH.mib) &&
        `${name}: ${then.mib} MiB, now ${now.mib}`,
      now.handles > then.handles + GROWTH.handles &&
        `${name}: ${then.handles} open files, now ${now.handles}`,
      now.load > AT_REST && `${name}: ${Math.round(now.load * 100)} % of a core at rest`,
    ].filter((fault) => fault !== false);
  });
  return { what: 'the processes are as small and idle as at first', faults };
}
