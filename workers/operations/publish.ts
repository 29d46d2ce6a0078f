import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { episodeValues } from '#catalogue/events/event-columns.ts';
import { dublinCore } from '#metadata/dublincore.ts';
import { EPISODE } from '#metadata/episode-fields.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { DEFAULT_CHANNEL } from '#publications/publication.ts';
import {
  channelsOf,
  hasMediaFor,
  hasMediaForEarly,
  publishElements,
  republishCatalog,
  retractPublications,
} from '#publications/publish.ts';
import type { Operation, StoredFile } from './operation.ts';

const FILENAME = 'dublincore.xml';

/** Writes the event's current catalog to a file. */
async function writeCatalog(database: Database, eventId: string, folder: string) {
  const event = await database.selectFrom('events').selectAll().where('id', '=', eventId).executeTakeFirstOrThrow();
  const path = join(folder, FILENAME);
  await writeFile(path, dublinCore(EPISODE, episodeValues(event)));
  return { path, version: event.archive_version };
}

/** The storage may have been away for hours. @throws an error if the event changed since its catalog was written */
async function requireVersion(trx: Transaction, eventId: string, version: number): Promise<void> {
  const event = trx.selectFrom('events').select('archive_version').where('id', '=', eventId).forShare();
  if ((await event.executeTakeFirst())?.archive_version === version) return;
  throw Object.assign(new Error('The event changed while its catalog was being stored.'), { ours: true });
}

/**
 * Publishes the elements that earlier operations prepared on `channel`, with the event's current catalog. If nothing
 * new is prepared, updates the catalog of the existing publication. An event without media is not published. With
 * `early: true`, the workflow will publish again, with more renditions or previews; until then, what others have
 * published stays.
 */
export const publish: Operation = {
  name: 'publish',
  publishes: true,
  lane: 'light',
  async run({ eventId, workflowId, configuration, database, folder, log, store }) {
    const channel = configuration.channel || DEFAULT_CHANNEL;
    const isPartial = configuration.early === 'true';
    const hasMedia = isPartial
      ? await hasMediaForEarly(database, { eventId, channel, workflowId })
      : await hasMediaFor(database, eventId, channel);
    if (!hasMedia) {
      log.info({ channel }, isPartial ? 'there is nothing to publish early' : 'the event has no media to publish');
      return async () => undefined;
    }
    const { path, version } = await writeCatalog(database, eventId, folder);
    const catalog = { ...(await store(path, 'text/xml')), filename: FILENAME };
    return async (trx) => {
      await requireVersion(trx, eventId, version);
      await publishElements(trx, { eventId, channel, catalog, earlyOf: isPartial ? workflowId : undefined });
    };
  },
};

/**
 * Replaces the event's catalog in every publication, including the internal one, by the current metadata. Newly
 * prepared elements stay unpublished, and so does an event without publications.
 */
export const republish: Operation = {
  name: 'republish',
  lane: 'light',
  async run({ eventId, database, folder, log, store }) {
    const channels = await channelsOf(database, eventId);
    log.info({ channels }, 'renewing the catalogs of publications');
    if (channels.length === 0) return async () => undefined;
    const { path, version } = await writeCatalog(database, eventId, folder);
    const stored: [channel: string, file: StoredFile][] = [];
    for (const channel of channels) stored.push([channel, await store(path, 'text/xml')]);
    return async (trx) => {
      await requireVersion(trx, eventId, version);
      for (const [channel, file] of stored) {
        await republishCatalog(trx, { eventId, channel, catalog: { ...file, filename: FILENAME } });
      }
    };
  },
};

/** Removes the publication on `channel` with its objects, or all publications of the event if `channel` is not set. */
export const retract: Operation = {
  name: 'retract',
  lane: 'light',
  async run({ eventId, configuration, log }) {
    const channel = configuration.channel || undefined;
    return async (trx) => {
      const removed = await retractPublications(trx, { eventId, channel });
      log.info({ channel, publications: removed }, 'publications removed');
    };
  },
};
