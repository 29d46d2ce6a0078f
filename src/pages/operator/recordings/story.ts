import type { Change } from '#changes/change.ts';
import { minuteOf, sizeOf } from '../frame/words.ts';
import type { RecordingStory } from './story.queries.ts';

/** One thing that happened to a recording. */
export interface Entry {
  at: Date;
  text: string;
  /** Who did it; empty for the service itself. */
  by: string;
  /** How it is to be read. */
  tone: 'plain' | 'good' | 'alarm';
}

const RECORDING: Readonly<Record<string, string>> = {
  '': 'The recording is awaited again',
  capturing: 'The capture agent records',
  capture_finished: 'The capture agent has recorded',
  uploading: 'The capture agent uploads',
  upload_finished: 'The recording has come',
};

/**
 * What happened to a recording, the first first. What the log of changes has forgotten is told by what is still there:
 * when it came, which workflows it went through, and where it is published.
 */
export function entriesOf(story: RecordingStory): Entry[] {
  const told = story.changes.flatMap(entryOf);
  return [...remembered(story), ...told].sort((a, b) => a.at.getTime() - b.at.getTime());
}

function remembered({ event, workflows, publications, changes }: RecordingStory): Entry[] {
  const isTold = (kind: Change['kind'], [name, value]: readonly [string, unknown]) =>
    changes.some((change) => change.kind === kind && change.data[name] === value);
  const made = event && !changes.some(({ kind }) => kind === 'event.created');
  const runs = workflows
    .filter(({ id }) => !isTold('workflow.state', ['workflow', id]))
    .flatMap(({ title, creator, start, end, state, reason }) => [
      entry(start, `Workflow “${title}” started`, creator),
      ...(end ? [entry(end, endOf(state, reason), '', state === 'FAILED' ? 'alarm' : 'plain')] : []),
    ]);
  const shown = publications
    .filter(({ id }) => !isTold('publication.published', ['publication', id]))
    .map(({ channel, published_at }) => entry(published_at, `Published on ${channel}`, '', 'good'));
  return [...(made ? [entry(event.inserted_at, 'Created', event.creator)] : []), ...runs, ...shown];
}

function endOf(state: string, reason: string | null): string {
  return `Workflow ${state.toLowerCase()}${reason ? `: ${reason}` : ''}`;
}

function entry(at: Date, text: string, by: string, tone: Entry['tone'] = 'plain'): Entry {
  return { at, text, by, tone };
}

/** Operations and progress are told by the bars of the workflow. */
function entryOf({ kind, at, actor, data }: Change): Entry[] {
  const tell = (text: string, tone?: Entry['tone']) => [entry(at, text, actor, tone)];
  switch (kind) {
    case 'event.created':
      return tell(`Created${cameWith(data)}`);
    case 'event.changed':
      return tell(`Changed: ${listOf(data.parts)}${cameWith(data)}`);
    case 'event.scheduled':
      return tell(`Scheduled on ${data.agent} from ${timeOf(data.start)} to ${timeOf(data.end)} UTC`);
    case 'event.recording': {
      const state = String(data.recording);
      if (data.missed) return tell('The recording never came', 'alarm');
      const text = RECORDING[state] ?? `The capture agent says: ${state.replaceAll('_', ' ')}`;
      return tell(text, state.endsWith('_error') ? 'alarm' : 'plain');
    }
    case 'event.deleted':
      return tell('Deleted', 'alarm');
    case 'workflow.state':
      return workflowEntry(String(data.state), data, tell);
    case 'workflow.deleted':
      return tell(`Workflow ${data.workflow} deleted`);
    case 'publication.published':
      return tell(`Published on ${data.channel}`, 'good');
    case 'publication.retracted':
      return tell(`Taken back from ${data.channel}`);
    default:
      return [];
  }
}

function workflowEntry(
  state: string,
  data: Change['data'],
  tell: (text: string, tone?: Entry['tone']) => Entry[],
): Entry[] {
  const name = `Workflow ${data.workflow}`;
  const reason = typeof data.reason === 'string' ? `: ${data.reason}` : '';
  switch (state) {
    case 'INSTANTIATED':
      return tell(`${name} “${data.definition}” started`);
    case 'SUCCEEDED':
      return tell(`${name} succeeded`, 'good');
    case 'FAILING':
      return tell(`${name} fails${reason}`, 'alarm');
    case 'FAILED':
      return tell(`${name} failed${reason}`, 'alarm');
    case 'RUNNING':
      return tell(`${name} runs`);
    default:
      return tell(`${name} ${state.toLowerCase()}`);
  }
}

function cameWith({ tracks, bytes }: Change['data']): string {
  if (typeof tracks !== 'number') return '';
  return `, with ${tracks === 1 ? '1 track' : `${tracks} tracks`} of ${sizeOf(Number(bytes ?? 0))}`;
}

function listOf(parts: unknown): string {
  return Array.isArray(parts) ? parts.join(', ') : '';
}

function timeOf(text: unknown): string {
  return typeof text === 'string' ? minuteOf(new Date(text)) : '';
}
