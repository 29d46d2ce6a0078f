import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { episodeValues } from '#catalogue/events/columns.ts';
import { dublinCore } from '#metadata/dublincore.ts';
import { EPISODE } from '#metadata/episode.ts';
import type { Database } from '#platform/database/kysely.ts';

/** What the catalog of an event is called where it is published. */
export const FILENAME = 'dublincore.xml';

/** Writes the event's catalog as it is now. @returns the path of the file */
export async function writeCatalog(database: Database, eventId: string, folder: string): Promise<string> {
  const event = await database
    .selectFrom('events')
    .selectAll()
    .where('id', '=', eventId)
    .executeTakeFirstOrThrow();
  const path = join(folder, FILENAME);
  await writeFile(path, dublinCore(EPISODE, episodeValues(event)));
  return path;
}
