import { type AclEntry, distinctEntries, StrictAcl } from '#access/acl/acl.ts';
import { isName } from '#capture/agents/agent-names.ts';
import type { RecordingState } from '#capture/states/recording-state.ts';
import { chosenIdentifier, newEventColumns } from '#catalogue/events/event-columns.ts';
import type { NewDocument } from '#catalogue/events/event-files.ts';
import type { CatalogValues } from '#metadata/catalog.ts';
import type { CatalogSet } from '#metadata/catalogs.ts';
import { textIn } from '#metadata/core-fields.ts';
import { parseDateTime, parseDuration } from '#metadata/date-time.ts';
import { DEFAULT_WORKFLOW } from '#processing/load-definitions.ts';
import type { Processing } from '#processing/processing-request.ts';
import { SourceError } from './catalogue-source.ts';
import { storable } from './import-items.queries.ts';
import { type PlannedFiles, planFiles } from './plan-files.ts';
import { planMetadata } from './plan-metadata.ts';
import type { SourceEvent, SourceTrack } from './source.schemas.ts';

/** An event as it is to be here. */
export interface EventPlan extends PlannedFiles {
  id: string;
  columns: ReturnType<typeof newEventColumns> & { creator: string; processing_state: string };
  /** Values of extended catalogs, by flavor. */
  catalogs: ReadonlyMap<string, CatalogValues>;
  acl: AclEntry[];
  /** False if the event uses the list of its series. */
  ownAcl: boolean;
  schedule: PlannedSchedule | undefined;
  /** XML documents of the recording. */
  documents: readonly NewDocument[];
}

export interface PlannedSchedule {
  agentId: string;
  start: Date;
  end: Date;
  inputs: string[];
  recordingState: RecordingState;
  /** The processing that starts when the recording arrives. */
  processing: Processing;
}

/** In characters; longer ones do not fit into an index. */
export const MAX_TITLE = 500;
const SETTLED = ['', 'SUCCEEDED', 'FAILED', 'STOPPED'];

/** Returns why an event cannot be copied now; undefined if it can. */
export function waitingReason({ processing_state }: SourceEvent): string | undefined {
  if (SETTLED.includes(processing_state)) return undefined;
  return processing_state === 'PAUSED'
    ? 'Its workflow is paused at the source. Continue or stop it there.'
    : 'It is being processed at the source.';
}

interface PlanParts {
  catalogs: CatalogSet;
  /** The name of the source. */
  source: string;
  now: Date;
  /** Identifiers of files and publications that other events have here. */
  taken?: ReadonlySet<string>;
}

/**
 * Plans the copy of an event. Everything that the source tells is kept; what cannot be kept is noted.
 *
 * @throws {HttpError | SourceError} if the event cannot be kept under its identifier or with its access control list
 */
export function planEvent(
  event: SourceEvent,
  tracks: readonly SourceTrack[],
  { catalogs: set, source, now, taken }: PlanParts,
): EventPlan {
  const { identifier: id } = event;
  const metadata = planMetadata(event.metadata, set);
  const { common: values } = metadata;
  if (!chosenIdentifier(values.set('identifier', id))) throw new SourceError('It has no identifier.');
  const title = storable(event.title, MAX_TITLE);
  values.set('title', values.get('title') ?? title).set('isPartOf', event.is_part_of);
  for (const [name, value] of [
    ['startDate', event.start],
    ['created', event.created],
  ] as const) {
    if (textIn(values, name) === '') values.set(name, parseDateTime(value) ? value : '');
  }
  const schedule = scheduleOf(event);
  const files = planFiles(event, tracks, source, taken);
  return {
    ...files,
    id,
    columns: {
      ...newEventColumns(values, now),
      duration: durationOf(event, parseDuration(textIn(values, 'duration')) ?? 0),
      creator: event.creator,
      processing_state: event.processing_state,
    },
    catalogs: metadata.extended,
    acl: aclOf(event),
    ownAcl: true,
    schedule,
    documents: [],
    notes: [
      ...metadata.notes,
      ...files.notes,
      ...(!schedule && event.scheduling?.agent_id ? ['Its schedule has no valid agent or no valid period.'] : []),
    ],
  };
}

/** Returns the exact duration, which catalogs show in whole seconds. Older servers answer that of the scheduled recording. */
function durationOf({ duration }: SourceEvent, shown: number): number | null {
  const exact = typeof duration === 'number' && duration >= 0 ? Math.round(duration) : null;
  if (exact === null) return shown || null;
  return shown > 0 && Math.floor(exact / 1000) * 1000 !== shown ? shown : exact;
}

/** Reads an access control list. Some sources list an entry twice. @throws {SourceError} */
export function aclOf({ acl = [] }: { acl?: AclEntry[] | undefined }): AclEntry[] {
  const parsed = StrictAcl.safeParse(acl);
  if (parsed.success) return distinctEntries(parsed.data);
  throw new SourceError('Its access control list has too many or too long entries.');
}

const RECORDING_STATES: Readonly<Record<string, RecordingState>> = {
  SCHEDULED: '',
  RECORDING: 'capturing',
  INGESTING: 'uploading',
  RECORDING_FAILURE: 'capture_error',
};

function scheduleOf({ scheduling, status }: SourceEvent): PlannedSchedule | undefined {
  const [start, end] = [scheduling?.start, scheduling?.end].map((text) => parseDateTime(text ?? ''));
  if (!scheduling?.agent_id || !isName(scheduling.agent_id) || !start || !end || end <= start) return undefined;
  const recordingState = RECORDING_STATES[status.split('.').at(-1) ?? ''] ?? 'upload_finished';
  // The External API does not show the workflow of a scheduled recording.
  const processing = { workflow: DEFAULT_WORKFLOW, configuration: {} };
  return {
    agentId: scheduling.agent_id,
    start,
    end,
    inputs: (scheduling.inputs ?? []).filter(isName),
    recordingState,
    processing,
  };
}
