import { join } from 'node:path';
import type { Config } from '#platform/config/config.ts';

/** Returns the folder for temporary files: TMPDIR or one of Inlet, because the system's may be small or read-only. */
export function temporaryFolder({ TMPDIR }: NodeJS.ProcessEnv, { dataDir }: Pick<Config, 'dataDir'>): string {
  return TMPDIR || join(dataDir, 'tmp');
}
