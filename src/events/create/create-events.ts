import { randomUUID } from 'node:crypto';
import { replaceAcl } from '../../access/acl/acl.queries.ts';
import type { AclEntry } from '../../access/acl/acl.ts';
import type { Principal } from '../../access/principal.ts';
import type { NewChange } from '../../changes/change.ts';
import { recordChanges } from '../../changes/record.ts';
import type { Transaction } from '../../database/kysely.ts';
import type { CatalogValues } from '../../metadata/catalog.ts';
import { saveCatalog } from '../../metadata/catalogs.queries.ts';
import { requireAgent } from '../../recordings/agents/require-agent.ts';
import type { RecordingPlan } from '../../recordings/schedules/plan.ts';
import type { Occurrence } from '../../recordings/schedules/schedule.ts';
import { insertSchedules } from '../../recordings/schedules/write-schedules.ts';
import { advanceRecording } from '../../recordings/state.ts';
import type { Processing } from '../../workflows/processing.ts';
import type { newEventColumns } from '../columns.ts';
import { namedPresenters, requireSeries } from '../references.ts';
import { SEVERAL_EVENTS } from '../refusals.ts';
import { insertTracks, type NewTrack } from '../tracks.ts';
import { insertEvents, requireFreeIdentifier } from './insert-events.ts';
import { occurrencesIn, scheduledColumns } from './occurrences.ts';

/** What is to be known of new events; all of them share it, but for what a recurrence rule gives each. */
export interface NewEvents {
  /** The identifier that a client chose, if it did. */
  id: string | undefined;
  columns: ReturnType<typeof newEventColumns>;
  /** Values of the catalogs beside the default one, by flavor. */
  catalogs: ReadonlyMap<string, CatalogValues>;
  /** Null for none of their own: that of their series holds then. */
  acl: readonly AclEntry[] | null;
  processing: Processing;
  /** What is to be recorded; undefined for an event that is not scheduled. */
  recordings: RecordingPlan | undefined;
}

/**
 * Writes an event or, by a recurrence rule, many of them, with their schedules, catalogs, access control lists and
 * tracks. Run it in `explainingConflicts`.
 *
 * @param tracks of an event that no rule gives; the caller takes their objects off the staging ledger
 * @param by.gapMs what has to lie between two recordings of an agent, in milliseconds
 * @returns the events' identifiers, in chronological order, and what is to be done with them now: nothing with what is
 * scheduled and waits for its recording
 * @throws {HttpError} 400 for tracks together with a rule, a series that the principal does not see, or an agent that nothing can be scheduled on,
 * 409 for an identifier that is taken
 * @throws {Overlap} when something else is to be recorded at that time
 */
export async function createEvents(
  trx: Transaction,
  { id, recordings, acl, catalogs, processing, columns: all }: NewEvents,
  tracks: readonly NewTrack[],
  { principal, gapMs }: { principal: Principal; gapMs: number },
): Promise<{ ids: string[]; processing: Processing | undefined }> {
  if (recordings?.recurring && tracks.length > 0) throw SEVERAL_EVENTS();
  const { title, start_date, created, duration, ...columns } = all;
  const occurrences = recordings && occurrencesIn(recordings, { id, title });
  const events = occurrences?.map(scheduledColumns) ?? [
    { id: id ?? randomUUID(), title, start_date, created, duration },
  ];
  const ids = events.map(({ id }) => id);
  if (columns.series_id) await requireSeries(trx, columns.series_id, principal);
  if (id !== undefined && ids.includes(id)) await requireFreeIdentifier(trx, id);
  if (recordings && occurrences) {
    const { agentId, inputs } = recordings;
    await requireAgent(trx, agentId);
    await insertSchedules(trx, { agentId, inputs, occurrences, processing, gapMs });
  }
  const presenters = await namedPresenters(trx, columns.presenters);
  const location = recordings?.agentId ?? columns.location;
  // What the row of an event shows of these, it finds there already: it is written only once.
  if (acl) await replaceAcl(trx, 'events', ids, acl);
  for (const [flavor, values] of catalogs) await saveCatalog(trx, 'events', ids, flavor, values);
  const shared = { ...columns, presenters, location, creator: principal.displayName, own_acl: acl !== null };
  await insertEvents(trx, shared, events);
  await recordChanges(trx, creationOf(ids, { tracks, occurrences, recordings, actor: principal.username }));
  const [eventId] = ids;
  if (eventId !== undefined && tracks.length > 0) {
    await insertTracks(trx, eventId, tracks);
    if (recordings) await advanceRecording(trx, eventId, { kind: 'recorded' });
  }
  return { ids, processing: !recordings || tracks.length > 0 ? processing : undefined };
}

interface Creation {
  tracks: readonly NewTrack[];
  recordings: RecordingPlan | undefined;
  occurrences: readonly Occurrence[] | undefined;
  actor: string;
}

function creationOf(
  ids: readonly string[],
  { tracks, recordings, occurrences, actor }: Creation,
): NewChange[] {
  const bytes = tracks.reduce((sum, { size }) => sum + size, 0);
  const data = tracks.length > 0 ? { tracks: tracks.length, bytes } : {};
  const created = ids.map((eventId) => ({ kind: 'event.created', eventId, actor, data }) as const);
  const scheduled = (occurrences ?? []).map(({ eventId, start, end }) => {
    const facts = { agent: recordings?.agentId, start: start.toISOString(), end: end.toISOString() };
    return { kind: 'event.scheduled', eventId, actor, data: facts } as const;
  });
  return [...created, ...scheduled];
}
