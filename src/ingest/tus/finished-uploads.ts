import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Principal } from '#access/principal.ts';
import { EVENT_ID } from '#catalogue/events/event-examples.ts';
import { FLAVOR, type NewTrack } from '#catalogue/events/event-files.ts';
import { parseJson } from '#metadata/parse-metadata.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { jsonText } from '#platform/http/endpoint/endpoint-schemas.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { commitOwned, StagingExpired } from '#platform/storage/staging-sweep.ts';
import { FLAVORS, flavorOf } from '../event-form.ts';
import type { UploadOf } from '../intake.ts';
import { ownerOf } from './tus-uploads.ts';

const MOST = 10;
const EXAMPLE_ID = '0Zb1cUuY4mWkqS3eX7tFvJ9hNpLrDaGi';
const FIELDS = Object.keys(FLAVORS);
const NO_ID = 'it must be the last segment of the URL of an upload';
const NO_UPLOAD_OF = "it must be an object with an 'id' and a 'field' or 'flavor'";
const NO_LIST = "it must be a JSON array of objects with an 'id' and a 'field' or 'flavor'";

const UNPARSABLE_UPLOADS = refusal(400, (reason: string) => `The part 'uploads' cannot be read: ${reason}.`, [NO_LIST]);
export const NO_UPLOAD = refusal(404, (id: string) => `The upload '${id}' does not exist or has expired.`, [
  EXAMPLE_ID,
]);
const UPLOAD_UNFINISHED = refusal(
  400,
  (id: string, offset: number, length: number | null) =>
    `The upload '${id}' is not finished: ${offset} of ${length ?? 'an unknown number of'} bytes were received.`,
  [EXAMPLE_ID, 5_242_880, 10_485_760],
);
const UPLOAD_USED = refusal(409, (id: string) => `The upload '${id}' is already part of an event.`, [EXAMPLE_ID]);
const UPLOAD_EMPTY = refusal(400, (id: string) => `The upload '${id}' is empty.`, [EXAMPLE_ID]);
const UPLOAD_WITHOUT_FLAVOR = refusal(
  400,
  (id: string) =>
    `The upload '${id}' was created without a 'flavor'; a 'field' (presenter, presentation or audio) or a 'flavor' is required.`,
  [EXAMPLE_ID],
);
export const NOT_AWAITED = refusal(
  409,
  (event: string) => `The event '${event}' awaits no recording; the uploads were not used.`,
  [EVENT_ID],
);
export const FINISHED_UPLOADS_REFUSALS = [
  ...[UNPARSABLE_UPLOADS, NO_UPLOAD, UPLOAD_UNFINISHED, UPLOAD_USED, UPLOAD_EMPTY, UPLOAD_WITHOUT_FLAVOR],
];

const Upload = z
  .object(
    {
      id: z
        .string(NO_ID)
        .regex(/^[\w-]{1,64}$/, NO_ID)
        .describe('The last segment of the URL of the upload.'),
      field: z
        .enum(FIELDS, `it must be one of ${FIELDS.join(', ')}`)
        .optional()
        .describe('The form field whose flavor the track gets.'),
      flavor: z
        .string()
        .regex(FLAVOR, 'it must have the form type/subtype')
        .optional()
        .describe('The flavor of the track; by default, if `field` is absent as well, that of the upload.'),
    },
    NO_UPLOAD_OF,
  )
  .refine((named) => !(named.field && named.flavor), "it must have either a 'field' or a 'flavor', not both");
const Uploads = z
  .array(Upload, NO_LIST)
  .max(MOST, `it names more than ${MOST} uploads`)
  .refine((all) => new Set(all.map(({ id }) => id)).size === all.length, 'it names an upload twice')
  .meta({ id: 'FinishedUploads', example: [{ id: EXAMPLE_ID, field: 'presenter' }] });

/** The form field that names finished uploads. */
export const uploadsPart = jsonText(Uploads, 'Finished uploads that become tracks, after those in file parts.');

/**
 * Reads the form field `uploads`; an empty one counts as absent.
 *
 * @throws {HttpError} 400
 */
export function parseUploads(fields: ReadonlyMap<string, string>): UploadOf[] {
  const text = fields.get('uploads')?.trim();
  if (!text) return [];
  const parsed = Uploads.safeParse(parseJson(text, () => UNPARSABLE_UPLOADS(NO_LIST)));
  if (!parsed.success) {
    const { path = [], message = '' } = parsed.error.issues[0] ?? {};
    throw UNPARSABLE_UPLOADS([...path.map((step) => `${String(step)}:`), message].join(' '));
  }
  return parsed.data.map(({ id, field, flavor }) => ({ id, flavor: field ? flavorOf(field) : flavor }));
}

/**
 * Makes tracks of uploads for an event that the same transaction writes: their objects leave the staging ledger. Call
 * `assignUploads` afterwards, so that no other event can use them.
 *
 * @returns the tracks, in the order of the uploads
 * @throws {HttpError} 404 if an upload does not exist for the account, 400 if it is not finished, 409 if another event has
 * it; the transaction must roll back
 */
export async function takeUploads(
  trx: Transaction,
  uploads: readonly UploadOf[],
  principal: Principal,
): Promise<NewTrack[]> {
  const taken = new Map<string, NewTrack>();
  // Sorted, so that two requests for the same uploads do not deadlock.
  for (const upload of [...uploads].sort((a, b) => (a.id < b.id ? -1 : 1)))
    taken.set(upload.id, await takeOne(trx, upload, principal));
  return uploads.map(({ id }) => taken.get(id) as NewTrack);
}

/** Assigns uploads to the event that has their tracks. */
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
