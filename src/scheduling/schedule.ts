/** When something is to be recorded: from `start` up to `end`. */
export interface Period {
  start: Date;
  end: Date;
}

/** A recording that is to be scheduled, and the title its event has or will have. */
export interface Occurrence extends Period {
  eventId: string;
  title: string;
}

/** What a capture agent is to record for an event. */
export interface Schedule extends Period {
  eventId: string;
  agentId: string;
  /** Inputs of the agent; none when it is to decide. */
  inputs: string[];
}

/** What is known of a recording; empty until something is. */
export type RecordingState =
  | ''
  | 'capturing'
  | 'capture_finished'
  | 'capture_error'
  | 'manifest'
  | 'manifest_error'
  | 'manifest_finished'
  | 'compressing'
  | 'compressing_error'
  | 'uploading'
  | 'upload_finished'
  | 'upload_error';

/**
 * Whether an event still waits for its recording, so that it may be moved, and a recording of it taken. One that failed
 * or was missed may still come.
 */
export function awaitsRecording(event: {
  agent_id: string;
  recording_state: string;
  processing_state: string;
}): boolean {
  const state = event.recording_state as RecordingState;
  return event.agent_id !== '' && event.processing_state === '' && (state === '' || state.endsWith('_error'));
}

/** Whether two schedules want the same time of the same agent. */
export function isSamePlace(a: Schedule, b: Schedule): boolean {
  return (
    a.agentId === b.agentId && a.start.getTime() === b.start.getTime() && a.end.getTime() === b.end.getTime()
  );
}
