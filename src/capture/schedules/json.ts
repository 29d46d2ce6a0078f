import { formatInstant } from '#metadata/time.ts';
import type { Schedule } from '../states/state.ts';
import type { Conflict } from './conflicts.ts';

/**
 * Scheduling information as the API shows it (contract 4.5); without inputs when there are none. Times have milliseconds
 * when they are not whole seconds, so that what was read may be written back.
 */
export function scheduleJson({ agentId, start, end, inputs }: Schedule) {
  return {
    agent_id: agentId,
    start: formatExactly(start),
    end: formatExactly(end),
    ...(inputs.length > 0 && { inputs }),
  };
}

/** What stands in the way of a recording, as the API shows it (contract 2.11). */
export function conflictJson({ start, end, title }: Conflict) {
  return { start: formatExactly(start), end: formatExactly(end), title };
}

/** A moment in the contract's form, with milliseconds when it is not a whole second. */
function formatExactly(date: Date): string {
  return date.getUTCMilliseconds() === 0 ? formatInstant(date) : date.toISOString();
}
