import { setTimeout as sleep } from 'node:timers/promises';
import { formatDuration } from '#platform/text/units.ts';
import { CommandError } from '../failure.ts';
import { patiently } from './patience.ts';
import { get, type Server } from './server.ts';

/** How far the processing of an event is. */
interface WorkflowProgress {
  /** From 0 to 1. */
  fraction: number;
  /** What is being done, or why it failed. */
  note: string;
}

/** What is known of an operation; the fields of `GET /admin/events/{id}/workflows` that matter here. */
interface Operation {
  state: string;
  description: string;
  progress: number;
  reason: string | null;
}

async function workflowProgress(server: Server, eventId: string, signal: AbortSignal): Promise<WorkflowProgress> {
  const response = await get(server, `/admin/events/${encodeURIComponent(eventId)}/workflows`, signal, {}, [403]);
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

const POLL_MS = 400;
const UNFINISHED = ['', 'INSTANTIATED', 'RUNNING', 'FAILING'];

/** What the demo shows of an event whose processing has come to rest. */
export interface ProcessedEvent {
  identifier: string;
  /** SUCCEEDED, FAILED, PAUSED or STOPPED. */
  state: string;
  /** Why it is not SUCCEEDED. */
  reason: string;
  /** Milliseconds. */
  duration: number;
  /** Where it can be watched. */
  urls: string[];
}

/** Somebody deleted an event while it was followed, or before. */
export class EventGone extends CommandError {}

/**
 * Asks for the event until its processing has come to rest, and waits for a server that is away. An answer that nothing
 * has changed costs a 304.
 *
 * @throws {CommandError}
 */
export async function followEvent(
  server: Server,
  identifier: string,
  onProgress: (progress: WorkflowProgress) => void,
  signal: AbortSignal,
): Promise<ProcessedEvent> {
  const path = `/api/events/${encodeURIComponent(identifier)}`;
  let fraction = 0;
  let etag = '';
  const look = async (): Promise<ProcessedEvent | undefined> => {
    const response = await get(server, path, signal, etag ? { 'If-None-Match': etag } : {}, [404]);
    if (response.status === 404) throw new EventGone(`There is no event ${identifier} any more.`);
    const progress = await workflowProgress(server, identifier, signal);
    if (response.status === 200) {
      const event = (await response.json()) as { processing_state: string; duration?: number | null };
      const { processing_state: state, duration } = event;
      if (!UNFINISHED.includes(state)) {
        const publications = await get(server, `${path}/publications?sign=true`, signal);
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
    const processed = await patiently(look, { signal, onAway });
    if (processed) return processed;
    await sleep(POLL_MS, undefined, { signal });
  }
}

/** What is told of an event as soon as it is there. */
export function eventLine(identifier: string): string {
  return `Event      ${identifier}`;
}

/** What became of a recording, a line each, after that. */
export function eventSummary(event: ProcessedEvent): string[] {
  return [
    `State      ${event.state}${event.state === 'SUCCEEDED' ? '' : `: ${event.reason}`}`,
    ...(event.duration > 0 ? [`Duration   ${formatDuration(event.duration)} (${event.duration} ms)`] : []),
    ...event.urls.map((url) => `Watch      ${url}`),
  ];
}
