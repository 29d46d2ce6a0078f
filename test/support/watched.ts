import type { ObservedPeriod } from '#platform/database/database-watch.ts';

/** What a process has seen that has watched the database for ages: only silence counts. */
export const FOR_AGES: ObservedPeriod = {
  since: new Date(0),
  get until() {
    return new Date();
  },
};
