import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from '../../src/database/kysely.ts';
import { episodeValues } from '../../src/events/columns.ts';
import { dublinCore } from '../../src/metadata/dublincore.ts';
import { EPISODE } from '../../src/metadata/episode.ts';

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
