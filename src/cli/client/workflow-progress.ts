import { get, type Server } from './server.ts';

/** How far the processing of an event is. */
export interface WorkflowProgress {
  /** From 0 to 1. */
  fraction: number;
  /** What is being done, or why it failed. */
  note: string;
}

/** What is known of an operation; the fields of `GET /admin/events/{id}/workflows` that matter here. */
export interface Operation {
  state: string;
  description: string;
  progress: number;
  reason: string | null;
}

export async function workflowProgress(
  server: Server,
  eventId: string,
  signal: AbortSignal,
): Promise<WorkflowProgress> {
  const response = await get(
    server,
    `/admin/events/${encodeURIComponent(eventId)}/workflows`,
    signal,
    {},
    [403],
  );
  // For administrators alone.
  if (response.status === 403) return summarise([]);
  const [latest] = (await response.json()) as { operations: Operation[] }[];
  return summarise(latest?.operations ?? []);
}

/** Every operation counts the same; the one at work, or the failed one, gives the note. */
export function summarise(operations: readonly Operation[]): WorkflowProgress {
  const planned = operations.filter(({ state }) => state !== 'skipped');
  const done = planned.reduce((sum, { state, progress }) => sum + (state === 'succeeded' ? 1 : progress), 0);
  const current = planned.find(({ state }) => state !== 'succeeded');
  return {
    fraction: planned.length === 0 ? 0 : done / planned.length,
    note: current?.reason ?? current?.description ?? '',
  };
}
