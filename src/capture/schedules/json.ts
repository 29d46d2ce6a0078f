import { formatInstant } from '#metadata/time.ts';
import type { Schedule } from '../states/state.ts';
import type { Conflict } from './conflicts.ts';

/** Returns scheduling information for the API (contract 4.5). Clients can write back exactly what they read. */
export function scheduleJson({ agentId, start, end, inputs }: Schedule) {
  return {
    agent_id: agentId,
    start: formatExactly(start),
    end: formatExactly(end),
    ...(inputs.length > 0 && { inputs }),
  };
}

export function conflictJson({ start, end, title }: Conflict) {
  return { start: formatExactly(start), end: formatExactly(end), title };
}

/** Formats a time, with milliseconds unless they are zero. */
function formatExactly(date: Date): string {
  return date.getUTCMilliseconds() === 0 ? formatInstant(date) : date.toISOString();
}
