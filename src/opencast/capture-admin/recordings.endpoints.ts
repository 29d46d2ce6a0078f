import { z } from 'zod';
import { OTHER_AGENT } from '#access/principal.ts';
import { ROLE_CAPTURE_AGENT } from '#access/roles/roles.ts';
import {
  findRecording,
  RECORDING_MISSING,
  type ReportedRecording,
  reportedRecordings,
  reportRecording,
} from '#capture/reports/report-recording.ts';
import { REPORTED_STATES } from '#capture/states/recording-state.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { pathParameter } from '#platform/http/endpoint/endpoint-schemas.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { quoted } from '#platform/text/excerpt.ts';
import { TEXT_ANSWER, textResponse, XML_ANSWER } from '../text-answers.ts';
import { type AgentServices, agentXml, asJsonAndXml, element, elementsOf } from './json-and-xml.ts';

/** The states that an agent can report. */
const STATES = ['unknown', ...REPORTED_STATES] as const;

const UNKNOWN_RECORDING_STATE = refusal(
  400,
  (state: unknown) => `The form parameter 'state' is ${quoted(state)}; allowed are ${STATES.join(', ')}.`,
  ['flying'],
);

const RecordingReport = z.object({
  state: z.enum(STATES, {
    error: ({ input }) =>
      input === undefined
        ? `Missing form parameter 'state'; allowed are ${STATES.join(', ')}.`
        : UNKNOWN_RECORDING_STATE.sentence(input),
  }),
});

const ID = '0f5f3c9e-7b52-4d55-8a4e-3a1c5f0e6d21';
const access = [ROLE_CAPTURE_AGENT];
const params = { recording_id: pathParameter('Identifier of the scheduled event.', ID) };
const EXAMPLE = { 'recording-state-update': { id: ID, state: 'capturing', 'time-since-last-update': 4711 } };
const Recording = z.object({
  'recording-state-update': z.object({
    id: z.string(),
    state: z.string(),
    'time-since-last-update': z.int().describe('In milliseconds.'),
  }),
});

/** The states of scheduled recordings, which capture agents report. */
export const RECORDING_ENDPOINTS = [
  defineEndpoint({
    method: 'post',
    path: '/capture-admin/recordings/{recording_id}',
    access,
    summary: 'Report the state of a recording',
    description:
      'Sets the `status` of the event. A state that was reported before, or that cannot follow the present one, changes nothing and gets the same answer.',
    params,
    form: { schema: RecordingReport, example: { state: 'capturing' } },
    answers: { 200: { description: 'The report is accepted.', ...TEXT_ANSWER, example: `${ID} set to capturing` } },
    refusals: [UNKNOWN_RECORDING_STATE, RECORDING_MISSING, OTHER_AGENT],
    handle: async ({ c, params, form }, { database }: AgentServices) => {
      const id = params.recording_id;
      const { state } = await form();
      await reportRecording(database, id, state, c.var);
      return textResponse(c, `${id} set to ${state}`);
    },
  }),
  defineEndpoint({
    method: 'get',
    path: '/capture-admin/recordings',
    access,
    summary: 'List reported recordings, as XML',
    description: 'The latest 1000 at most. `/capture-admin/recordings.json` returns them as JSON.',
    answers: { 200: { description: 'Their states.', ...XML_ANSWER, example: element('recording-state-updates', '') } },
    handle: async ({ c }, { database }: AgentServices) => {
      const recordings = await reportedRecordings(database);
      return agentXml(c, element('recording-state-updates', recordings.map(recordingXml).join('')));
    },
  }),
  defineEndpoint({
    method: 'get',
    path: '/capture-admin/recordings.json',
    access,
    operationId: 'getRecordingStates',
    summary: 'List reported recordings, as JSON',
    description: 'The latest 1000 at most.',
    answers: { 200: { description: 'Their states.', plain: true, body: z.array(Recording), example: [EXAMPLE] } },
    handle: async ({ c }, { database }: AgentServices) =>
      c.json((await reportedRecordings(database)).map(recordingJson)),
  }),
  ...asJsonAndXml({
    access,
    path: '/capture-admin/recordings/{recording_id}',
    summary: 'Read the state of a recording',
    description: 'The state that its agent reported last, or `unknown` before the first report.',
    params,
    answer: 'Its state and the time since the report.',
    json: { of: recordingJson, body: Recording, example: EXAMPLE },
    xml: {
      operationId: 'getRecordingStateXml',
      answer: (c, recording) => agentXml(c, recordingXml(recording)),
      example: element('recording-state-update', ''),
    },
    refusals: [RECORDING_MISSING],
    load: async (database, id) => {
      const recording = await findRecording(database, id);
      if (!recording) throw RECORDING_MISSING(id);
      return recording;
    },
  }),
  defineEndpoint({
    method: 'delete',
    path: '/capture-admin/recordings/{recording_id}',
    access,
    summary: 'Reset the state of a failed recording',
    description: 'The event awaits its recording again. A recording that is running or has arrived does not change.',
    params,
    answers: { 200: { description: 'The reset is accepted.', ...TEXT_ANSWER, example: `${ID} removed` } },
    refusals: [RECORDING_MISSING, OTHER_AGENT],
    handle: async ({ c, params }, { database }: AgentServices) => {
      await reportRecording(database, params.recording_id, '', c.var);
      return textResponse(c, `${params.recording_id} removed`);
    },
  }),
];

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
  return element('recording-state-update', elementsOf(shown(recording)));
}
