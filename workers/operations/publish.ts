import { DEFAULT_CHANNEL } from '#publications/model.ts';
import { hasMediaFor, publishElements } from '#publications/publishing.ts';
import { FILENAME, writeCatalog } from './catalog.ts';
import type { Operation } from './operation.ts';

/**
 * Makes what earlier operations prepared public on `channel`, with the event's catalog as it is now. Run again with
 * nothing newly prepared, it brings the catalog of an existing publication up to date; an event without media gets no
 * publication.
 */
export const publish: Operation = {
  name: 'publish',
  publishes: true,
  lane: 'light',
  async run({ eventId, configuration, database, folder, log, store }) {
    const channel = configuration.channel || DEFAULT_CHANNEL;
    if (!(await hasMediaFor(database, eventId, channel))) {
      log.info({ channel }, 'the event has no media; nothing to publish');
      return async () => undefined;
    }
    const catalog = await store(await writeCatalog(database, eventId, folder), 'text/xml');
    return (trx) => publishElements(trx, { eventId, channel, catalog: { ...catalog, filename: FILENAME } });
  },
};
