import { sql } from 'kysely';
import { z } from 'zod';
import { requireAccess } from '#access/acl/acl.queries.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { AGENT_ID } from '#capture/agents/agent-examples.ts';
import { INPUTS, inputsIn, isName, MAX_NAME } from '#capture/agents/agent-names.ts';
import { periodOf, type SchedulingChange } from '#capture/schedules/parse-scheduling.ts';
import { ScheduleConflict, withScheduleConflicts } from '#capture/schedules/schedule-conflicts.ts';
import { MOST_INPUTS } from '#capture/schedules/scheduling.schemas.ts';
import { processingOf, scheduleOf } from '#capture/schedules/timetable.queries.ts';
import { awaitsDelivery, hasMedia, type Schedule } from '#capture/states/recording-state.ts';
import { deleteEvent } from '#catalogue/events/delete-event.ts';
import { EVENT_ID } from '#catalogue/events/event-examples.ts';
import { RECORDED_ALREADY, RECORDING_BEGUN, UPLOADED_ALREADY } from '#catalogue/events/event-refusals.ts';
import { updateEvent } from '#catalogue/events/update/update-event.ts';
import type { Config } from '#platform/config/config.ts';
import type { Database, Queryable } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { pathParameter } from '#platform/http/endpoint/endpoint-schemas.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import { quoted } from '#platform/text/excerpt.ts';
import { checkConfiguration, type Processing } from '#processing/processing-request.ts';
import { INVALID_HEIGHTS } from '#processing/workflow-refusals.ts';
import { AGENT_IS_BOOKED } from '../packages/schedule-package.endpoint.ts';
import { milliseconds, WRONG_TIME } from './milliseconds.ts';

/** The agent property that names the workflow of a recording. */
const WORKFLOW = 'org.opencastproject.workflow.definition';

const NOT_SCHEDULED = refusal(404, (id: string) => `No scheduled event has the identifier '${id}'.`, [EVENT_ID]);
const WRONG_AGENT = refusal(
  400,
  (agent: string) =>
    `The form parameter 'agent' is ${quoted(agent)}; allowed is a name of 1 to ${MAX_NAME} characters without control characters.`,
  ['\u0007'],
);
const WRONG_INPUTS = refusal(
  400,
  `The property '${INPUTS}' must have at most ${MOST_INPUTS} names of 1 to ${MAX_NAME} characters without control characters.`,
);
/** Changes add to the configuration. */
const MOST_PROPERTIES = 1000;
const TOO_MANY_PROPERTIES = refusal(400, `The configuration of a workflow has at most ${MOST_PROPERTIES} values.`);

const Fields = z.object({
  start: milliseconds('start').describe('The start in milliseconds since 1970.'),
  end: milliseconds('end').describe('The end in milliseconds since 1970.'),
  agent: z.string().optional().describe('Name of the capture agent.'),
  agentparameters: z
    .string()
    .optional()
    .describe(`Properties, one \`name=value\` per line. \`${INPUTS}\` and \`${WORKFLOW}\` have an effect.`),
  wfproperties: z
    .string()
    .optional()
    .describe('Values of the configuration of the workflow, one `name=value` per line.'),
});

const params = { recording_id: pathParameter('Identifier of the scheduled event.', EVENT_ID) };

interface Services {
  config: Pick<Config, 'scheduling'>;
  database: Database;
  staging: StagingLedger;
}

