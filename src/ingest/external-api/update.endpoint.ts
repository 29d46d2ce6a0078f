import { z } from 'zod';
import { requireAccess } from '#access/acl/acl.queries.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { CONFLICT } from '#capture/schedules/answer-conflicts.ts';
import { explainingConflicts } from '#capture/schedules/conflicts.ts';
import { SCHEDULING } from '#capture/schedules/examples.ts';
import { SchedulingUpdate } from '#capture/schedules/scheduling.schemas.ts';
import { SCHEDULING_REFUSALS } from '#capture/states/refusals.ts';
import { findProgress } from '#capture/states/state.ts';
import { eventParams } from '#catalogue/events/endpoints/events.endpoints.ts';
import { EVENT_MISSING, RECORDED_ALREADY, RESCHEDULING_REFUSALS, UPDATE_REFUSALS } from '#catalogue/events/refusals.ts';
import { refuseSecondRecording } from '#catalogue/events/update/decide-update.ts';
import { EVENT_CHANGES } from '#catalogue/events/versions.ts';
import type { Config } from '#platform/config/config.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint, type EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { jsonText } from '#platform/http/endpoint/schemas.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { isMultipart } from '#platform/http/form/multipart.ts';
import { accept, type DoorServices } from '../accept.ts';
import { answerFailure, UPLOAD_REFUSALS } from '../answer-failure.ts';
import { exampleParts, FLAVORS, fileParts, jsonParts, PART_REFUSALS, parseEdits, tracksOf } from '../event-form.ts';
import type { Intake } from '../intake.ts';
import { receiveForm } from '../receive-form.ts';
import { FINISHED_UPLOADS_REFUSALS, NOT_AWAITED, parseUploads, uploadsPart } from '../tus/finished-uploads.ts';

const NO_FORM = refusal(400, 'No multipart content');
/** The event may be read but not changed. */
const NOT_YOURS = refusal(401, '');

interface Services extends DoorServices {
  config: DoorServices['config'] & Pick<Config, 'scheduling'>;
}

/** Only a scheduled event takes files, once; of all others they are read and dropped. */
export const changeEvent = defineEndpoint({
  method: 'post',
  path: '/api/events/{event_id}',
  access: apiRole('EVENTS_EDIT'),
  summary: 'Update an event',
  description:
    'Only what is given changes, all of it or nothing. A new `acl` replaces the old one. `processing` and `scheduling` are for events whose recording is still to come; their recording may be sent along, once, and starts the workflow; another one may follow when that has failed. Files for other events are ignored, `uploads` for them refused.',
  params: eventParams,
  form: {
    streams: Object.keys(FLAVORS),
    schema: z
      .object({
        ...jsonParts,
        scheduling: jsonText(SchedulingUpdate, 'When and by which agent it is to be recorded.').meta({
          'x-since': EVENT_CHANGES.scheduling,
        }),
      })
      .partial()
      .extend({ ...fileParts, uploads: uploadsPart.optional() }),
    example: { ...exampleParts, scheduling: JSON.stringify(SCHEDULING) },
  },
  answers: { 204: { description: 'It has been updated.' }, 409: CONFLICT },
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
    update(request, request.params.event_id, services).catch((error) => answerFailure(request.c, error)),
});

async function update(request: EndpointRequest, id: string, services: Services): Promise<Response> {
  const { c } = request;
  const { principal, requestId, version, log } = c.var;
  const { config, database, catalogs } = services;
  // Before the body is read: a refusal then costs the client nothing.
  await requireAccess(database, 'events', principal, id, 'write', EVENT_MISSING, NOT_YOURS);
  if (!isMultipart(c.req.header('Content-Type') ?? '')) throw NO_FORM();
  const admits = admitting(database, id);
  const takes = async () => ((await admits()) ? 'store' : 'drop');
  await using form = await receiveForm(request, { takes }, services);
  const tracks = tracksOf(form.files);
  const uploads = parseUploads(form.fields);
  // Who names them has sent them for this: they are not dropped without a word, as files have to be.
  if (uploads.length > 0 && !(await admits())) throw NOT_AWAITED(id);
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
  await explainingConflicts(database, principal, (trx) => accept(trx, intake, services));
  form.keep();
  if (tracks.length + uploads.length > 0) {
    const bytes = tracks.reduce((sum, { size }) => sum + size, 0);
    log.info(
      { eventId: id, tracks: tracks.length + uploads.length, bytes },
      'the recording of a scheduled event came in',
    );
  }
  return c.body(null, 204);
}

/** A recording is taken for an event that awaits one; asked at the first file or upload, for all of them. */
function admitting(database: Database, id: string): () => Promise<boolean> {
  let awaited: Promise<boolean> | undefined;
  const isAwaited = async () => {
    const progress = await findProgress(database, id);
    if (progress === undefined) throw EVENT_MISSING(id);
    refuseSecondRecording(id, progress);
    return progress !== 'unscheduled';
  };
  return () => (awaited ??= isAwaited());
}
