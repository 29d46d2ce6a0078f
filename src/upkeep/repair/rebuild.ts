import { randomUUID } from 'node:crypto';
import type { Database, Transaction } from '../../database/kysely.ts';
import { inTransaction } from '../../database/retry.ts';
import { USUAL, type WorkflowDefinitions } from '../../workflows/definitions.ts';
import { startWorkflow } from '../../workflows/start.ts';
import { NotNow, requireIdle } from '../../workflows/start-on-request.ts';
import { digestOf, type Reading, UNREADABLE } from '../digests.ts';

/** What makes media; a workflow without it makes nothing of the tracks. */
const MAKES_MEDIA = 'encode';

const BROKEN = 'it could be made anew, but what it was made of is damaged as well, or has lost its SHA-256';
const GONE = 'the event has been deleted meanwhile';
const NO_TRACKS = 'it could be made anew, but the event has no tracks any more';

/**
 * Has the workflow run again that made what an event has beside its tracks; what it makes replaces what is damaged.
 *
 * What it is made of is read first: else what is whole would be replaced by what is made of something damaged.
 *
 * @param creator the user name that it is told to be started by
 * @returns the number of the workflow, or why there is none
 */
export async function rebuild(
  eventId: string,
  creator: string,
  {
    database,
    definitions,
    storage,
  }: { database: Database; definitions: WorkflowDefinitions; storage: Reading },
): Promise<number | string> {
  const tracks = await recordedTracks(database, eventId);
  if (tracks.length === 0) return NO_TRACKS;
  if (!(await areWhole(tracks, storage))) return BROKEN;
  try {
    return await inTransaction(database, async (trx) => {
      if (!(await requireIdle(trx, eventId))) return GONE;
      const { definition, configuration } = await lastRun(trx, eventId);
      const requestId = `repair-${randomUUID()}`;
      return startWorkflow(trx, {
        eventId,
        definition: definitions.resolve(definition),
        configuration,
        creator,
        requestId,
      });
    });
  } catch (error) {
    if (error instanceof NotNow) return error.message;
    throw error;
  }
}

async function recordedTracks(database: Database, eventId: string) {
  return database
    .selectFrom('tracks')
    .select(['object_key', 'sha256', 'is_media', 'duration'])
    .where('event_id', '=', eventId)
    .where('made_by', 'is', null)
    .execute();
}

async function areWhole(
  tracks: Awaited<ReturnType<typeof recordedTracks>>,
  storage: Reading,
): Promise<boolean> {
  for (const { object_key, sha256, is_media, duration } of tracks) {
    if (is_media && duration !== null && sha256 === null) return false;
    const found = await digestOf(storage, object_key);
    if (found === undefined || found === UNREADABLE || (sha256 !== null && found !== sha256)) return false;
  }
  return true;
}

async function lastRun(trx: Transaction, eventId: string) {
  const run = await trx
    .selectFrom('workflows as w')
    .innerJoin('workflow_operations as o', 'o.workflow_id', 'w.id')
    .select(['w.definition', 'w.configuration'])
    .where('w.event_id', '=', eventId)
    .where('o.operation', '=', MAKES_MEDIA)
    .where('o.state', '=', 'succeeded')
    .orderBy('w.id', 'desc')
    .limit(1)
    .executeTakeFirst();
  const configuration = (run?.configuration ?? {}) as Record<string, string>;
  return { definition: run?.definition ?? USUAL, configuration };
}
