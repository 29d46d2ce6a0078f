import { setTimeout as sleep } from 'node:timers/promises';
import { formatDuration } from '../../units.ts';
import { get, type Server } from './server.ts';
import { type WorkflowProgress, workflowProgress } from './workflow-progress.ts';

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

/** Asks for the event until its processing has come to rest. An answer that nothing has changed costs a 304. */
export async function followEvent(
  server: Server,
  identifier: string,
  onProgress: (progress: WorkflowProgress) => void,
  signal: AbortSignal,
): Promise<ProcessedEvent> {
  const path = `/api/events/${encodeURIComponent(identifier)}`;
  let etag = '';
  for (;;) {
    const response = await get(server, path, signal, etag ? { 'If-None-Match': etag } : {});
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
    onProgress(progress);
    await sleep(POLL_MS, undefined, { signal });
  }
}

/** What became of a recording, a line each. */
export function eventSummary(event: ProcessedEvent): string[] {
  return [
    `Event      ${event.identifier}`,
    `State      ${event.state}${event.state === 'SUCCEEDED' ? '' : `: ${event.reason}`}`,
    ...(event.duration > 0 ? [`Duration   ${formatDuration(event.duration)} (${event.duration} ms)`] : []),
    ...event.urls.map((url) => `Watch      ${url}`),
  ];
}
