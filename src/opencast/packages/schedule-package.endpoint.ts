import { z } from 'zod';
import { OTHER_AGENT, requireOwnAgent } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { ROLE_CAPTURE_AGENT } from '#access/roles/roles.ts';
import { INPUTS, inputsIn, isName, MAX_NAME } from '#capture/agents/agent-names.ts';
import type { RecordingPlan } from '#capture/schedules/parse-scheduling.ts';
import { ScheduleConflict, withScheduleConflicts } from '#capture/schedules/schedule-conflicts.ts';
import { LONGEST_MS, MOST_INPUTS } from '#capture/schedules/scheduling.schemas.ts';
import { accept } from '#ingest/accept.ts';
import { type DraftContents, readContents } from '#ingest/draft-contents.ts';
import { lockDraft } from '#ingest/drafts.ts';
import type { Intake } from '#ingest/intake.ts';
import { parseDateTime } from '#metadata/date-time.ts';
import { periodIn, termTexts } from '#metadata/dublincore.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { quoted } from '#platform/text/excerpt.ts';
import {
  type Delivery,
  deliveryIn,
  documentsOf,
  NO_PROPERTIES,
  newEventOf,
  processingFor,
  type Submitter,
} from './event-of-package.ts';
import { EPISODE, rootOf } from './package-catalogs.ts';
import { PACKAGE_REFUSALS, PackageField, readPackageReference, textFields } from './package-form.ts';
import { ECHO } from './package-xml.ts';
import { type PackageServices, packageOf } from './packages.ts';
import { withWorkflow } from './with-workflow.ts';

/** Form fields that are not part of the workflow's configuration. */
const OTHERS = new Set([...NO_PROPERTIES, INPUTS]);

const WRONG_INPUTS = refusal(
  400,
  (inputs: string) =>
    `The form parameter '${INPUTS}' is ${quoted(inputs)}; allowed are up to ${MOST_INPUTS} names of 1 to ${MAX_NAME} characters, without control characters, separated by commas.`,
  ['\u0007'],
);
const NOT_SCHEDULABLE = refusal(
  400,
  (reason: string) =>
    `The media package cannot be scheduled: ${reason}. It must have a ${EPISODE} catalog with one <temporal> (start and end) and one <spatial> (the capture agent).`,
  ['it has no such catalog'],
);
export const AGENT_IS_BOOKED = refusal(
  409,
  (conflicts: number) =>
    `The capture agent is not available: the recording overlaps ${conflicts} scheduled recordings.`,
  [1],
);

export const SCHEDULE_ENDPOINTS = withWorkflow({
  path: '/ingest/schedule',
  summary: 'Schedule a media package',
  access: [ROLE_CAPTURE_AGENT, ...apiRole('EVENTS_CREATE')],
  description:
    'The package becomes a scheduled event with its identifier, in the calendar of its agent. All other fields configure the workflow.',
  form: {
    fieldsAsFiles: true,
    schema: z.looseObject({
      mediaPackage: PackageField,
      workflowDefinitionId: z.string().optional(),
      [INPUTS]: z.string().optional().describe('Inputs to record, separated by commas. By default the agent chooses.'),
    }),
    example: ECHO,
  },
  answers: { 201: { description: 'The recording is scheduled.' } },
  refusals: [...PACKAGE_REFUSALS, WRONG_INPUTS, NOT_SCHEDULABLE, OTHER_AGENT, AGENT_IS_BOOKED],
  handle: async (request, workflow, services) => {
    const { c } = request;
    const fields = await textFields(request, services);
    const { id, principal } = readPackageReference(c, fields);
    const delivery = { draftId: id, packageId: id, ...deliveryIn(fields, workflow, OTHERS) };
    const inputs = chosenInputs(fields.get(INPUTS));
    try {
      await withScheduleConflicts(services.database, principal, (trx) => plan(trx, delivery, inputs, c.var, services));
    } catch (error) {
      throw error instanceof ScheduleConflict ? AGENT_IS_BOOKED(error.conflicts.length) : error;
    }
    return c.body(null, 201);
  },
});

async function plan(
  trx: Transaction,
  delivery: Delivery,
  inputs: string[],
  by: Submitter,
  services: PackageServices,
): Promise<void> {
  const { principal, requestId, log } = by;
  const draft = packageOf(delivery.draftId, principal);
  const { accepted } = await lockDraft(trx, draft);
  if (accepted) return;
  const contents = await readContents(trx, draft.id);
  const recordings = { ...recordingIn(contents), inputs };
  requireOwnAgent(principal, recordings.agentId);
  const catalogs = services.catalogs.event;
  const processing = await processingFor(trx, delivery, undefined, { ...services, log });
  const event = await newEventOf(trx, delivery, contents, processing, { by, catalogs });
  const events = { ...event, id: event.id ?? draft.id, recordings };
  const intake: Intake = {
    principal,
    rights: 'delivery',
    requestId,
    draft,
    tracks: [],
    documents: documentsOf(contents, catalogs),
    target: { kind: 'new', events, gapMs: services.config.scheduling.minGapMs },
  };
  const { ids } = await accept(trx, intake, services);
  log.info({ eventId: ids[0], agent: recordings.agentId }, 'recording scheduled by an agent');
}

function chosenInputs(text = ''): string[] {
  const inputs = inputsIn(text);
  if (inputs.length > MOST_INPUTS || !inputs.every(isName)) throw WRONG_INPUTS(text);
  return inputs;
}

/** Returns the agent and the time from the episode catalog. @throws {HttpError} 400 */
function recordingIn({ catalogs, tracks }: DraftContents): Omit<RecordingPlan, 'inputs'> {
  if (tracks.length > 0) throw NOT_SCHEDULABLE('it has tracks already');
  const episode = catalogs.find(({ flavor }) => flavor === EPISODE);
  if (!episode) throw NOT_SCHEDULABLE('it has no such catalog');
  const root = rootOf(EPISODE, episode.content);
  const agents = termTexts(root, 'spatial');
  const [agentId = ''] = agents;
  if (agents.length !== 1 || !isName(agentId)) throw NOT_SCHEDULABLE('it must name exactly one capture agent');
  const { start, end } = periodIn(root);
  if (termTexts(root, 'temporal').length !== 1 || !start || !end || end <= start) {
    throw NOT_SCHEDULABLE('it must have exactly one period with a start and an end');
  }
  if (end.getTime() - start.getTime() > LONGEST_MS) throw NOT_SCHEDULABLE('the recording is too long');
  // A recording in the past means that the client's clock is wrong.
  const now = new Date();
  if (end <= now) {
    throw NOT_SCHEDULABLE(
      `it ends at ${end.toISOString()}, but the time is ${now.toISOString()}; check the agent's clock`,
    );
  }
  const created = parseDateTime(termTexts(root, 'created')[0] ?? '');
  if (created && created.getTime() !== start.getTime()) {
    throw NOT_SCHEDULABLE('its <created> is not the start of its <temporal>');
  }
  return { agentId, periods: [{ start, end }], recurring: false };
}
