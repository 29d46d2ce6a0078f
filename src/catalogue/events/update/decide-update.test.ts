import { describe, expect, test } from 'vitest';
import { progressOf } from '#capture/states/recording-state.ts';
import { loadCatalogs } from '#metadata/catalogs.ts';
import { HttpError } from '#platform/http/errors/errors.ts';
import { newEventColumns } from '../event-columns.ts';
import type { NewTrack } from '../event-files.ts';
import type { EventState, StoredTrack } from '../event-state.ts';
import type { EventWrite } from '../write-events.ts';
import { decideUpdate } from './decide-update.ts';
import { type EventEdits, REFUSALS, type SchedulingEdit } from './event-edits.ts';

const { event: catalogs } = await loadCatalogs(undefined);
const START = new Date('2030-01-07T09:00:00Z');
const END = new Date('2030-01-07T10:00:00Z');
const PUBLISH = { workflow: 'publish', configuration: {} };
const READER = { action: 'read', role: 'ROLE_READER', allow: true };

/** An event of one title that nobody has scheduled; `values` are columns of its row. */
function unscheduled(values: Partial<EventState['row']> = {}, more: Partial<Omit<EventState, 'row'>> = {}): EventState {
  const row = {
    ...newEventColumns(new Map([['title', 'Before']]), START),
    ...{ id: 'event', created: START, creator: '', own_acl: true, archive_version: 0, series_title: '' },
    ...{ end_date: START, inserted_at: START, search_text: '', status: '', read_roles: [], write_roles: [] },
    ...{ agent_id: '', technical_start: START, technical_end: START, tracks_changed_at: null },
    ...{ processing_state: '', recording_state: '', ...values },
  };
  const { tracks = [] } = more;
  return {
    row,
    acl: { entries: [READER], own: true },
    catalogs: new Map(),
    tracks,
    schedule: undefined,
    processing: undefined,
    progress: progressOf(
      row,
      tracks.some(({ isMedia }) => isMedia),
    ),
    references: { seriesFound: false, presenters: [], agentKnown: false },
    ...more,
  };
}

/** The same, which an agent is to record. */
function scheduled(values: Partial<EventState['row']> = {}, tracks: StoredTrack[] = []): EventState {
  const times = { technical_start: START, technical_end: END };
  const schedule = { eventId: 'event', agentId: 'hall', start: START, end: END, inputs: [] };
  return unscheduled({ agent_id: 'hall', ...times, ...values }, { tracks, schedule, processing: PUBLISH });
}

const stored = (more: Partial<StoredTrack> = {}): StoredTrack => ({
  ...{ id: 'old', flavor: 'presenter/source', tags: [], objectKey: 'track/old', isMedia: true },
  ...more,
});
const added = (more: Partial<NewTrack> = {}): NewTrack => ({
  ...{ id: 'new', flavor: 'presenter/source', filename: 'a.mp4', mediatype: 'video/mp4' },
  ...{ objectKey: 'track/new', size: 10, sha256: null, ...more },
});
const decide = (state: EventState, edits: EventEdits) =>
  decideUpdate(state, edits, { actor: 'ada', refusals: REFUSALS });
const values = (given: Record<string, string | string[]>): EventEdits => ({
  metadata: {
    kind: 'values',
    given: new Map([['dublincore/episode', new Map(Object.entries(given))]]),
    catalogs,
  },
});
const moved = (change: SchedulingEdit['change']): EventEdits => ({
  scheduling: { change, gapMs: 0, allowConflict: false },
});
const parts = (write: EventWrite | undefined) => (write?.rows.kind === 'changed' ? write.rows.parts : []);

/** What is thrown, by its status and sentence. */
function refusalOf(state: EventState, edits: EventEdits): [number, string] | string {
  try {
    decide(state, edits);
    return 'nothing';
  } catch (error) {
    return error instanceof HttpError ? [error.status, error.message] : String(error);
  }
}

test('edits that hold what the event has already write nothing', () => {
  const state = scheduled();
  const acl = { kind: 'replace', entries: [{ ...READER }] } as const;
  const edits = { ...values({ title: 'Before' }), ...moved({ end: END }), acl, processing: { ...PUBLISH } };
  expect(decide(state, edits)).toEqual({ write: undefined, removed: 0, processing: undefined });
});

test('edits of all parts are one write, which names the parts', () => {
  const acl = { kind: 'add', entry: { ...READER, action: 'write' } } as const;
  const processing = { workflow: 'other', configuration: { a: 'b' } };
  const tracks = { kind: 'recording', tracks: [added()] } as const;
  const edits = {
    ...values({ title: 'After' }),
    acl,
    ...moved({ agentId: 'room', end: END }),
    processing,
    tracks,
  };
  const { write, ...outcome } = decide(scheduled(), edits);
  expect(parts(write)).toEqual(['metadata', 'acl', 'scheduling', 'processing', 'tracks']);
  expect(write).toMatchObject({
    ids: ['event'],
    actor: 'ada',
    rows: { columns: { title: 'After', location: 'room', own_acl: true } },
    acl: [READER, acl.entry],
    schedule: { to: { agentId: 'room', start: START }, processing, recordingState: 'upload_finished' },
    recording: ['upload_finished'],
    tracks: [{ id: 'new' }],
  });
  expect(outcome).toEqual({ removed: 0, processing });
});

