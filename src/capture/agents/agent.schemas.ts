import { z } from 'zod';
import { Instant } from '#platform/http/endpoint/schemas.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { isName, MAX_NAME, quoted } from './names.ts';

const STATES = ['idle', 'capturing', 'uploading', 'unknown', 'shutting_down', 'error', 'offline'] as const;
const MAX_ADDRESS = 2000;
/** Dots are taken out of addresses on their way. */
const DOTS = /^\.{1,2}$/;
const CONTROL = /\p{Cc}/u;

export const UNKNOWN_STATE = refusal(
  400,
  (state: unknown) => `The form parameter 'state' is ${quoted(state)}; allowed are ${STATES.join(', ')}.`,
  ['flying'],
);
export const IMPOSSIBLE_NAME = refusal(
  400,
  (name: unknown) =>
    `The name of the capture agent is ${quoted(name)}; allowed are 1 to ${MAX_NAME} characters, not all blank, none of them a control character, and neither . nor ..`,
  [''],
);

/** What a capture agent can say of itself. */
export const AgentState = z.enum(STATES, {
  error: ({ input }) =>
    input === undefined
      ? `Missing form parameter 'state'; allowed are ${STATES.join(', ')}.`
      : UNKNOWN_STATE.sentence(input),
});
export type AgentState = z.infer<typeof AgentState>;

/** The name under which a capture agent reports itself; it may hold slashes. */
export const AgentName = z.string().refine((name) => isName(name) && !DOTS.test(name), {
  error: ({ input }) => IMPOSSIBLE_NAME.sentence(input),
});

/** What a capture agent reports. */
export const AgentReport = z.object({
  state: AgentState,
  address: z
    .string()
    .trim()
    .refine((address) => isPlain(address, MAX_ADDRESS), {
      error: ({ input }) =>
        `The form parameter 'address' is ${quoted(input)}; allowed are up to ${MAX_ADDRESS} characters, none of them a control character.`,
    })
    .optional()
    .describe(
      'Where the agent itself can be reached; without it the address stays as it is, and at first is the one that the report comes from.',
    ),
});
export type AgentReport = z.infer<typeof AgentReport>;

/** A capture agent. */
export const Agent = z
  .object({
    agent_id: z.string(),
    status: z
      .enum(STATES)
      .describe('As last reported; `offline` after two minutes of silence, `unknown` before the first report.'),
    inputs: z.array(z.string()).describe('What it can record; the property `capture.device.names`.'),
    update: Instant.describe('When it last reported or, before its first report, became known.'),
    url: z.string().describe('Where it can be reached itself; may be empty.'),
  })
  .meta({ id: 'CaptureAgent' });
export type AgentJson = z.infer<typeof Agent>;

/** A page of capture agents. */
export const AgentList = z.array(Agent).meta({ id: 'CaptureAgentList' });

function isPlain(text: string, most: number): boolean {
  return text.length <= 2 * most && [...text].length <= most && text.isWellFormed() && !CONTROL.test(text);
}
