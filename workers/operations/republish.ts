import { channelsOf, republishCatalog } from '#publications/publishing.ts';
import { FILENAME, writeCatalog } from './catalog.ts';
import type { Operation, StoredFile } from './operation.ts';

/**
 * Replaces the event's catalog in every publication, the internal one as well, by the event's metadata as they are now.
 * What was prepared since stays unpublished, and an event that is published nowhere stays so.
 */
export const republish: Operation = {
  name: 'republish',
  lane: 'light',
  async run({ eventId, database, folder, log, store }) {
    const channels = await channelsOf(database, eventId);
    log.info({ channels }, 'publications whose catalogs are renewed');
    if (channels.length === 0) return async () => undefined;
    const path = await writeCatalog(database, eventId, folder);
    const stored: [channel: string, file: StoredFile][] = [];
    for (const channel of channels) stored.push([channel, await store(path, 'text/xml')]);
    return async (trx) => {
      for (const [channel, file] of stored) {
        await republishCatalog(trx, { eventId, channel, catalog: { ...file, filename: FILENAME } });
      }
    };
  },
};
