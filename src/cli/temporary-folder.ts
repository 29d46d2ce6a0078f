import { join } from 'node:path';
import type { Config } from '#platform/config/config.ts';

/** Where Inlet works on files: its own unless the environment names one, for the system's may be small or read-only. */
export function temporaryFolder({ TMPDIR }: NodeJS.ProcessEnv, { dataDir }: Pick<Config, 'dataDir'>): string {
  return TMPDIR || join(dataDir, 'tmp');
}
