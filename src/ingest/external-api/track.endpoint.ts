import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { requireAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { explainingConflicts } from '#capture/schedules/conflicts.ts';
import { eventParams } from '#catalogue/events/endpoints/events.endpoints.ts';
import { RECORDED_ALREADY, TRACKS_LOCKED, UNABLE_TO_FIND } from '#catalogue/events/refusals.ts';
import type { NewTrack } from '#catalogue/events/tracks.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { defineEndpoint, type EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import type { HttpError } from '#platform/http/errors/errors.ts';
import { detectTrackType } from '#platform/media/signature.ts';
import { isActive } from '#processing/states.ts';
import { accept, type DoorServices } from '../accept.ts';
import { answerFailure, UPLOAD_REFUSALS } from '../answer-failure.ts';
import type { ExistingTarget } from '../intake.ts';
import { receiveForm } from '../receive-form.ts';
import type { ReceivedFile } from '../staged-files.ts';
import {
  CANNOT_ADD,
  parseTrackRequest,
  TrackForm,
  type TrackRequest,
  UNPARSABLE_FLAVOR,
} from './track-form.ts';

type Services = Omit<DoorServices, 'catalogs'>;

/**
 * Captions and other tracks for an event that is there already, also the recording of a scheduled one. A workflow that
 * starts meanwhile waits, and then works with the new tracks.
 */
export const addTrack = defineEndpoint({
  method: 'post',
  path: '/api/events/{event_id}/track',
  access: apiRole('EVENTS_TRACK_EDIT'),
  summary: 'Add a track to an event',
  description:
    'Captions, for example. No workflow is started, unless it is the recording that a scheduled event awaited. With `overwriteExisting` and without a file, the matching tracks are removed.',
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
  answers: { 200: { description: 'It has been added.' } },
  refusals: [
    UNPARSABLE_FLAVOR,
    CANNOT_ADD,
    UNABLE_TO_FIND,
    TRACKS_LOCKED,
    RECORDED_ALREADY,
    ...UPLOAD_REFUSALS,
  ],
  handle: (request, services: Services) =>
    receiveTrack(request, request.params.event_id, services).catch((error) =>
      answerFailure(request.c, error),
    ),
});

async function receiveTrack(request: EndpointRequest, id: string, services: Services): Promise<Response> {
  const { c } = request;
  const { principal, requestId, log } = c.var;
  const { database } = services;
  // Before the body is read: a refusal then costs the client nothing.
  await requireIdleEvent(database, principal, id);
  await using form = await receiveForm(request, { detect: detectTrackType, reword }, services);
  const wanted = parseTrackRequest(form.fields);
  const tracks = tracksOf(form.files, wanted);
  const target: ExistingTarget = {
    kind: 'existing',
    id,
    edits: {},
    takes: { kind: 'tracks', replaced: wanted.overwriteExisting ? wanted : undefined },
    refusals: { missing: UNABLE_TO_FIND, processing: TRACKS_LOCKED },
  };
  const intake = { principal, requestId, target, tracks };
  const { removed } = await explainingConflicts(database, principal, (trx) => accept(trx, intake, services));
  form.keep();
  log.info({ eventId: id, tracks: tracks.length, removed, bytes: tracks[0]?.size ?? 0 }, 'tracks changed');
  return c.body(null, 200);
}

/** Refuses an event whose tracks may not be changed now; all of that may change while the file comes in. */
async function requireIdleEvent(db: Queryable, principal: Principal, id: string): Promise<void> {
  await requireAccess(db, 'events', principal, id, 'write', UNABLE_TO_FIND);
  const event = await db
    .selectFrom('events')
    .select('processing_state')
    .where('id', '=', id)
    .executeTakeFirst();
  if (event && isActive(event.processing_state)) throw TRACKS_LOCKED(id);
}

/** The one file of the form; without one, tracks can only go. @throws {HttpError} 400 */
function tracksOf(
  files: readonly ReceivedFile[],
  { flavor, tags, overwriteExisting }: TrackRequest,
): NewTrack[] {
  if (files.length > 1) throw CANNOT_ADD('the form holds more than one file in the part track.');
  if (files.length === 0 && !overwriteExisting) throw CANNOT_ADD('the form holds no file in the part track.');
  return files.map(({ field, ...file }) => ({ ...file, id: randomUUID(), flavor, tags }));
}

/** What a form of another kind is, and a broken one. */
function reword(refusal: HttpError): HttpError {
  if (![400, 415].includes(refusal.status)) return refusal;
  return CANNOT_ADD(refusal.message).with(refusal.headers);
}
