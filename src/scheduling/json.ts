import { formatInstant } from '../metadata/time.ts';
import type { Schedule } from './schedule.ts';

/** Scheduling information as the API shows it (contract 4.5); without inputs when there are none. */
export function scheduleJson({ agentId, start, end, inputs }: Schedule) {
  return {
    agent_id: agentId,
    start: formatInstant(start),
    end: formatInstant(end),
    ...(inputs.length > 0 && { inputs }),
  };
}
