import { z } from 'zod';
import { parseDateTime } from '#metadata/time.ts';
import { isName, MAX_NAME, quoted } from '../agents/names.ts';
import { UNPARSABLE_AGENT, UNPARSABLE_DATE, YEARS } from '../states/refusals.ts';

/** How long one recording may take: 30 days. */
export const LONGEST_MS = 30 * 86_400_000;
export const MOST_INPUTS = 100;

/** A moment in UTC, with milliseconds when it is not a whole second. */
const ExactInstant = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{3})?Z$/)
  .meta({
    id: 'ExactInstant',
    description: 'A moment in UTC, with milliseconds when it is not a whole second.',
    format: 'date-time',
  });

/** What is scheduled, as it is answered; without `inputs` when there are none. */
export const Scheduling = z
  .object({
    agent_id: z.string().describe('The capture agent that records.'),
    start: ExactInstant,
    end: ExactInstant,
    inputs: z.array(z.string()).optional().describe('Inputs of the agent that it is to record.'),
  })
  .meta({ id: 'Scheduling' });

/** Recordings of the same agent that stand in the way. */
export const Conflicts = z
  .array(
    z
      .object({
        start: ExactInstant,
        end: ExactInstant,
        title: z.string().describe('Empty when the event is not for the account to see.'),
      })
      .meta({ id: 'Conflict' }),
  )
  .meta({ id: 'Conflicts' });

const Milliseconds = z
  .int({ error: refuseDuration })
  .min(1, { error: refuseDuration })
  .max(LONGEST_MS, { error: refuseDuration });

/** The fields that say when, and of which inputs; a change takes the same. */
const FIELDS = {
  start: moment('start').describe('When it starts, in UTC; of a rule, when its period does.'),
  end: moment('end').optional().describe('When it ends, in UTC, or else `duration`; of a rule, when its period does.'),
  duration: z
    .union(
      [
        Milliseconds,
        z
          .string()
          .trim()
          .regex(/^\d{1,10}$/)
          .transform(Number)
          .pipe(Milliseconds),
      ],
      {
        error: refuseDuration,
      },
    )
    .optional()
    .describe('In milliseconds. A rule needs it beside `end`.'),
  inputs: z
    .array(name(refuseInputs), { error: refuseInputs })
    .max(MOST_INPUTS, { error: refuseInputs })
    .optional()
    .describe('Inputs of the agent that it is to record.'),
};

/** What is to become of a schedule, as it is sent: what is left out stays, but for the end. */
export const SchedulingUpdate = z
  .object({
    agent_id: name(refuseAgent).optional().describe('The capture agent that is to record.'),
    ...FIELDS,
    start: FIELDS.start.optional().describe('When it starts, in UTC.'),
    duration: FIELDS.duration.describe('In milliseconds; or else `end`.'),
    end: FIELDS.end.describe('When it ends, in UTC; or else `duration`.'),
  })
  .meta({ id: 'SchedulingUpdate' });

/** What is to be recorded for a new event or, with a rule, for many, as it is sent. */
export const NewScheduling = z
  .object({
    agent_id: name(refuseAgent).describe('The capture agent that is to record; becomes known by that.'),
    ...FIELDS,
    rrule: z
      .string({
        error: "Invalid RRule: the value of 'rrule' is no text; allowed is a recurrence rule by RFC 5545",
      })
      .optional()
      .describe(
        'When recordings start within the period, by RFC 5545. It names one hour and one minute, in UTC as of the first day; over daylight-saving changes recordings keep to the clock of the agent.',
      )
      .meta({ examples: ['FREQ=WEEKLY;BYDAY=MO,TH;BYHOUR=8;BYMINUTE=15'] }),
  })
  .meta({ id: 'NewScheduling' });

/** An instant; the database and the contract could hold others, people hardly mean them. */
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
  return `Invalid format of field 'duration': the value is ${quoted(input)}; allowed is a whole number of milliseconds from 1 to ${LONGEST_MS}`;
}

function refuseInputs(): string {
  return `Unable to parse the field 'inputs'; allowed is a list of up to ${MOST_INPUTS} names with 1 to ${MAX_NAME} characters, not all blank and none of them a control character`;
}

function refuseAgent({ input }: { input?: unknown }): string {
  return UNPARSABLE_AGENT.sentence(input);
}