describe('metadata', () => {
  test('presenters get their names, and a series is joined that the sender sees', () => {
    const references = { seriesFound: true, presenters: ['Ada L.'], agentKnown: false };
    const state = unscheduled({ processing_state: 'RUNNING' }, { references });
    const { write } = decide(state, values({ creator: ['ada'], isPartOf: 'series' }));
    expect(write?.rows).toMatchObject({ columns: { presenters: ['Ada L.'], series_id: 'series' } });
    expect(refusalOf(unscheduled(), values({ isPartOf: 'series' }))).toEqual([
      400,
      'Unable to retrieve series dublincore catalog for the series series',
    ]);
  });

  test('a catalog that was never stored cannot be removed', () => {
    const metadata = { kind: 'remove', flavor: 'license/episode', catalogs } as const;
    expect(refusalOf(unscheduled(), { metadata })).toMatchObject([404, expect.stringContaining('license/episode')]);
  });
});

describe('the access control list', () => {
  const inherited = unscheduled({ own_acl: false }, { acl: { entries: [READER], own: false } });

  test('of a series becomes one of the event, also when it says the same', () => {
    const { write } = decide(inherited, { acl: { kind: 'replace', entries: [READER] } });
    expect(write).toMatchObject({ acl: [READER], rows: { columns: { own_acl: true } } });
  });

  test('stays while a workflow is active, once the edit itself is known to fit', () => {
    const busy = unscheduled({ processing_state: 'PAUSED' });
    const acl = { kind: 'remove', action: 'read', role: 'ROLE_READER' } as const;
    expect(refusalOf(busy, { acl })).toMatchObject([400, expect.stringContaining('currently processing')]);
    expect(refusalOf(busy, { acl: { ...acl, role: 'ROLE_X' } })).toMatchObject([404, expect.anything()]);
  });

  test('an entry for the same pair gives way to one that is added', () => {
    const entry = { ...READER, allow: false };
    expect(decide(unscheduled(), { acl: { kind: 'add', entry } }).write?.acl).toEqual([entry]);
  });
});

describe('the schedule', () => {
  test('moves with what the event shows of it, and what was known of the recording is forgotten', () => {
    const failed = scheduled({ recording_state: 'capture_error' });
    const start = new Date('2030-01-08T09:00:00Z');
    const { write } = decide(failed, moved({ start, durationMs: 1000 }));
    expect(write).toMatchObject({
      rows: { columns: { start_date: start, created: start, duration: 1000 } },
      schedule: { recordingState: '' },
      recording: [''],
    });
    expect(write?.rows).not.toHaveProperty('columns.location');
  });

  test.each<[string, EventState, RegExp]>([
    ['that there is none of', unscheduled(), /is for events that are scheduled/],
    ['whose recording has begun', scheduled({ recording_state: 'capturing' }), /whose recording has begun/],
    ['whose agent is unknown and has a slash in its name', scheduled(), /Unable to parse device/],
  ])('%s cannot be changed', (_what, state, sentence) => {
    const edits = moved({ agentId: 'a/b', end: END });
    expect(refusalOf(state, edits)).toMatchObject([400, expect.stringMatching(sentence)]);
  });

  test('what is done with the recording cannot change any more once that has come', () => {
    expect(refusalOf(scheduled({}, [stored()]), { processing: PUBLISH })).toMatchObject([
      400,
      expect.stringContaining('already uploaded'),
    ]);
  });
});

describe('tracks', () => {
  const beside = (tracks: NewTrack[], replaced?: { flavor: string; tags: string[] }): EventEdits => ({
    tracks: { kind: 'tracks', replaced, tracks },
  });
  const captions = { flavor: 'captions/source', mediatype: 'text/vtt' };

  test('of the same flavor and language make room', () => {
    const [german, english] = ['de', 'en'].map((lang) =>
      stored({ id: lang, flavor: 'captions/source', tags: [`lang:${lang}`], isMedia: false }),
    );
    const state = unscheduled({}, { tracks: [german, english].filter((track) => track !== undefined) });
    const replaced = { flavor: 'captions/source', tags: ['lang:de'] };
    const { write, removed } = decide(state, beside([added(captions)], replaced));
    expect([removed, write?.removedTracks]).toEqual([1, [german]]);
  });

  test('that are seen are the recording that an event awaits, captions are not', () => {
    expect(decide(scheduled(), beside([added()]))).toMatchObject({ processing: PUBLISH });
    expect(decide(scheduled(), beside([added(captions)])).processing).toBeUndefined();
  });

  test('of a recording that could not be processed give way to another one', () => {
    const failed = scheduled({ processing_state: 'FAILED', recording_state: 'upload_finished' }, [stored()]);
    const edits: EventEdits = { tracks: { kind: 'recording', tracks: [added()] } };
    expect(decide(failed, edits)).toMatchObject({
      removed: 1,
      processing: PUBLISH,
      write: { recording: [] },
    });
  });

  test.each<[string, EventState, EventEdits, unknown]>([
    [
      'while a workflow is active',
      unscheduled({ processing_state: 'RUNNING' }),
      beside([added()]),
      [400, expect.anything()],
    ],
    [
      'in place of a recording that has come',
      scheduled({ recording_state: 'upload_finished' }, [stored()]),
      beside([added()], { flavor: 'presenter/source', tags: [] }),
      [409, expect.stringContaining('has already arrived')],
    ],
    [
      'as the recording of what is not scheduled',
      unscheduled(),
      { tracks: { kind: 'recording', tracks: [added()] } },
      [409, expect.stringContaining('not scheduled any more')],
    ],
    [
      'of an agent as a second recording, which is decided again',
      scheduled({}, [stored()]),
      { tracks: { kind: 'recording', from: 'agent', tracks: [added()] } },
      'TransactionConflict: The event has another recording now.',
    ],
  ])('are refused %s', (_when, state, edits, refusal) => {
    expect(refusalOf(state, edits)).toEqual(refusal);
  });
});
