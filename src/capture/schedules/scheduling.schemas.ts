import { z } from 'zod';
import { formatInstant, parseDateTime } from '#metadata/date-time.ts';
import { quoted } from '#platform/text/excerpt.ts';
import { AGENT_ID } from '../agents/agent-examples.ts';
import { isName, MAX_NAME } from '../agents/agent-names.ts';
import type { Schedule } from '../states/recording-state.ts';
import { UNPARSABLE_AGENT, UNPARSABLE_DATE, YEARS } from '../states/scheduling-errors.ts';

/** The maximum duration of a recording: 30 days. */
export const LONGEST_MS = 30 * 86_400_000;
export const MOST_INPUTS = 100;

const ExactInstant = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{3})?Z$/)
  .meta({
    id: 'ExactInstant',
    description: 'A time in UTC, with milliseconds unless they are zero.',
    format: 'date-time',
  });

export const Scheduling = z
  .object({
    agent_id: z.string().describe('The capture agent that records.'),
    start: ExactInstant,
    end: ExactInstant,
    inputs: z.array(z.string()).optional().describe('The inputs of the agent to record.'),
  })
  .meta({ id: 'Scheduling' });

export const Conflicts = z
  .array(
    z
      .object({
        start: ExactInstant,
        end: ExactInstant,
        title: z.string().describe('Empty if the account may not read the event.'),
      })
      .meta({ id: 'Conflict' }),
  )
  .meta({ id: 'Conflicts' });

const Milliseconds = z
  .int({ error: refuseDuration })
  .min(1, { error: refuseDuration })
  .max(LONGEST_MS, { error: refuseDuration });

const MillisecondsText = z
  .string()
  .trim()
  .regex(/^\d{1,10}$/)
  .transform(Number)
  .pipe(Milliseconds);

/** The fields for time and inputs, in new schedules and changes. */
const FIELDS = {
  start: moment('start').describe('The start in UTC; with a rule, the start of its period.'),
  end: moment('end').optional().describe('The end in UTC, or use `duration`; with a rule, the end of its period.'),
  duration: z
    .union([Milliseconds, MillisecondsText], { error: refuseDuration })
    .optional()
    .describe('The duration in milliseconds. With a rule, required in addition to `end`.'),
  inputs: z
    .array(name(refuseInputs), { error: refuseInputs })
    .max(MOST_INPUTS, { error: refuseInputs })
    .optional()
    .describe('The inputs of the agent to record.'),
};

/** A change of a schedule; omitted fields stay unchanged, except for the end. */
export const SchedulingUpdate = z
  .object({
    agent_id: name(refuseAgent).optional().describe('The capture agent that records.'),
    ...FIELDS,
    start: FIELDS.start.optional().describe('The start in UTC.'),
    duration: FIELDS.duration.describe('The duration in milliseconds, or use `end`.'),
    end: FIELDS.end.describe('The end in UTC, or use `duration`.'),
  })
  .meta({ id: 'SchedulingUpdate' });

/** The schedule of a new event or, with a rule, of many events. */
export const NewScheduling = z
  .object({
    agent_id: name(refuseAgent).describe('The capture agent that records. An unknown agent is registered.'),
    ...FIELDS,
    rrule: z
      .string({ error: "Invalid RRule: the value of 'rrule' must be a recurrence rule of RFC 5545" })
      .optional()
      .describe(
        'The recurrence rule of RFC 5545 for start times in the period, with one hour and one minute in UTC as of the first day. Recordings keep the local time of the agent across daylight-saving changes.',
      )
      .meta({ examples: ['FREQ=WEEKLY;BYDAY=MO,TH;BYHOUR=8;BYMINUTE=15'] }),
  })
  .meta({ id: 'NewScheduling' });

/** A time in a plausible year. */
function moment(field: 'start' | 'end') {
  const error = ({ input }: { input?: unknown }) => UNPARSABLE_DATE.sentence(field, input);
  return z
    .string({ error })
    .meta({ format: 'date-time' })
    .transform((text, context) => {
      const instant = text.includes('T') ? parseDateTime(text) : undefined;
      const year = instant?.getUTCFullYear() ?? 0;
      if (instant && year >= YEARS.first && year <= YEARS.last) return instant;
      context.addIssue(error({ input: text }));
      return z.NEVER;
    });
}

function name(error: (issue: { input?: unknown }) => string) {
  return z.string({ error }).refine(isName, { error });
}

function refuseDuration({ input }: { input?: unknown }): string {
  return `Invalid format of field 'duration': the value is ${quoted(input)}; it must be a whole number of milliseconds from 1 to ${LONGEST_MS}`;
}

function refuseInputs(): string {
  return `Unable to parse the field 'inputs'; it must be a list of at most ${MOST_INPUTS} names with 1 to ${MAX_NAME} characters, not only blanks and no control characters`;
}

function refuseAgent({ input }: { input?: unknown }): string {
  return UNPARSABLE_AGENT.sentence(input);
}

/** Returns scheduling information for the API (contract 4.5). Clients can write back exactly what they read. */
export function scheduleJson({ agentId, start, end, inputs }: Schedule) {
  return {
    agent_id: agentId,
    start: formatExactly(start),
    end: formatExactly(end),
    ...(inputs.length > 0 && { inputs }),
  };
}

/** Formats a time, with milliseconds unless they are zero. */
export function formatExactly(date: Date): string {
  return date.getUTCMilliseconds() === 0 ? formatInstant(date) : date.toISOString();
}

export const SCHEDULING = {
  agent_id: AGENT_ID,
  start: '2026-10-12T08:15:00Z',
  end: '2026-10-12T09:45:00Z',
  inputs: ['camera', 'screen'],
};

export const CONFLICTS = [
  { start: '2026-10-12T09:00:00Z', end: '2026-10-12T10:30:00Z', title: 'Algebra I, lecture 1' },
];
