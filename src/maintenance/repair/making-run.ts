import type { Database } from '#platform/database/kysely.ts';
import { commandMaker, commandSettings } from '#processing/command-settings.ts';
import type { WorkflowDefinition } from '#processing/definition.ts';
import { DEFAULT_CHANNEL, INTERNAL_CHANNEL } from '#publications/model.ts';
import type { OwnedObject } from '../owned-objects.ts';

/** What makes media; a workflow without it makes nothing of the tracks. */
const MAKES_MEDIA = 'encode';
/** What makes tracks: programs of the site. */
const MAKES_TRACKS = 'command';
const PUBLISHES = 'publish';

/** An operation as a workflow has it, or its definition. */
type Step = Pick<WorkflowDefinition['operations'][number], 'operation' | 'configuration'>;

/** A workflow that made something of an event. */
export interface MakingRun {
  id: number;
  /** Identifier or alias. */
  definition: string;
  configuration: Record<string, string>;
  /** Whether an operation makes that. */
  makes: (step: Step) => boolean;
}

/** The last workflow of the event that made what a row names; undefined when there is none any more. */
export async function makingRun(
  database: Database,
  eventId: string,
  owner: Pick<OwnedObject, 'table' | 'id'>,
): Promise<MakingRun | undefined> {
  const makes = owner.table === 'tracks' ? await makerOf(database, owner.id) : isEncoding;
  const steps = await database
    .selectFrom('workflows as w')
    .innerJoin('workflow_operations as o', 'o.workflow_id', 'w.id')
    .select(['w.id', 'w.definition', 'w.configuration', 'o.operation', 'o.configuration as settings'])
    .where('w.event_id', '=', eventId)
    .where('o.operation', 'in', [MAKES_MEDIA, MAKES_TRACKS])
    .where('o.state', '=', 'succeeded')
    .orderBy('w.id', 'desc')
    .execute();
  const run = steps.find(({ operation, settings }) =>
    makes({ operation, configuration: settings as Record<string, string> }),
  );
  if (!run) return undefined;
  const { id, definition, configuration } = run;
  return { id, definition, configuration: configuration as Record<string, string>, makes };
}

function isEncoding({ operation }: Step): boolean {
  return operation === MAKES_MEDIA;
}

/** Tells whether an operation is the one that made a track: others may have run the same program on other tracks. */
async function makerOf(database: Database, trackId: string): Promise<MakingRun['makes']> {
  const track = await database
    .selectFrom('tracks')
    .select('made_by')
    .where('id', '=', trackId)
    .executeTakeFirst();
  return ({ operation, configuration }) =>
    operation === MAKES_TRACKS && commandMaker(commandSettings(configuration)) === track?.made_by;
}

/** The channels that a workflow makes an event public on. */
export function channelsOfRun(
  definition: WorkflowDefinition,
  configuration: Readonly<Record<string, string>>,
): string[] {
  const values = { ...definition.configuration, ...configuration };
  return definition.operations
    .filter((each) => each.operation === PUBLISHES && (!each.if || each.if.test(values)))
    .map((each) => each.configuration.channel || DEFAULT_CHANNEL)
    .filter((channel) => channel !== INTERNAL_CHANNEL);
}
