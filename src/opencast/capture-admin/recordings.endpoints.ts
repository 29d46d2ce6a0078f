import { z } from 'zod';
import { OTHER_AGENT } from '#access/principal.ts';
import { ROLE_CAPTURE_AGENT } from '#access/roles/roles.ts';
import { quoted } from '#capture/agents/names.ts';
import { findRecording, type ReportedRecording, reportedRecordings } from '#capture/reports/recordings.queries.ts';
import { RECORDING_MISSING, reportRecording } from '#capture/reports/report-recording.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { pathParameter } from '#platform/http/endpoint/schemas.ts';
import { SENTENCE } from '#platform/http/errors/errors.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { element, xmlAnswer } from './legacy-xml.ts';

/** What an agent can say of a recording. */
const STATES = [
  'unknown',
  'capturing',
  'capture_finished',
  'capture_error',
  'manifest',
  'manifest_error',
  'manifest_finished',
  'compressing',
  'compressing_error',
  'uploading',
  'upload_finished',
  'upload_error',
] as const;

const UNKNOWN_RECORDING_STATE = refusal(
  400,
  (state: unknown) => `The form parameter 'state' is ${quoted(state)}; allowed are ${STATES.join(', ')}.`,
  ['flying'],
);

/** The form in which an agent reports a recording. */
const RecordingReport = z.object({
  state: z.enum(STATES, {
    error: ({ input }) =>
      input === undefined
        ? `Missing form parameter 'state'; allowed are ${STATES.join(', ')}.`
        : UNKNOWN_RECORDING_STATE.sentence(input),
  }),
});

interface Services {
  database: Database;
}

const ID = '0f5f3c9e-7b52-4d55-8a4e-3a1c5f0e6d21';
const access = [ROLE_CAPTURE_AGENT];
const params = { recording_id: pathParameter('Identifier of the scheduled event.', ID) };
const EXAMPLE = { id: ID, state: 'capturing', 'time-since-last-update': 4711 };
const Recording = z.object({
  'recording-state-update': z.object({
    id: z.string(),
    state: z.string(),
    'time-since-last-update': z.int().describe('In milliseconds.'),
  }),
});

/** Where capture agents say how far a recording is. */
export const reportRecordingState = defineEndpoint({
  method: 'post',
  path: '/capture-admin/recordings/{recording_id}',
  access,
  summary: 'Report the state of a recording',
  description:
    'The `status` of the event follows. What was said before, or cannot follow it, changes nothing and is answered alike.',
  params,
  form: { schema: RecordingReport, example: { state: 'capturing' } },
  answers: {
    200: {
      description: 'It has been heard.',
      mediaType: 'text/plain; charset=utf-8',
      body: z.string(),
      example: `${ID} set to capturing`,
    },
  },
  refusals: [UNKNOWN_RECORDING_STATE, RECORDING_MISSING, OTHER_AGENT],
  handle: async ({ c, params, form }, { database }: Services) => {
    const id = params.recording_id;
    const { state } = await form();
    await reportRecording(database, id, state, c.var);
    return c.body(`${id} set to ${state}`, 200, { 'Content-Type': SENTENCE });
  },
});

export const forgetRecording = defineEndpoint({
  method: 'delete',
  path: '/capture-admin/recordings/{recording_id}',
  access,
  summary: 'Forget the state of a recording that failed',
  description: 'It is awaited again. Of one that goes on, or has come, nothing changes.',
  params,
  answers: {
    200: {
      description: 'It has been heard.',
      mediaType: 'text/plain; charset=utf-8',
      body: z.string(),
      example: `${ID} removed`,
    },
  },
  refusals: [RECORDING_MISSING, OTHER_AGENT],
  handle: async ({ c, params }, { database }: Services) => {
    await reportRecording(database, params.recording_id, '', c.var);
    return c.body(`${params.recording_id} removed`, 200, { 'Content-Type': SENTENCE });
  },
});

export const readRecording = defineEndpoint({
  method: 'get',
  path: '/capture-admin/recordings/{recording_id}.json',
  access,
  summary: 'Read the state of a recording',
  description: 'As its agent reported it last; `unknown` before that.',
  params,
  answers: {
    200: {
      description: 'Its state, and for how long.',
      plain: true,
      body: Recording,
      example: { 'recording-state-update': EXAMPLE },
    },
  },
  refusals: [RECORDING_MISSING],
  handle: async ({ c, params }, { database }: Services) =>
    c.json(recordingJson(await find(database, params.recording_id))),
});

export const readRecordingXml = defineEndpoint({
  method: 'get',
  path: '/capture-admin/recordings/{recording_id}.xml',
  access,
  operationId: 'getRecordingStateXml',
  summary: 'Read the state of a recording, as XML',
  description: 'As its agent reported it last; `unknown` before that.',
  params,
  answers: {
    200: {
      description: 'Its state, and for how long.',
      mediaType: 'text/xml; charset=utf-8',
      body: z.string(),
      example: element('recording-state-update', ''),
    },
  },
  refusals: [RECORDING_MISSING],
  handle: async ({ c, params }, { database }: Services) =>
    xmlAnswer(c, recordingXml(await find(database, params.recording_id))),
});

export const listRecordings = defineEndpoint({
  method: 'get',
  path: '/capture-admin/recordings',
  access,
  summary: 'List recordings that agents have reported',
  description: 'As XML; below `/capture-admin/recordings.json` as JSON. At most the latest 1000.',
  answers: {
    200: {
      description: 'Their states.',
      mediaType: 'text/xml; charset=utf-8',
      body: z.string(),
      example: element('recording-state-updates', ''),
    },
  },
  handle: async ({ c }, { database }: Services) => {
    const recordings = await reportedRecordings(database);
    return xmlAnswer(c, element('recording-state-updates', recordings.map(recordingXml).join('')));
  },
});

export const listRecordingsJson = defineEndpoint({
  method: 'get',
  path: '/capture-admin/recordings.json',
  access,
  operationId: 'getRecordingStates',
  summary: 'List recordings that agents have reported, as JSON',
  description: 'At most the latest 1000.',
  answers: {
    200: {
      description: 'Their states.',
      plain: true,
      body: z.array(Recording),
      example: [{ 'recording-state-update': EXAMPLE }],
    },
  },
  handle: async ({ c }, { database }: Services) => c.json((await reportedRecordings(database)).map(recordingJson)),
});

/** @throws {HttpError} 404 */
async function find(database: Database, id: string): Promise<ReportedRecording> {
  const recording = await findRecording(database, id);
  if (!recording) throw RECORDING_MISSING(id);
  return recording;
}

function shown({ id, state, since }: ReportedRecording) {
  return {
    id,
    state: state || 'unknown',
    'time-since-last-update': since ? Date.now() - since.getTime() : 0,
  };
}

function recordingJson(recording: ReportedRecording) {
  return { 'recording-state-update': shown(recording) };
}

function recordingXml(recording: ReportedRecording): string {
  const fields = Object.entries(shown(recording)).map(([name, value]) => element(name, String(value), 'text'));
  return element('recording-state-update', fields.join(''));
}
