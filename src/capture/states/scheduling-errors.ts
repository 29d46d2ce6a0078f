import { refusal } from '#platform/http/errors/errors.ts';
import { quoted } from '#platform/text/excerpt.ts';
import { MAX_NAME } from '../agents/agent-names.ts';

export const YEARS = { first: 1970, last: 2199 };
export const MOMENT = `a UTC datetime such as 2030-01-31T09:00:00Z, from ${YEARS.first} to ${YEARS.last}`;

export const UNPARSABLE_SCHEDULING = refusal(400, 'Unable to parse scheduling information');
/** The error of endpoints that change only the scheduling. */
export const UNPARSABLE_SCHEDULING_UPDATE = refusal(400, 'Unparsable scheduling information');
export const UNPARSABLE_DATE = refusal(
  400,
  (field: string, value: unknown) =>
    `Unparsable date in scheduling information: the value of '${field}' is ${quoted(value)}; it must be ${MOMENT}`,
  ['start', '2030-02-30T09:00:00Z'],
);
export const UNPARSABLE_AGENT = refusal(
  400,
  (name: unknown) =>
    `Unable to parse device: the value of 'agent_id' is ${quoted(name)}; it must have 1 to ${MAX_NAME} characters, not only blanks and no control characters`,
  [undefined],
);
export const NO_END = refusal(400, "Either 'end' or 'duration' must be specified");
export const TWO_ENDS = refusal(400, "Either 'end' or 'duration' must be specified, not both");
export const RULE_INCOMPLETE = refusal(
  400,
  "'start', 'end' and 'duration' must be specified when 'rrule' is specified",
);
export const INVALID_RULE = refusal(400, (rule: string, reason: string) => `Invalid RRule: ${rule}: ${reason}`, [
  'FREQ=SECONDLY',
  "FREQ is 'SECONDLY'; allowed is DAILY, WEEKLY, MONTHLY or YEARLY",
]);
export const NO_OCCURRENCES = refusal(400, 'The date range provided did not include any events');
export const PERIODS_OVERLAP = refusal(400, 'RRULE periods overlap');

/** The errors of the field `scheduling` in a create request. */
export const NEW_SCHEDULING_REFUSALS = [
  UNPARSABLE_SCHEDULING,
  UNPARSABLE_DATE,
  NO_END,
  RULE_INCOMPLETE,
  INVALID_RULE,
  NO_OCCURRENCES,
  PERIODS_OVERLAP,
  UNPARSABLE_AGENT,
];
/** The errors of the field `scheduling` in an update request. */
export const SCHEDULING_REFUSALS = [UNPARSABLE_SCHEDULING, UNPARSABLE_DATE, NO_END];
