import { sql } from 'kysely';
import type { Database } from '../../database/kysely.ts';
import { DEFAULT_CHANNEL, INTERNAL_CHANNEL } from '../../publications/model.ts';
import type { WorkflowDefinition } from '../../workflows/definition.ts';
import type { OwnedObject } from '../owned-objects.ts';

/** What makes media; a workflow without it makes nothing of the tracks. */
const MAKES_MEDIA = 'encode';
/** What makes tracks: programs of the site. */
const MAKES_TRACKS = 'command';
const PUBLISHES = 'publish';

/** A workflow that made something of an event. */
export interface MakingRun {
  id: number;
  /** Identifier or alias. */
  definition: string;
  configuration: Record<string, string>;
}

/** The operation that makes what a row names. */
export function makerOf({ table }: Pick<OwnedObject, 'table'>): string {
  return table === 'tracks' ? MAKES_TRACKS : MAKES_MEDIA;
}

/** The last workflow of the event that made what a row names; undefined when there is none any more. */
export async function makingRun(
  database: Database,
  eventId: string,
  owner: Pick<OwnedObject, 'table' | 'id'>,
): Promise<MakingRun | undefined> {
  let runs = database
    .selectFrom('workflows as w')
    .innerJoin('workflow_operations as o', 'o.workflow_id', 'w.id')
    .select(['w.id', 'w.definition', 'w.configuration'])
    .where('w.event_id', '=', eventId)
    .where('o.operation', '=', makerOf(owner))
    .where('o.state', '=', 'succeeded');
  if (owner.table === 'tracks') {
    // Other workflows may have run other programs.
    const madeBy = sql`'command ' || (o.configuration->>'program') || ' '`;
    runs = runs.where(
      sql<boolean>`EXISTS (SELECT FROM tracks WHERE tracks.id = ${owner.id}::uuid AND starts_with(made_by, ${madeBy}))`,
    );
  }
  const run = await runs.orderBy('w.id', 'desc').limit(1).executeTakeFirst();
  return run && { ...run, configuration: run.configuration as Record<string, string> };
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
