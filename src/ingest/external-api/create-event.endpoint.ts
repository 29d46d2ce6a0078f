import type { Context } from 'hono';
import { z } from 'zod';
import { type Idempotency, REPEATABLE, type RememberContent } from '#access/idempotency/idempotency.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { CONFLICT_ANSWER, withScheduleConflicts } from '#capture/schedules/schedule-conflicts.ts';
import { NewScheduling } from '#capture/schedules/scheduling.schemas.ts';
import { NEW_SCHEDULING_REFUSALS } from '#capture/states/scheduling-errors.ts';
import { CreatedEvents } from '#catalogue/events/event.schemas.ts';
import { EVENT_ID, NEXT_EVENT_ID } from '#catalogue/events/event-examples.ts';
import { CREATION_REFUSALS } from '#catalogue/events/event-refusals.ts';
import { EVENT_CHANGES } from '#catalogue/events/event-versions.ts';
import type { Config } from '#platform/config/config.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint, type EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { Created, createdHeaders, EXAMPLE_URL, jsonText } from '#platform/http/endpoint/endpoint-schemas.ts';
import { NOT_MULTIPART } from '#platform/http/form/multipart.ts';
import { accept, type DoorServices } from '../accept.ts';
import {
  contentOf,
  exampleParts,
  FLAVORS,
  fileParts,
  MISSING_PARTS,
  newJsonParts,
  PART_REFUSALS,
  parseNewEvents,
  tracksOf,
} from '../event-form.ts';
import type { Intake } from '../intake.ts';
import { digestForm, receiveForm } from '../receive-form.ts';
import { FINISHED_UPLOADS_REFUSALS, parseUploads, uploadsPart } from '../tus/finished-uploads.ts';
import { answerUploadFailure, UPLOAD_REFUSALS } from '../upload-failures.ts';

interface Services extends DoorServices {
  config: DoorServices['config'] & Pick<Config, 'publicUrl' | 'scheduling'>;
  idempotency: Idempotency;
}

export const newEvent = defineEndpoint({
  method: 'post',
  path: '/api/events',
  access: apiRole('EVENTS_CREATE'),
  summary: 'Create an event',
  description:
    'Receives recordings and starts a workflow, or schedules recordings: with `scheduling`, the workflow starts when the recording arrives. `acl`, `metadata` and `processing` are required, tracks are optional. Parts may be in any order; unknown parts are ignored.',
  repeatable: REPEATABLE,
  form: {
    streams: Object.keys(FLAVORS),
    schema: z.object({
      ...newJsonParts,
      scheduling: jsonText(NewScheduling, 'The time and the agent of the recording.')
        .optional()
        .meta({ 'x-since': EVENT_CHANGES.scheduling }),
      ...fileParts,
      uploads: uploadsPart.optional(),
    }),
    example: {
      ...exampleParts,
      processing: JSON.stringify({ workflow: 'schedule-and-upload' }),
    },
  },
  answers: {
    200: {
      description: 'The events of a recurrence rule were created, in chronological order.',
      body: CreatedEvents,
      example: [{ identifier: EVENT_ID }, { identifier: NEXT_EVENT_ID }],
    },
    201: {
      description: 'The event was created. Its workflow starts, unless its recording is still to come.',
      body: Created,
      example: { identifier: EVENT_ID },
      headers: createdHeaders(`${EXAMPLE_URL}/api/events/${EVENT_ID}`),
    },
    409: CONFLICT_ANSWER,
  },
  refusals: [
    ...PART_REFUSALS,
    ...MISSING_PARTS,
    ...NEW_SCHEDULING_REFUSALS,
    ...CREATION_REFUSALS,
    NOT_MULTIPART,
    ...UPLOAD_REFUSALS,
    ...FINISHED_UPLOADS_REFUSALS,
  ],
  handle: (request, services: Services) =>
    services.idempotency
      .carryOut(request.c, {
        compare: async () => contentOf(await digestForm(request, services)),
        create: (remember) => create(request, services, remember),
      })
      .catch((error) => answerUploadFailure(request.c, error)),
});

async function create(request: EndpointRequest, services: Services, remember: RememberContent): Promise<Response> {
  const { c } = request;
  const { principal, requestId, version, log } = c.var;
  const { config, database } = services;
  const started = performance.now();
  await using form = await receiveForm(request, {}, services);
  const tracks = tracksOf(form.files);
  const uploads = parseUploads(form.fields);
  const target = await parseNewEvents(form.fields, version, services);
  const intake: Intake = { principal, requestId, target, tracks, uploads };
  const { ids, answer } = await withScheduleConflicts(database, principal, async (trx) => {
    const { ids } = await accept(trx, intake, services);
    const answer = answerCreated(c, ids, config.publicUrl);
    await remember(trx, contentOf(form), answer);
    return { ids, answer };
  });
  form.keep();
  const bytes = tracks.reduce((sum, { size }) => sum + size, 0);
  const ms = Math.round(performance.now() - started);
  log.info({ eventId: ids[0], events: ids.length, tracks: tracks.length + uploads.length, bytes, ms }, 'event created');
  return answer;
}

/** Answers 201 for one event, 200 for several. */
function answerCreated(c: Context, ids: readonly string[], publicUrl: string): Response {
  const events = ids.map((identifier) => ({ identifier }));
  const [created, ...more] = events;
  if (!created || more.length > 0) return versionedJson(c, events);
  const Location = `${publicUrl}/api/events/${encodeURIComponent(created.identifier)}`;
  return versionedJson(c, created, 201, { Location });
}
