import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { distributionAvailable } from '#test/support/distribution.ts';
import { LongestFirst } from '#test/support/longest-first.ts';
import { DISTRIBUTION, TIERS } from '#test/tiers.ts';

/** A database server and media tools for the whole run, and what each worker needs to reach them. */
const SERVICES = {
  globalSetup: ['test/support/global-setup.ts'],
  setupFiles: ['test/support/worker-setup.ts'],
};
/** Asked for only where it is to run: in CI its absence is an error. */
const distribution = process.argv.includes('distribution') && distributionAvailable();
const HANGS = { testTimeout: 180_000, hookTimeout: 240_000 };

export default defineConfig({
  test: {
    // Whatever a test waits for has a limit of 20 s (`eventually`); a busy machine may need more for several such steps.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // vitest waits one second by default, which is not long on a busy machine.
    expect: { poll: { timeout: 20_000 } },
    // Two more than there are cores: half of what tests do is waiting for a database, a process or a tool.
    maxWorkers: availableParallelism() + 2,
    // Loading what is tested takes longer than most files do; they share it. What a test changes, it puts back.
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { name: 'unit', ...TIERS.unit } },
      { extends: true, test: { name: 'quick', ...SERVICES, ...TIERS.quick } },
      { extends: true, test: { name: 'full', ...HANGS, ...SERVICES, ...TIERS.full } },
      { extends: true, test: { name: 'storms', ...HANGS, ...SERVICES, ...TIERS.storms } },
      {
        extends: true,
        test: {
          name: 'distribution',
          ...HANGS,
          ...SERVICES,
          ...(distribution ? DISTRIBUTION : { include: [] }),
        },
      },
    ],
  },
});
