import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expectNothingLeftOver } from '../../../test/support/leftovers.ts';
import type { World } from '../world/world.ts';

const INLET = fileURLToPath(new URL('../../../src/cli/inlet.ts', import.meta.url));
/** What nobody holds any more is swept after a few minutes. */
const SWEPT_MS = 300_000;
const SHOWN = 2_000;

/** Whether every object belongs to a row, and every row has its object with its size and its digest. */
export async function objectsAreRows(world: World): Promise<string[]> {
  await expectNothingLeftOver(world, { timeoutMs: SWEPT_MS });
  return verified(world);
}

/** As operators see it. */
async function verified({ directEnv }: World): Promise<string[]> {
  const { PATH, HOME } = process.env;
  const run = promisify(execFile)(process.execPath, [INLET, 'verify', '--digests'], {
    env: { PATH, HOME, ...directEnv },
  });
  return run.then(
    () => [],
    ({ stdout, stderr, code }) => [`inlet verify --digests ended with ${code}: ${`${stdout}${stderr}`.slice(-SHOWN)}`],
  );
}
