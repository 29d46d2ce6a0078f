import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { requireAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { withScheduleConflicts } from '#capture/schedules/schedule-conflicts.ts';
import { eventParams } from '#catalogue/events/endpoints/events.endpoints.ts';
import { FLAVOR, type NewTrack } from '#catalogue/events/event-files.ts';
import { EVENT_NOT_FOUND, RECORDED_ALREADY, TRACKS_LOCKED } from '#catalogue/events/event-refusals.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { defineEndpoint, type EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { TextFlag } from '#platform/http/endpoint/endpoint-schemas.ts';
import { type HttpError, refusal } from '#platform/http/errors/errors.ts';
import { detectTrackType } from '#platform/media/media-type.ts';
import { isActive } from '#processing/workflow-states.ts';
import { accept, type DoorServices } from '../accept.ts';
import type { ExistingTarget } from '../intake.ts';
import { receiveForm } from '../receive-form.ts';
import type { ReceivedFile } from '../staged-files.ts';
import { answerUploadFailure, UPLOAD_REFUSALS } from '../upload-failures.ts';

const TAG_LENGTH = 255;
const MOST_TAGS = 1000;
const NO_FLAVOR = 'the form must have a field flavor with a type and a subtype';

const UNPARSABLE_FLAVOR = refusal(
  400,
  (flavor: string, reason: string) => `Could not parse flavor ${flavor}; ${reason}`,
  ['captions', 'it must be a type and a subtype with one slash between them'],
);
const CANNOT_ADD = refusal(400, (reason: string) => `Could not add track: ${reason}`, [
  'the form holds no file in the part track.',
]);

const Flavor = z
  .string({ error: NO_FLAVOR })
  .trim()
  .min(1, { error: NO_FLAVOR, abort: true })
  .refine((text) => text.split('/').length === 2, {
    error: 'it must be a type and a subtype with one slash between them',
    abort: true,
  })
  .regex(FLAVOR, { error: 'its type and subtype must have 1 to 128 characters each and no blanks' });

const Tag = z
  .string()
  .max(TAG_LENGTH, { error: `a tag is longer than ${TAG_LENGTH} characters.`, abort: true })
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, { error: 'a tag contains a control character.' });

/** The fields of the form. Messages complete the sentences of `UNPARSABLE_FLAVOR` and `CANNOT_ADD`. */
const TrackForm = z.object({
  flavor: Flavor.meta({ description: 'The flavor of the track.', example: 'captions/source' }),
  tags: z
    .string()
    .optional()
    .transform((text = '') => [...new Set(text.split(',').map((tag) => tag.trim()))].filter((tag) => tag))
    .pipe(z.array(z.string()).max(MOST_TAGS, { error: `the maximum number of tags is ${MOST_TAGS}.` }))
    .pipe(z.array(Tag))
    .describe('Separated by commas.'),
  overwriteExisting: z
    .string()
    .trim()
    .optional()
    .pipe(TextFlag)
    .describe('`true` replaces the tracks of the flavor (and of the same `lang:` tag, if any).'),
});

type TrackRequest = z.infer<typeof TrackForm>;

/** Reads the form fields of a track. @throws {HttpError} 400 with the sentences clients know (compatibility 3.13) */
export function parseTrackRequest(fields: ReadonlyMap<string, string>): TrackRequest {
  const parsed = TrackForm.safeParse(Object.fromEntries(fields));
  if (parsed.success) return parsed.data;
  const { path = [], message = '' } = parsed.error.issues[0] ?? {};
  if (path[0] !== 'flavor') throw CANNOT_ADD(message);
  const shown = (fields.get('flavor') ?? '').trim().slice(0, 300).replaceAll(/\p{C}/gu, '');
  throw UNPARSABLE_FLAVOR(shown, message);
}

type Services = Omit<DoorServices, 'catalogs'>;

/**
 * Adds captions and other tracks to an existing event, also the recording of a scheduled one. A workflow that starts during
 * the transaction waits and then uses the new tracks.
 */
export const addTrack = defineEndpoint({
  method: 'post',
  path: '/api/events/{event_id}/track',
  access: apiRole('EVENTS_TRACK_EDIT'),
  summary: 'Add a track to an event',
  description:
    'For example captions. Starts no workflow, except for the recording of a scheduled event. With `overwriteExisting` and without a file, the matching tracks are removed.',
  params: eventParams,
  form: {
    streams: ['track'],
    schema: TrackForm.extend({
      track: z.string().optional().meta({
        description: 'The file, a part with a file name.',
        contentMediaType: 'application/octet-stream',
      }),
    }),
    example: {
      flavor: 'captions/source',
      tags: 'archive,subtitle,type:subtitle,generator-type:manual,lang:de',
      overwriteExisting: 'true',
    },
  },
  answers: { 200: { description: 'The track was added.' } },
  refusals: [UNPARSABLE_FLAVOR, CANNOT_ADD, EVENT_NOT_FOUND, TRACKS_LOCKED, RECORDED_ALREADY, ...UPLOAD_REFUSALS],
  handle: (request, services: Services) =>
    receiveTrack(request, request.params.event_id, services).catch((error) => answerUploadFailure(request.c, error)),
});

async function receiveTrack(request: EndpointRequest, id: string, services: Services): Promise<Response> {
  const { c } = request;
  const { principal, requestId, log } = c.var;
  const { database } = services;
  // Before the body is read, so that a refused client need not send it.
  await requireIdleEvent(database, principal, id);
  await using form = await receiveForm(request, { detect: detectTrackType, reword }, services);
  const wanted = parseTrackRequest(form.fields);
  const tracks = tracksOf(form.files, wanted);
  const target: ExistingTarget = {
    kind: 'existing',
    id,
    edits: {},
    takes: { kind: 'tracks', replaced: wanted.overwriteExisting ? wanted : undefined },
    refusals: { missing: EVENT_NOT_FOUND, processing: TRACKS_LOCKED },
  };
  const intake = { principal, requestId, target, tracks };
  const { removed } = await withScheduleConflicts(database, principal, (trx) => accept(trx, intake, services));
  form.keep();
  log.info({ eventId: id, tracks: tracks.length, removed, bytes: tracks[0]?.size ?? 0 }, 'tracks changed');
  return c.body(null, 200);
}

/** Refuses an event whose tracks cannot be changed now. `accept` checks again, because this may change during the upload. */
async function requireIdleEvent(db: Queryable, principal: Principal, id: string): Promise<void> {
  await requireAccess(db, 'events', principal, id, 'write', EVENT_NOT_FOUND);
  const event = await db.selectFrom('events').select('processing_state').where('id', '=', id).executeTakeFirst();
  if (event && isActive(event.processing_state)) throw TRACKS_LOCKED(id);
}

/** Returns the only file of the form; none is allowed only with `overwriteExisting`. @throws {HttpError} 400 */
function tracksOf(files: readonly ReceivedFile[], { flavor, tags, overwriteExisting }: TrackRequest): NewTrack[] {
  if (files.length > 1) throw CANNOT_ADD('the form holds more than one file in the part track.');
  if (files.length === 0 && !overwriteExisting) throw CANNOT_ADD('the form holds no file in the part track.');
  return files.map(({ field, ...file }) => ({ ...file, id: randomUUID(), flavor, tags }));
}

/** Rewords refusals of broken forms and of other content types. */
function reword(refusal: HttpError): HttpError {
  if (![400, 415].includes(refusal.status)) return refusal;
  return CANNOT_ADD(refusal.message).with(refusal.headers);
}
