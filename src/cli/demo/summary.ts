import type { Config } from '../../config.ts';
import { formatDuration } from '../../units.ts';
import type { ProcessedEvent } from './follow.ts';

/** What became of a recording, a line each. */
export function eventSummary(event: ProcessedEvent): string[] {
  return [
    `Event      ${event.identifier}`,
    `State      ${event.state}${event.state === 'SUCCEEDED' ? '' : `: ${event.reason}`}`,
    `Duration   ${formatDuration(event.duration)} (${event.duration} ms)`,
    ...event.urls.map((url) => `Watch      ${url}`),
  ];
}

/** Where operators look, and how they sign in. A password that somebody chose is not shown. */
export function dashboardHint(config: Config, chosenPassword: boolean): string {
  const password = chosenPassword ? 'the password of ADMIN_PASSWORD' : `password ${config.admin.password}`;
  return `Dashboard  ${config.publicUrl}/admin/queues (account ${config.admin.username}, ${password})`;
}
