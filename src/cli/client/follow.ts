import { setTimeout as sleep } from 'node:timers/promises';
import { formatDuration } from '#platform/text/units.ts';
import { CommandError } from '../failure.ts';
import { showProgress } from '../terminal/progress.ts';
import { ask, retryWhileAway, type Server } from './server.ts';

interface WorkflowProgress {
  fraction: number;
  /** The current operation, or the reason of the failure. */
  note: string;
}

/** The used fields of an operation in `GET /admin/events/{id}/workflows`. */
interface Operation {
  state: string;
  description: string;
  progress: number;
  reason: string | null;
}

async function workflowProgress(server: Server, eventId: string, signal: AbortSignal): Promise<WorkflowProgress> {
  const response = await ask(server, `/admin/events/${encodeURIComponent(eventId)}/workflows`, { signal }, [403]);
  // Only administrators may read workflows.
  if (response.status === 403) return summarizeOperations([]);
  const [latest] = (await response.json()) as { operations: Operation[] }[];
  return summarizeOperations(latest?.operations ?? []);
}

/** Weights all operations equally. The note is that of the running or failed one. */
export function summarizeOperations(operations: readonly Operation[]): WorkflowProgress {
  const planned = operations.filter(({ state }) => state !== 'skipped');
  const done = planned.reduce((sum, { state, progress }) => sum + (state === 'succeeded' ? 1 : progress), 0);
  const current = planned.find(({ state }) => state !== 'succeeded');
  return {
    fraction: planned.length === 0 ? 0 : done / planned.length,
    note: current?.reason ?? current?.description ?? '',
  };
}

const POLL_MS = 400;
const UNFINISHED = ['', 'INSTANTIATED', 'RUNNING', 'FAILING'];

/** An event whose processing has stopped. */
export interface ProcessedEvent {
  identifier: string;
  state: string;
  /** The reason if it is not SUCCEEDED. */
  reason: string;
  duration: number;
  urls: string[];
}

export class EventGone extends CommandError {}

/**
 * Polls the event until its processing stops, and waits while the server is away.
 *
 * @throws {CommandError}
 */
async function followEvent(
  server: Server,
  identifier: string,
  onProgress: (progress: WorkflowProgress) => void,
  signal: AbortSignal,
): Promise<ProcessedEvent> {
  const path = `/api/events/${encodeURIComponent(identifier)}`;
  let fraction = 0;
  let etag = '';
  const poll = async (): Promise<ProcessedEvent | undefined> => {
    const headers = etag ? { 'If-None-Match': etag } : undefined;
    const response = await ask(server, path, { headers, signal }, [304, 404]);
    if (response.status === 404) throw new EventGone(`The event ${identifier} no longer exists.`);
    const progress = await workflowProgress(server, identifier, signal);
    if (response.status === 200) {
      const event = (await response.json()) as { processing_state: string; duration?: number | null };
      const { processing_state: state, duration } = event;
      if (!UNFINISHED.includes(state)) {
        const publications = await ask(server, `${path}/publications?sign=true`, { signal });
        const urls = ((await publications.json()) as { url: string }[]).map(({ url }) => url);
        if (state === 'SUCCEEDED') onProgress({ fraction: 1, note: 'done' });
        return { identifier, state, duration: duration ?? 0, reason: progress.note, urls };
      }
      etag = response.headers.get('ETag') ?? '';
    }
    fraction = progress.fraction;
    onProgress(progress);
    return undefined;
  };
  const onAway = ({ message }: Error) => onProgress({ fraction, note: `waiting for the server: ${message}` });
  for (;;) {
    const processed = await retryWhileAway(poll, { signal, onAway });
    if (processed) return processed;
    await sleep(POLL_MS, undefined, { signal });
  }
}

/** Follows an event with a progress bar. @throws {CommandError} */
export async function showProcessing(
  server: Server,
  identifier: string,
  { signal, screen, label }: { signal: AbortSignal; screen: NodeJS.WriteStream; label: string },
): Promise<ProcessedEvent> {
  const progress = showProgress(label, screen);
  const onProgress = ({ fraction, note }: WorkflowProgress) => progress.update(fraction, note);
  return followEvent(server, identifier, onProgress, signal).finally(progress.stop);
}

/** Returns the line that is shown when the event is created. */
export function eventLine(identifier: string): string {
  return `Event      ${identifier}`;
}

/** Returns the lines that are shown after the processing. */
export function eventSummary(event: ProcessedEvent): string[] {
  return [
    `State      ${event.state}${event.state === 'SUCCEEDED' ? '' : `: ${event.reason}`}`,
    ...(event.duration > 0 ? [`Duration   ${formatDuration(event.duration)} (${event.duration} ms)`] : []),
    ...event.urls.map((url) => `Watch      ${url}`),
  ];
}
