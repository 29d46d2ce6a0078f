import type { Directory } from '#access/accounts/directory.ts';
import type { Launches } from '#access/launches/launches.ts';
import type { Sessions } from '#access/sessions/sessions.ts';
import type { Database } from '#platform/database/kysely.ts';
import { notFound } from '#platform/http/errors/errors.ts';
import type { PublicationAddresses } from '#publications/publication-json.ts';

export interface LaunchServices {
  /** Undefined without configured learning platforms. */
  launches: Launches | undefined;
  database: Database;
  directory: Directory;
  sessions: Sessions;
  addresses: PublicationAddresses;
}

/** The maximum length of forms: launches contain descriptions of courses. */
export const MAX_LAUNCH_BYTES = 256 * 1024;

/** Returns the services of launches. @throws {HttpError} 404 without configured learning platforms */
export function requireLaunches({ launches }: Pick<LaunchServices, 'launches'>): Launches {
  if (!launches) throw notFound();
  return launches;
}
