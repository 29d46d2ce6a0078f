import { z } from 'zod';
import { quoted } from '#capture/agents/names.ts';
import { refusal } from '#platform/http/errors/refusal.ts';

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

export const UNKNOWN_RECORDING_STATE = refusal(
  400,
  (state: unknown) => `The form parameter 'state' is ${quoted(state)}; allowed are ${STATES.join(', ')}.`,
  ['flying'],
);

/** The form in which an agent reports a recording. */
export const RecordingReport = z.object({
  state: z.enum(STATES, {
    error: ({ input }) =>
      input === undefined
        ? `Missing form parameter 'state'; allowed are ${STATES.join(', ')}.`
        : UNKNOWN_RECORDING_STATE.sentence(input),
  }),
});
