import { randomUUID } from 'node:crypto';
import { replaceAcl } from '../access/acl.queries.ts';
import type { Principal } from '../access/principal.ts';
import type { SchedulingConfig } from '../config.ts';
import type { Database, Transaction } from '../database/kysely.ts';
import { namedPresenters } from '../events/presenters.ts';
import { requireSeries } from '../events/require-series.ts';
import { saveCatalog } from '../metadata/catalogs.queries.ts';
import { requireAgent } from '../recordings/agents/require-agent.ts';
import { explainingConflicts } from '../recordings/conflicts.ts';
import { insertSchedules } from '../recordings/schedules/write-schedules.ts';
import { advanceRecording } from '../recordings/state.ts';
import type { StagingLedger } from '../storage/staging.ts';
import type { WorkflowDefinitions } from '../workflows/definitions.ts';
import type { EventRequest } from './event-request.ts';
import { insertEvents, requireFreeIdentifier } from './insert-events.ts';
import { insertTracks } from './insert-tracks.ts';
import type { ReceivedTrack } from './receive-tracks.ts';
import { occurrencesIn, scheduledColumns } from './scheduled-events.ts';
import { startProcessing } from './start-recorded.ts';

export interface NewEvents {
  request: EventRequest;
  /** Recordings; none when a recurrence rule gives the events. */
  tracks: ReceivedTrack[];
  principal: Principal;
  requestId: string;
  /** The last step of the transaction; a rejection undoes everything. */
  beforeCommit?(trx: Transaction, ids: readonly string[]): Promise<void>;
}

interface Dependencies {
  config: { scheduling: Pick<SchedulingConfig, 'minGapMs'> };
  database: Database;
  staging: StagingLedger;
  definitions: WorkflowDefinitions;
}

/**
 * Writes what a request asks for in one transaction: an event or, by a recurrence rule, many of them, with their
 * schedules, catalogs and access control lists. An event that is not scheduled, or whose recording has come with the
 * request, gets its tracks and its workflow as well; their objects leave the staging ledger. The queue hears of it only
 * through the database.
 *
 * @returns the events' identifiers, in chronological order
 * @throws {HttpError} 400 for a series that the principal does not see or an agent that nothing can be scheduled on,
 * 409 for an identifier that is taken
 * @throws {ScheduleConflict} when something else is to be recorded at that time
 */
export async function createEvents(
  { request, tracks, principal, requestId, beforeCommit }: NewEvents,
  { config, database, staging, definitions }: Dependencies,
): Promise<string[]> {
  const { id, recordings, acl, catalogs, processing } = request;
  const { title, start_date, created, duration, ...columns } = request.columns;
  const occurrences = recordings && occurrencesIn(recordings, { id, title });
  const events = occurrences?.map(scheduledColumns) ?? [
    { id: id ?? randomUUID(), title, start_date, created, duration },
  ];
  const ids = events.map(({ id }) => id);
  await explainingConflicts(database, principal, async (trx) => {
    if (columns.series_id) await requireSeries(trx, columns.series_id, principal);
    if (id !== undefined && ids.includes(id)) await requireFreeIdentifier(trx, id);
    if (recordings && occurrences) {
      const { agentId, inputs } = recordings;
      await requireAgent(trx, agentId);
      const gapMs = config.scheduling.minGapMs;
      await insertSchedules(trx, { agentId, inputs, occurrences, processing, gapMs });
    }
    const presenters = await namedPresenters(trx, columns.presenters);
    const location = recordings?.agentId ?? columns.location;
    // What the row of an event shows of these, it finds there already: it is written only once.
    await replaceAcl(trx, 'events', ids, acl);
    for (const [flavor, values] of catalogs) await saveCatalog(trx, 'events', ids, flavor, values);
    await insertEvents(trx, { ...columns, presenters, location, creator: principal.displayName }, events);
    const isRecorded = !recordings || tracks.length > 0;
    for (const eventId of isRecorded ? ids : []) {
      await insertTracks(trx, eventId, tracks);
      await staging.commit(
        trx,
        tracks.map(({ objectKey }) => objectKey),
      );
      if (recordings) await advanceRecording(trx, eventId, { kind: 'recorded' });
      await startProcessing(trx, eventId, processing, { principal, requestId, definitions });
    }
    await beforeCommit?.(trx, ids);
  });
  return ids;
}
