import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

const INTEGRATION = '{src,workers}/**/*.integration.test.ts';
/** Whatever the embedded server's code does, it does to processes. */
const PROCESSES = 'src/database/embedded/**/*.test.ts';

export default defineConfig({
  test: {
    testTimeout: 180_000,
    hookTimeout: 240_000,
    // A second, which vitest waits for what comes later, is not long on a busy machine.
    expect: { poll: { timeout: 30_000 } },
    // One more than there are cores, for those that wait. No more: the processes that tests start share them.
    maxWorkers: availableParallelism() + 1,
    // Loading what is tested takes longer than most files do; they share it. What a test changes, it puts back.
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{src,workers}/**/*.test.ts', 'test/*.test.ts'],
          exclude: [INTEGRATION, PROCESSES],
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: [INTEGRATION, PROCESSES, 'test/{contract,integration}/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
          setupFiles: ['test/support/cheap-passwords.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
    ],
  },
});
