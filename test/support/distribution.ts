import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { debianPostgresAvailable } from './debian-postgres.ts';

/** The folder of the search path that has a program. */
function folderOf(program: string): string | undefined {
  return (process.env.PATH ?? '').split(delimiter).find((folder) => existsSync(join(folder, program)));
}

/**
 * Whether tests can run on the distribution's PostgreSQL and ffmpeg here.
 *
 * @throws {Error} in CI, where they must
 */
export function distributionAvailable(): boolean {
  if (folderOf('ffmpeg') && folderOf('ffprobe')) return debianPostgresAvailable();
  if (process.env.CI) throw new Error('ffmpeg and ffprobe are not on PATH; in CI their tests may not be skipped.');
  return false;
}
