import { z } from 'zod';
import { Instant } from '#platform/http/endpoint/endpoint-schemas.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { quoted } from '#platform/text/excerpt.ts';
import { isName, MAX_NAME } from './agent-names.ts';

const STATES = ['idle', 'capturing', 'uploading', 'unknown', 'shutting_down', 'error', 'offline'] as const;
const MAX_ADDRESS = 2000;
/** URL normalization removes these path segments. */
const DOTS = /^\.{1,2}$/;
const CONTROL = /\p{Cc}/u;

export const UNKNOWN_STATE = refusal(
  400,
  (state: unknown) => `The form parameter 'state' is ${quoted(state)}; allowed values: ${STATES.join(', ')}.`,
  ['flying'],
);
export const IMPOSSIBLE_NAME = refusal(
  400,
  (name: unknown) =>
    `The name of the capture agent is ${quoted(name)}. It must have 1 to ${MAX_NAME} characters, not only blanks, no control characters, and must not be . or ..`,
  [''],
);

export const AgentState = z.enum(STATES, {
  error: ({ input }) =>
    input === undefined
      ? `The form parameter 'state' is missing; allowed values: ${STATES.join(', ')}.`
      : UNKNOWN_STATE.sentence(input),
});
export type AgentState = z.infer<typeof AgentState>;

/** The name of a reporting capture agent; it may contain slashes. */
export const AgentName = z.string().refine((name) => isName(name) && !DOTS.test(name), {
  error: ({ input }) => IMPOSSIBLE_NAME.sentence(input),
});

export const AgentReport = z.object({
  state: AgentState,
  address: z
    .string()
    .trim()
    .refine(isAddress, {
      error: ({ input }) =>
        `The form parameter 'address' is ${quoted(input)}; it must have at most ${MAX_ADDRESS} characters and no control characters.`,
    })
    .optional()
    .describe(
      'The address of the agent. Without it, the address stays unchanged; a new agent gets the address the report came from.',
    ),
});
export type AgentReport = z.infer<typeof AgentReport>;

export const Agent = z
  .object({
    agent_id: z.string(),
    status: z
      .enum(STATES)
      .describe(
        'The last reported state; `offline` after two minutes without a report, `unknown` before the first report.',
      ),
    inputs: z.array(z.string()).describe('The inputs it can record, from the property `capture.device.names`.'),
    update: Instant.describe('The time of the last report, or of registration before the first report.'),
    url: z.string().describe('The address of the agent; may be empty.'),
  })
  .meta({ id: 'CaptureAgent' });
export type AgentJson = z.infer<typeof Agent>;

export const AgentList = z.array(Agent).meta({ id: 'CaptureAgentList' });

function isAddress(text: string): boolean {
  return (
    text.length <= 2 * MAX_ADDRESS && [...text].length <= MAX_ADDRESS && text.isWellFormed() && !CONTROL.test(text)
  );
}