/** Moving and cancelling scheduled recordings, as learning platforms do it. */
export const SCHEDULED_ENDPOINTS = [
  defineEndpoint({
    method: 'put',
    path: '/recordings/{recording_id}',
    access: apiRole('EVENTS_SCHEDULING_EDIT'),
    summary: 'Move a scheduled recording',
    description: 'Omitted and empty fields stay unchanged. Refused once the recording has begun.',
    params,
    form: {
      schema: Fields,
      example: { start: '1791792900000', end: '1791798300000', agent: AGENT_ID, agentparameters: `${INPUTS}=camera` },
    },
    answers: { 200: { description: 'The recording is moved.' } },
    refusals: [
      WRONG_TIME,
      WRONG_AGENT,
      WRONG_INPUTS,
      INVALID_HEIGHTS,
      TOO_MANY_PROPERTIES,
      NOT_SCHEDULED,
      RECORDING_BEGUN,
      UPLOADED_ALREADY,
      AGENT_IS_BOOKED,
    ],
    handle: async ({ c, params, form }, { config, database }: Services) => {
      const { principal } = c.var;
      const id = params.recording_id;
      const given = await form();
      await requireAccess(database, 'events', principal, id, 'write', NOT_SCHEDULED);
      const schedule = await scheduleOf(database, id);
      if (!schedule) throw NOT_SCHEDULED(id);
      const processing = await changedProcessing(database, id, given);
      const scheduling = { change: changeOf(given, schedule), gapMs: config.scheduling.minGapMs, allowConflict: false };
      const refusals = { missing: NOT_SCHEDULED, unscheduled: NOT_SCHEDULED };
      try {
        await withScheduleConflicts(database, principal, (trx) =>
          updateEvent(trx, id, { scheduling, processing }, { principal, refusals }),
        );
      } catch (error) {
        throw error instanceof ScheduleConflict ? AGENT_IS_BOOKED(error.conflicts.length) : error;
      }
      return c.body(null, 200);
    },
  }),
  defineEndpoint({
    method: 'delete',
    path: '/recordings/{recording_id}',
    access: apiRole('EVENTS_DELETE'),
    summary: 'Cancel a scheduled recording',
    description: 'Deletes the event, unless its recording has arrived.',
    params,
    answers: { 200: { description: 'The recording is cancelled.' } },
    refusals: [NOT_SCHEDULED, RECORDED_ALREADY],
    handle: async ({ c, params }, services: Services) => {
      const { principal } = c.var;
      const id = params.recording_id;
      await requireAccess(services.database, 'events', principal, id, 'write', NOT_SCHEDULED);
      await deleteEvent(id, principal, services, (trx) => requireUnrecorded(trx, id));
      return c.body(null, 200);
    },
  }),
];

/** @throws {HttpError} 404, 409 */
async function requireUnrecorded(db: Queryable, id: string): Promise<void> {
  const event = await db
    .selectFrom('events')
    .select(['agent_id', 'recording_state', 'processing_state', hasMedia(sql.ref('events.id')).as('recorded')])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!event?.agent_id) throw NOT_SCHEDULED(id);
  if (!awaitsDelivery(event, Boolean(event.recorded))) throw RECORDED_ALREADY(id);
}

/** @throws {HttpError} 400 */
function changeOf(
  { start, end, agent = '', agentparameters }: z.infer<typeof Fields>,
  from: Schedule,
): SchedulingChange {
  const agentId = agent.trim();
  if (agentId !== '' && !isName(agentId)) throw WRONG_AGENT(agentId);
  const inputs = propertiesIn(agentparameters).get(INPUTS);
  const names = inputs === undefined ? undefined : inputsIn(inputs);
  if (names && (names.length > MOST_INPUTS || !names.every(isName))) throw WRONG_INPUTS();
  const change = {
    ...(agentId !== '' && { agentId }),
    ...(start && { start }),
    end: end ?? from.end,
    ...(names && { inputs: names }),
  };
  periodOf(change, from);
  return change;
}

/** Returns the processing of the recording with the given changes; undefined without any. @throws {HttpError} 400 */
async function changedProcessing(
  db: Queryable,
  id: string,
  { agentparameters, wfproperties }: z.infer<typeof Fields>,
): Promise<Processing | undefined> {
  const workflow = propertiesIn(agentparameters).get(WORKFLOW);
  const values = propertiesIn(wfproperties);
  if (!workflow && values.size === 0) return undefined;
  const planned = await processingOf(db, id);
  const configuration = checkConfiguration({ ...planned?.configuration, ...Object.fromEntries(values) });
  if (Object.keys(configuration).length > MOST_PROPERTIES) throw TOO_MANY_PROPERTIES();
  return { workflow: workflow || (planned?.workflow ?? ''), configuration };
}

function propertiesIn(text = ''): Map<string, string> {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return new Map(
    lines.flatMap((line): [string, string][] => {
      const at = line.indexOf('=');
      return at < 1 || /^[#!]/.test(line) ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()]];
    }),
  );
}
