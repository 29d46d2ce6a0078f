import type { NewChange } from '../changes/change.ts';
import type { Schedule } from '../recordings/schedules/schedule.ts';
import type { RecordingState } from '../recordings/state.ts';
import type { NewTrack } from './tracks.ts';

/** What the log says of a new event. */
export function createdChange(eventId: string, tracks: readonly NewTrack[], actor: string): NewChange {
  return { kind: 'event.created', eventId, actor, data: sizesOf(tracks) };
}

/** What the log says of an event that is edited. */
export function editedChange(
  eventId: string,
  { parts, added }: { parts: readonly string[]; added: readonly NewTrack[] },
  actor: string,
): NewChange {
  return { kind: 'event.changed', eventId, actor, data: { parts, ...sizesOf(added) } };
}

/** What the log says of a recording that is scheduled. */
export function scheduledChange(
  { eventId, agentId: agent, start, end }: Omit<Schedule, 'inputs'>,
  actor: string,
): NewChange {
  const data = { agent, start: start.toISOString(), end: end.toISOString() };
  return { kind: 'event.scheduled', eventId, actor, data };
}

/** What the log says of the recording of a scheduled event. */
export function recordingChange(eventId: string, recording: RecordingState): NewChange {
  return { kind: 'event.recording', eventId, data: { recording } };
}

function sizesOf(tracks: readonly NewTrack[]) {
  const bytes = tracks.reduce((sum, { size }) => sum + size, 0);
  return tracks.length > 0 ? { tracks: tracks.length, bytes } : {};
}
