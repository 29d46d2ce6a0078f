/**
 * The three tiers of the tests, readable from the name of a file: `*.storm.test.ts` and what is below `tools/` are
 * storms, `*.full.test.ts` belongs to the full tier, every other `*.test.ts` to the quick one. Globs are relative to the
 * project's folder.
 */
export const STORMS = ['{src,workers,test}/**/*.storm.test.ts', 'tools/**/*.test.ts'];
export const FULL = ['{src,workers,test}/**/*.full.test.ts'];
/** Beside the code, without a database or a process of their own. */
export const UNIT = ['{src,workers}/**/*.test.ts', 'test/*.test.ts'];
/** With a database, with processes, or over HTTP. The embedded server's own code does nothing but start processes. */
export const QUICK = [
  '{src,workers}/**/*.integration.test.ts',
  'src/platform/database/embedded/**/*.test.ts',
  'test/{contract,integration,e2e}/**/*.test.ts',
];

export type Tier = 'quick' | 'full' | 'storms';

/** The tier of a file, or of a suite that a file runs, by its path from the project's folder. */
export function tierOf(path: string): Tier {
  if (path.startsWith('tools/') || path.includes('.storm.')) return 'storms';
  return path.includes('.full.') ? 'full' : 'quick';
}

/** What a project of vitest takes and leaves out, so that each file is in exactly one tier. */
export const TIERS = {
  unit: { include: UNIT, exclude: [...QUICK, ...FULL, ...STORMS] },
  quick: { include: QUICK, exclude: [...FULL, ...STORMS] },
  full: { include: FULL, exclude: [] as string[] },
  storms: { include: STORMS, exclude: [] as string[] },
};

/**
 * What runs again with the ffmpeg and the PostgreSQL of this machine's distribution: tests of media and those that
 * depend most on the database.
 */
export const DISTRIBUTION = {
  include: [
    '{src,workers,test}/**/media*.test.ts',
    'test/contract/queue.test.ts',
    'test/integration/{migrations,event-list,schedules,schedules-races}.test.ts',
    'src/platform/database/transactions.integration.test.ts',
  ],
  exclude: STORMS,
};
