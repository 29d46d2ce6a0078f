import { randomUUID } from 'node:crypto';
import type { Database } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import type { WorkflowDefinition } from '#processing/definition.ts';
import { USUAL, type WorkflowDefinitions } from '#processing/definitions.ts';
import { startWorkflow } from '#processing/start.ts';
import { NotNow, requireIdle } from '#processing/start-on-request.ts';
import { channelsOf } from '#publications/publishing.ts';
import { digestOf, type Reading, UNREADABLE } from '../digests.ts';
import type { OwnedObject } from '../owned-objects.ts';
import { channelsOfRun, type MakingRun } from './making-run.ts';

const BROKEN = 'it could be made anew, but what it was made of has lost its SHA-256, or is damaged as well';
const GONE = 'the event has been deleted meanwhile';
const NO_MAKER = 'a program of the site made it, in a workflow that is not known any more';
const NO_TRACKS = 'it could be made anew, but the event has no tracks any more';
/** Whoever took it from there does not want it there again. */
const retracted = (channel: string) =>
  `the workflow that makes it anew publishes the event on "${channel}" as well, where it is not published now`;

/**
 * Has the workflow run again that made what an event has beside what was uploaded; what it makes replaces what is damaged.
 *
 * What it is made of is read first: else what is whole would be replaced by what is made of something damaged.
 *
 * @param run which made what the row of `owner` names (`makingRun`)
 * @param creator the user name that it is told to be started by
 * @returns the number of the workflow, or why there is none
 */
export async function rebuild(
  { owner, run }: { owner: OwnedObject & { eventId: string }; run: MakingRun | undefined },
  {
    database,
    definitions,
    storage,
    creator,
  }: { creator: string; database: Database; definitions: WorkflowDefinitions; storage: Reading },
): Promise<number | string> {
  const { eventId } = owner;
  const definition = definitionOf(run, owner, definitions);
  if (!definition) return NO_MAKER;
  const configuration = run?.configuration ?? {};
  const tracks = await recordedTracks(database, eventId);
  if (tracks.length === 0) return NO_TRACKS;
  if (!(await areWhole(tracks, storage))) return BROKEN;
  try {
    return await inTransaction(database, async (trx) => {
      if (!(await requireIdle(trx, eventId))) return GONE;
      const published = await channelsOf(trx, eventId);
      const other = channelsOfRun(definition, configuration).find((channel) => !published.includes(channel));
      if (other !== undefined) return retracted(other);
      const requestId = `repair-${randomUUID()}`;
      return startWorkflow(trx, { eventId, definition, configuration, creator, requestId });
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

/** The definition that makes again what a row names, as the site has it now; undefined when none does. */
function definitionOf(
  run: MakingRun | undefined,
  owner: OwnedObject,
  definitions: WorkflowDefinitions,
): WorkflowDefinition | undefined {
  if (owner.table !== 'tracks') return definitions.resolve(run?.definition ?? USUAL);
  if (!run || !definitions.knows(run.definition)) return undefined;
  const definition = definitions.resolve(run.definition);
  return definition.operations.some(run.makes) ? definition : undefined;
}
