import { z } from 'zod';
import { requireAccess } from '#access/acl/acl.queries.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { CONFLICT_ANSWER, withScheduleConflicts } from '#capture/schedules/schedule-conflicts.ts';
import { SCHEDULING, SchedulingUpdate } from '#capture/schedules/scheduling.schemas.ts';
import { findProgress } from '#capture/states/recording-state.ts';
import { SCHEDULING_REFUSALS } from '#capture/states/scheduling-errors.ts';
import { eventParams } from '#catalogue/events/endpoints/events.endpoints.ts';
import {
  EVENT_MISSING,
  RECORDED_ALREADY,
  RESCHEDULING_REFUSALS,
  UPDATE_REFUSALS,
} from '#catalogue/events/event-refusals.ts';
import { EVENT_CHANGES } from '#catalogue/events/event-versions.ts';
import { refuseSecondRecording } from '#catalogue/events/update/decide-update.ts';
import type { Config } from '#platform/config/config.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint, type EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { jsonText } from '#platform/http/endpoint/endpoint-schemas.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { isMultipart } from '#platform/http/form/multipart.ts';
import { accept, type DoorServices } from '../accept.ts';
import { exampleParts, FLAVORS, fileParts, jsonParts, PART_REFUSALS, parseEdits, tracksOf } from '../event-form.ts';
import type { Intake } from '../intake.ts';
import { receiveForm } from '../receive-form.ts';
import { FINISHED_UPLOADS_REFUSALS, NOT_AWAITED, parseUploads, uploadsPart } from '../tus/finished-uploads.ts';
import { answerUploadFailure, UPLOAD_REFUSALS } from '../upload-failures.ts';

const NO_FORM = refusal(400, 'No multipart content');
/** For an event that the account can read but not change. */
const NOT_YOURS = refusal(401, '');

interface Services extends DoorServices {
  config: DoorServices['config'] & Pick<Config, 'scheduling'>;
}

/** Only a scheduled event accepts files, once; files for other events are read and discarded. */
export const changeEvent = defineEndpoint({
  method: 'post',
  path: '/api/events/{event_id}',
  access: apiRole('EVENTS_EDIT'),
  summary: 'Update an event',
  description:
    'Only the given parts change, all of them or none. A new `acl` replaces the old one. `processing` and `scheduling` are for events whose recording is still to come. Their recording may be sent once and starts the workflow; another one may follow if that failed. For other events, files are ignored and `uploads` are refused.',
  params: eventParams,
  form: {
    streams: Object.keys(FLAVORS),
    schema: z
      .object({
        ...jsonParts,
        scheduling: jsonText(SchedulingUpdate, 'The time and the agent of the recording.').meta({
          'x-since': EVENT_CHANGES.scheduling,
        }),
      })
      .partial()
      .extend({ ...fileParts, uploads: uploadsPart.optional() }),
    example: { ...exampleParts, scheduling: JSON.stringify(SCHEDULING) },
  },
  answers: { 204: { description: 'The event was updated.' }, 409: CONFLICT_ANSWER },
  refusals: [
    NO_FORM,
    ...PART_REFUSALS,
    ...UPDATE_REFUSALS,
    ...SCHEDULING_REFUSALS,
    ...RESCHEDULING_REFUSALS,
    NOT_YOURS,
    EVENT_MISSING,
    RECORDED_ALREADY,
    NOT_AWAITED,
    ...UPLOAD_REFUSALS,
    ...FINISHED_UPLOADS_REFUSALS,
  ],
  handle: (request, services: Services) =>
    update(request, request.params.event_id, services).catch((error) => answerUploadFailure(request.c, error)),
});

async function update(request: EndpointRequest, id: string, services: Services): Promise<Response> {
  const { c } = request;
  const { principal, requestId, version, log } = c.var;
  const { config, database, catalogs } = services;
  // Before the body is read, so that a refused client need not send it.
  await requireAccess(database, 'events', principal, id, 'write', EVENT_MISSING, NOT_YOURS);
  if (!isMultipart(c.req.header('Content-Type') ?? '')) throw NO_FORM();
  const isAwaiting = acceptsRecording(database, id);
  const takes = async () => ((await isAwaiting()) ? 'store' : 'drop');
  await using form = await receiveForm(request, { takes }, services);
  const tracks = tracksOf(form.files);
  const uploads = parseUploads(form.fields);
  // Unlike files, uploads are not ignored: clients name them only for this purpose.
  if (uploads.length > 0 && !(await isAwaiting())) throw NOT_AWAITED(id);
  const gapMs = config.scheduling.minGapMs;
  const unknown = () => EVENT_MISSING(id);
  const edits = parseEdits(form.fields, { catalogs: catalogs.event, version, gapMs, unknown });
  const target: Intake['target'] = {
    kind: 'existing',
    id,
    edits,
    takes: { kind: 'recording' },
    refusals: { denied: NOT_YOURS },
  };
  const intake: Intake = { principal, requestId, target, tracks, uploads };
  await withScheduleConflicts(database, principal, (trx) => accept(trx, intake, services));
  form.keep();
  if (tracks.length + uploads.length > 0) {
    const bytes = tracks.reduce((sum, { size }) => sum + size, 0);
    const received = { eventId: id, tracks: tracks.length + uploads.length, bytes };
    log.info(received, 'received the recording of a scheduled event');
  }
  return c.body(null, 204);
}

/** Returns a function that is true if the event awaits a recording. It queries the database once. */
function acceptsRecording(database: Database, id: string): () => Promise<boolean> {
  let awaited: Promise<boolean> | undefined;
  const isAwaited = async () => {
    const progress = await findProgress(database, id);
    if (progress === undefined) throw EVENT_MISSING(id);
    refuseSecondRecording(id, progress);
    return progress !== 'unscheduled';
  };
  return () => (awaited ??= isAwaited());
}
