import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expectNothingLeftOver } from '../../support/leftovers.ts';
import type { World } from '../world/world.ts';

const INLET = fileURLToPath(new URL('../../../src/cli/inlet.ts', import.meta.url));
/** What nobody holds any more is swept after a few minutes. */
const SWEPT_MS = 300_000;
const SHOWN = 2_000;
/** Tables whose rows own an object each. */
const OWNERS = ['tracks', 'attachments', 'publication_elements'] as const;

/** Whether every object belongs to a row, and every row has its object with its size and its digest. */
export async function objectsAreRows(world: World): Promise<string[]> {
  await expectNothingLeftOver(world, { timeoutMs: SWEPT_MS });
  return existsSync(INLET) ? verified(world) : compared(world);
}

/** As operators see it. */
async function verified({ directEnv }: World): Promise<string[]> {
  const { PATH, HOME } = process.env;
  const run = promisify(execFile)(process.execPath, [INLET, 'verify', '--digests'], {
    env: { PATH, HOME, ...directEnv },
  });
  return run.then(
    () => [],
    ({ stdout, stderr, code }) => [
      `inlet verify --digests ended with ${code}: ${`${stdout}${stderr}`.slice(-SHOWN)}`,
    ],
  );
}

async function compared({ database, storage }: World): Promise<string[]> {
  const faults: string[] = [];
  for (const table of OWNERS) {
    const rows = await database.selectFrom(table).select(['object_key', 'size', 'sha256']).execute();
    for (const { object_key, size, sha256 } of rows) {
      const hash = createHash('sha256');
      let bytes = 0;
      for await (const chunk of await storage.get(object_key)) {
        hash.update(chunk);
        bytes += chunk.length;
      }
      if (bytes !== size) faults.push(`${table} ${object_key}: ${bytes} bytes instead of ${size}`);
      else if (sha256 !== null && hash.digest('hex') !== sha256)
        faults.push(`${table} ${object_key}: its digest is another one`);
    }
  }
  return faults;
}
