import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Principal } from '#access/principal.ts';
import { EVENT_ID } from '#catalogue/events/examples.ts';
import { FLAVOR } from '#catalogue/events/flavor.ts';
import type { NewTrack } from '#catalogue/events/tracks.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { jsonText } from '#platform/http/endpoint/schemas.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { commitOwned, StagingExpired } from '#platform/storage/staging-entries.ts';
import { FLAVORS, flavorOf } from '../event-form.ts';
import { ownerOf } from './uploads.ts';

/** An upload that is to become a track. */
export interface UploadOf {
  id: string;
  /** The flavor of the track; the one that the upload was begun with unless given. */
  flavor: string | undefined;
}

const MOST = 10;
const EXAMPLE_ID = '0Zb1cUuY4mWkqS3eX7tFvJ9hNpLrDaGi';
const FIELDS = Object.keys(FLAVORS);
const NO_ID = 'it must be the last part of the address of an upload';
const NO_UPLOAD_OF = "it must be an object with an 'id' and a 'field' or 'flavor'";
const NO_LIST = "it must be a JSON array of objects with an 'id' and a 'field' or 'flavor'";

export const UNPARSABLE_UPLOADS = refusal(400, (reason: string) => `The part 'uploads' cannot be read: ${reason}.`, [
  NO_LIST,
]);
export const NO_UPLOAD = refusal(
  404,
  (id: string) => `There is no upload '${id}': it has expired or was given up, or there never was one.`,
  [EXAMPLE_ID],
);
export const UPLOAD_UNFINISHED = refusal(
  400,
  (id: string, offset: number, length: number | null) =>
    `The upload '${id}' is not finished: ${offset} of ${length ?? 'an unknown number of'} bytes have come.`,
  [EXAMPLE_ID, 5_242_880, 10_485_760],
);
export const UPLOAD_USED = refusal(409, (id: string) => `The upload '${id}' is part of an event already.`, [
  EXAMPLE_ID,
]);
export const UPLOAD_EMPTY = refusal(400, (id: string) => `The upload '${id}' is empty.`, [EXAMPLE_ID]);
export const UPLOAD_WITHOUT_FLAVOR = refusal(
  400,
  (id: string) =>
    `The upload '${id}' needs a 'field' (presenter, presentation or audio) or a 'flavor', since it was begun without one.`,
  [EXAMPLE_ID],
);
export const NOT_AWAITED = refusal(
  409,
  (event: string) => `The event '${event}' awaits no recording; its uploads are left as they are.`,
  [EVENT_ID],
);
/** The refusals of a request that names finished uploads. */
export const FINISHED_UPLOADS_REFUSALS = [
  ...[UNPARSABLE_UPLOADS, NO_UPLOAD, UPLOAD_UNFINISHED, UPLOAD_USED, UPLOAD_EMPTY, UPLOAD_WITHOUT_FLAVOR],
];

const Upload = z
  .object(
    {
      id: z
        .string(NO_ID)
        .regex(/^[\w-]{1,64}$/, NO_ID)
        .describe('The last part of the address of the upload.'),
      field: z
        .enum(FIELDS, `it must be one of ${FIELDS.join(', ')}`)
        .optional()
        .describe('As which part it would have come.'),
      flavor: z
        .string()
        .regex(FLAVOR, 'it must be a type and a subtype with a slash between them')
        .optional()
        .describe('What it shows; without one and without a `field`, as it was begun.'),
    },
    NO_UPLOAD_OF,
  )
  .refine((named) => !(named.field && named.flavor), "it has a 'field' and a 'flavor', where one is needed");
const Uploads = z
  .array(Upload, NO_LIST)
  .max(MOST, `it names more than ${MOST} uploads`)
  .refine((all) => new Set(all.map(({ id }) => id)).size === all.length, 'it names an upload twice')
  .meta({ id: 'FinishedUploads', example: [{ id: EXAMPLE_ID, field: 'presenter' }] });

/** The form field that names finished uploads. */
export const uploadsPart = jsonText(
  Uploads,
  'Finished uploads that become tracks, beside and after those in parts with files.',
);

/**
 * Reads the form field `uploads`; an empty one counts as absent.
 *
 * @throws {HttpError} 400
 */
export function parseUploads(fields: ReadonlyMap<string, string>): UploadOf[] {
  const text = fields.get('uploads')?.trim();
  if (!text) return [];
  const parsed = Uploads.safeParse(parseJson(text));
  if (!parsed.success) {
    const { path = [], message = '' } = parsed.error.issues[0] ?? {};
    throw UNPARSABLE_UPLOADS([...path.map((step) => `${String(step)}:`), message].join(' '));
  }
  return parsed.data.map(({ id, field, flavor }) => ({ id, flavor: field ? flavorOf(field) : flavor }));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Makes tracks of uploads for an event that the same transaction writes: their objects leave the staging ledger. Call
 * `assignUploads` with the event then, so that no other can have them.
 *
 * @returns the tracks, in the order of the uploads
 * @throws {HttpError} 404 for one that does not exist for the account, 400 for one that is not finished, 409 for one that
 * was taken before; the transaction must roll back
 */
export async function takeUploads(
  trx: Transaction,
  uploads: readonly UploadOf[],
  principal: Principal,
): Promise<NewTrack[]> {
  const taken = new Map<string, NewTrack>();
  // In one order, so that two requests for the same uploads wait for each other instead of giving up.
  for (const upload of [...uploads].sort((a, b) => (a.id < b.id ? -1 : 1)))
    taken.set(upload.id, await takeOne(trx, upload, principal));
  return uploads.map(({ id }) => taken.get(id) as NewTrack);
}

/** Records which event has uploads that were taken. */
export async function assignUploads(trx: Transaction, uploads: readonly UploadOf[], eventId: string): Promise<void> {
  if (uploads.length === 0) return;
  const ids = uploads.map(({ id }) => id);
  await trx.updateTable('uploads').set({ event_id: eventId }).where('id', 'in', ids).execute();
}

async function takeOne(trx: Transaction, { id, flavor }: UploadOf, principal: Principal): Promise<NewTrack> {
  const row = await trx
    .selectFrom('uploads')
    .selectAll()
    .where('id', '=', id)
    .where('expires_at', '>', sql<Date>`now()`)
    .forUpdate()
    .executeTakeFirst();
  if (!row || (row.owner !== principal.username && !principal.isAdmin())) throw NO_UPLOAD(id);
  if (row.event_id !== null) throw UPLOAD_USED(id);
  const { mediatype, length, filename, object_key: objectKey, stored: size, sha256 } = row;
  if (mediatype === null) throw UPLOAD_UNFINISHED(id, size + row.rest_bytes, length);
  if (size === 0) throw UPLOAD_EMPTY(id);
  const wanted = flavor ?? row.flavor;
  if (wanted === null) throw UPLOAD_WITHOUT_FLAVOR(id);
  await commitOwned(trx, ownerOf(id), [objectKey]).catch((error) => {
    throw error instanceof StagingExpired ? NO_UPLOAD(id) : error;
  });
  return { id: randomUUID(), flavor: wanted, filename, mediatype, objectKey, size, sha256 };
}
