import type pg from 'pg';
import { z } from 'zod';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import { type FormParts, receiveForm } from '#ingest/receive-form.ts';
import type { Catalogs } from '#metadata/catalogs.ts';
import type { Config } from '#platform/config/config.ts';
import type { Database } from '#platform/database/kysely.ts';
import type { Locks } from '#platform/database/locks.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { badRequest, refusal } from '#platform/http/errors/errors.ts';
import { excerpt } from '#platform/text/excerpt.ts';
import { systemOf } from '../backup/backup.ts';
import { SourceError } from './catalogue-source.ts';
import { ITEM_KINDS, type ItemKind } from './folder-format.ts';
import { openSource } from './import-items.queries.ts';
import { copyItem } from './run-import.ts';
import { FilesNotSent, parseSentItem, type SentItem, SentItemSource } from './sent-item.ts';

type Services = FormParts & {
  config: Pick<Config, 'scheduling' | 'maxUploadBytes' | 'uploadIdleMs'>;
  database: Database;
  catalogs: Catalogs;
  pools: { usual: pg.Pool };
  locks: Pick<Locks, 'take'>;
};

/** Names this installation, so that another one finds out whether it can send its items here. */
export const receivingSystem = defineEndpoint({
  method: 'get',
  path: '/admin/import',
  access: ADMINISTRATORS,
  handle: async ({ c }, { pools }: Services) => c.json({ system: await systemOf(pools.usual) }),
});

const KINDS = { series: 'series', events: 'event', playlists: 'playlist', groups: 'group' } as const;
/** The names of files are unique, and their number is limited by the JSON. */
const LIMITS = { fieldBytes: 16 * 2 ** 20, fields: 1, files: 10_000 };

const LOCK_WAIT_MS = 20_000;
const LATER = { 'Retry-After': '30' };
const ARRIVES_ALREADY = refusal(503, 'Another request is sending this item. Try again later.', [], LATER);
const BROKEN_OFF = refusal(503, 'The database was lost while the item was copied. Try again later.', [], LATER);

const Query = z.object({
  source: z
    .string({ error: 'The parameter `source` is missing.' })
    .regex(
      /^[0-9a-f]{64}$/,
      'The parameter `source` must be the identifier of an installation: 64 hexadecimal digits.',
    ),
  theirs: z.enum(['true', 'false'], { error: 'The parameter `theirs` must be true or false.' }).default('false'),
});

/**
 * Copies an item of another Inlet, sent in the format of an exported folder: first its JSON, then its files. Sent without
 * the files that it needs, nothing is copied, and the answer names them.
 */
export const receiveItem = defineEndpoint({
  method: 'put',
  path: '/admin/import/{kind}/{item_id}',
  access: ADMINISTRATORS,
  query: Query,
  form: { schema: z.object({ item: z.string() }), streams: ['file'], example: { item: '{"identifier": "..."}' } },
  handle: async (request, services: Services) => {
    const { c, params } = request;
    const kind = ITEM_KINDS.find((each) => each === params.kind);
    if (!kind) throw badRequest(`The kind of the item must be one of ${ITEM_KINDS.join(', ')}.`);
    const { source, theirs } = request.query();
    let sent: SentItem | undefined;
    const onField = (name: string, value: string) => {
      if (name === 'item') sent = parseOrRefuse(kind, params.item_id, value);
    };
    const takes = async ({ filename }: { filename: string }) => {
      if (!sent) throw badRequest('The field `item` must come before the files.');
      if (sent.names.has(filename)) return 'store' as const;
      throw badRequest(`The field \`item\` does not name the file ${excerpt(filename)}.`);
    };
    await using form = await receiveForm(request, { onField, takes, most: LIMITS }, services);
    if (!sent) throw badRequest('The field `item` is missing.');
    const { config, database, storage, staging, catalogs, locks } = services;
    const from = new SentItemSource(`inlet:${source}`, sent, form.files, storage);
    const sourceId = await openSource(database, from.name);
    // A sender that has waited too long for the answer sends the item again.
    const broken = new AbortController();
    const holder = { onWanted: () => undefined, onLost: () => broken.abort(BROKEN_OFF()) };
    const lock = await locks.take(`inlet import ${sourceId} ${kind} ${params.item_id}`, holder, LOCK_WAIT_MS);
    if (!lock) throw ARRIVES_ALREADY();
    const copying = copyItem(KINDS[kind], sent.item, {
      ...{ source: from, sourceId, database, storage, staging, catalogs, theirs: theirs === 'true' },
      gapMs: config.scheduling.minGapMs,
      // A received item is copied even if its sender has left.
      signal: broken.signal,
    });
    const { state, reason, notes, ...rest } = await copying.catch(missingFiles).finally(() => lock.release());
    return c.json({ state, reason, notes, ...('missing' in rest && { missing: rest.missing }) });
  },
});

function missingFiles(error: unknown) {
  if (!(error instanceof FilesNotSent)) throw error;
  return { state: 'pending' as const, reason: error.message, notes: undefined, missing: error.names };
}

/** @throws {HttpError} */
function parseOrRefuse(kind: ItemKind, id: string, text: string): SentItem {
  try {
    return parseSentItem(kind, id, text);
  } catch (error) {
    throw error instanceof SourceError ? badRequest(error.message) : error;
  }
}
