import type { Context } from 'hono';
import { z } from 'zod';
import { OTHER_AGENT, type Principal, requireOwnAgent } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { ROLE_CAPTURE_AGENT } from '#access/roles/roles.ts';
import { AGENT_ID } from '#capture/agents/agent-examples.ts';
import { timeZoneOf } from '#capture/agents/agents.queries.ts';
import { occurrencesOf } from '#capture/recurrence/occurrences.ts';
import { conflictsWithOthers } from '#capture/schedules/schedule-conflicts.ts';
import { LONGEST_MS } from '#capture/schedules/scheduling.schemas.ts';
import type { Period } from '#capture/states/recording-state.ts';
import { EVENT_ID } from '#catalogue/events/event-examples.ts';
import { formatInstant } from '#metadata/date-time.ts';
import { xmlText } from '#metadata/xml-text.ts';
import type { Config } from '#platform/config/config.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { isTimeZone } from '#platform/text/time-zone.ts';
import { XML_ANSWER, xmlResponse } from '../text-answers.ts';
import { milliseconds, WRONG_TIME } from './milliseconds.ts';

const INCOMPLETE = refusal(
  400,
  "The query parameters 'agent', 'start' and 'end' are required, and 'end' must be after 'start'.",
);
const WRONG_RULE = refusal(
  400,
  `With 'rrule', 'duration' must be a number of milliseconds from 1 to ${LONGEST_MS}, and 'timezone' a name such as Europe/Berlin.`,
);

const Query = z.object({
  agent: z.string().optional().meta({ description: 'Name of the capture agent.', example: AGENT_ID }),
  start: milliseconds('start').meta({ description: 'The start in milliseconds since 1970.', example: '1791792900000' }),
  end: milliseconds('end').meta({ description: 'The end in milliseconds since 1970.', example: '1791798300000' }),
  rrule: z.string().optional().describe('A recurrence rule for several recordings between `start` and `end`.'),
  duration: z.string().optional().describe('With a rule, the duration of each recording in milliseconds.'),
  timezone: z.string().optional().describe('With a rule, the time zone; by default the one of the agent.'),
});

type Found = Awaited<ReturnType<typeof conflictsWithOthers>>[number];

interface Services {
  config: Pick<Config, 'scheduling'>;
  database: Database;
}

const shared = {
  method: 'get',
  access: [ROLE_CAPTURE_AGENT, ...apiRole('EVENTS_SCHEDULING_VIEW')],
  description: 'Events that the account may not read have no identifier and no title.',
  query: Query,
  refusals: [WRONG_TIME, INCOMPLETE, WRONG_RULE, OTHER_AGENT],
} as const;
const NONE = { description: 'The agent is free.' };

/** Recordings that overlap a planned one. */
export const CONFLICT_ENDPOINTS = [
  defineEndpoint({
    ...shared,
    path: '/recordings/conflicts.json',
    summary: 'Find conflicting recordings',
    answers: {
      200: {
        description: 'The first 1000 conflicting recordings, by start.',
        plain: true,
        body: z.object({ totalCount: z.string(), events: z.array(z.looseObject({ id: z.string() })) }),
        example: {
          totalCount: '1',
          events: [{ id: EVENT_ID, title: 'Algebra I', start: '2026-10-12T08:15:00Z', duration: 5_400_000 }],
        },
      },
      204: NONE,
    },
    handle: async ({ c, query }, services: Services) => {
      const found = await conflictsOf(c.var.principal, query(), services);
      if (found.length === 0) return c.body(null, 204);
      return c.json({ totalCount: String(found.length), events: found.map(packageJson) });
    },
  }),
  defineEndpoint({
    ...shared,
    path: '/recordings/conflicts.xml',
    summary: 'Find conflicting recordings, as XML',
    answers: {
      200: {
        description: 'The first 1000 conflicting recordings, by start.',
        ...XML_ANSWER,
        example: '<mediapackages/>',
      },
      204: NONE,
    },
    handle: async ({ c, query }, services: Services) => {
      const found = await conflictsOf(c.var.principal, query(), services);
      return found.length === 0 ? c.body(null, 204) : packagesXml(c, found);
    },
  }),
];

async function conflictsOf(
  principal: Principal,
  query: z.infer<typeof Query>,
  { config, database }: Services,
): Promise<Found[]> {
  const { agent = '', start, end } = query;
  const agentId = agent.trim();
  if (agentId === '' || !start || !end || end <= start) throw INCOMPLETE();
  if (principal.hasRole(ROLE_CAPTURE_AGENT)) requireOwnAgent(principal, agentId);
  const periods = await periodsOf(agentId, { ...query, start, end }, { config, database });
  const occurrences = periods.map((period) => ({ ...period, eventId: '', title: '' }));
  const gapMs = config.scheduling.minGapMs;
  return conflictsWithOthers(database, principal, { agentId, gapMs, occurrences });
}

async function periodsOf(
  agentId: string,
  { start, end, rrule = '', duration = '', timezone = '' }: z.infer<typeof Query> & Period,
  { config, database }: Services,
): Promise<Period[]> {
  if (rrule.trim() === '') return [{ start, end }];
  const durationMs = /^\d{1,10}$/.test(duration) ? Number(duration) : 0;
  const timeZone = timezone || (await timeZoneOf(database, agentId));
  if (durationMs < 1 || durationMs > LONGEST_MS || !isTimeZone(timeZone)) throw WRONG_RULE();
  const { maxOccurrences } = config.scheduling;
  const starts = occurrencesOf({ rule: rrule, start, end, timeZone, maxOccurrences });
  return starts.map((each) => ({ start: each, end: new Date(each.getTime() + durationMs) }));
}

function packageJson({ eventId = '', title, start, end }: Found) {
  return { id: eventId, title, start: formatInstant(start), duration: end.getTime() - start.getTime() };
}

function packagesXml(c: Context, found: readonly Found[]): Response {
  const packages = found.map(packageJson).map(({ id, title, start, duration }) => {
    const attributes = `id="${xmlText(id)}" start="${start}" duration="${duration}"`;
    return `<mediapackage ${attributes}><title>${xmlText(title)}</title></mediapackage>`;
  });
  const namespace = 'http://mediapackage.opencastproject.org';
  return xmlResponse(
    c,
    `<?xml version="1.0" encoding="UTF-8"?>\n<mediapackages xmlns="${namespace}">${packages.join('')}</mediapackages>`,
  );
}
