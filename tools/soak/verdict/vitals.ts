import { handlesOf, type Vitals } from '../world/vitals.ts';
import type { Finding } from './finding.ts';

/** Memory beyond both of these is looked at again after further work. */
const GROWTH = { share: 1.5, mib: 64 };
/** It may stay, for what ran hot once has a larger heap, but grow no more than this, and be no more than that. */
const STAYS = { mib: 24, share: 2.5 };
const MORE_HANDLES = 12;
const AT_REST = 0.15;

/** Whether a process takes so much more than at first that it has to be looked at again, after further work. */
export function isSuspect(before: Vitals, after: Vitals): boolean {
  return isLarge(before, after) || keepsFiles(before, after);
}

function isLarge(before: Vitals, after: Vitals): boolean {
  return after.mib > Math.max(before.mib * GROWTH.share, before.mib + GROWTH.mib);
}

function keepsFiles(before: Vitals, after: Vitals): boolean {
  return handlesOf(after) > handlesOf(before) + MORE_HANDLES;
}

/**
 * What has grown or spins.
 *
 * @param looks at each process: at first, after everything, and once more when one of them was suspect
 */
export function judgeVitals(names: readonly string[], looks: readonly (readonly Vitals[])[]): Finding {
  const faults = names.flatMap((name, i) => {
    const [then, now, again = now] = looks.map((look) => look[i]);
    if (!then || !now || !again) return [`${name}: unknown`];
    const grows = isLarge(then, again) && (again.mib > now.mib + STAYS.mib || now === again);
    return [
      (grows || again.mib > then.mib * STAYS.share) &&
        `${name}: ${then.mib} MiB, then ${now.mib}, after further work ${again.mib}`,
      keepsFiles(then, again) &&
        `${name}: ${handlesOf(then)} open files, now ${handlesOf(again)}: ${more(then, again)}`,
      again.load > AT_REST && `${name}: ${Math.round(again.load * 100)} % of a core at rest`,
    ].filter((fault) => fault !== false);
  });
  return { what: 'the processes do not grow, and are as idle as at first', faults };
}

/** What there is more of. */
function more({ open: then }: Vitals, { open: now }: Vitals): string {
  const kinds = Object.entries(now).map(([kind, count]) => [kind, count - (then[kind] ?? 0)] as const);
  return kinds
    .filter(([, extra]) => extra > 0)
    .map(([kind, extra]) => `${extra} ${kind}`)
    .join(', ');
}
