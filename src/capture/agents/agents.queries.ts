import { type Expression, sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';
import type { AgentReport, AgentState } from './agent.schemas.ts';
import type { AgentConfiguration } from './configuration.ts';

/** An agent that has been silent for longer is offline. Counted from what is stored, which may be `SEEN_SECONDS` old. */
const OFFLINE_SECONDS = 120;
/** A report that says nothing new is written down only when the stored one is older. */
const SEEN_SECONDS = 30;
const FALLBACK_ZONE = 'UTC';

/** What is shown of a capture agent. */
export interface AgentRow {
  id: string;
  status: AgentState;
  inputs: string[];
  url: string;
  /** When it last reported, or became known. */
  updated: Date;
}

const seenWithin = (seconds: number) =>
  sql<boolean>`coalesce(seen_at >= now() - make_interval(secs => ${seconds}), false)`;

/** The state of an agent as it is shown: what it reports counts as long as it is not silent for longer than that. */
export const stateUnlessSilent = (seconds: number) => sql<AgentState>`CASE
  WHEN seen_at IS NULL THEN 'unknown'
  WHEN NOT ${seenWithin(seconds)} THEN 'offline'
  ELSE state END`;

/** The same as people see it. */
export const SHOWN_STATE = stateUnlessSilent(OFFLINE_SECONDS);

export function findAgent(database: Queryable, id: string): Promise<AgentRow | undefined> {
  return shownAgent(database, sql.val(id)).executeTakeFirst();
}

/** The time zone of a capture agent, an IANA name; UTC for one that has not said or is not known. */
export async function timeZoneOf(db: Queryable, agentId: string): Promise<string> {
  const agent = await db.selectFrom('capture_agents').select('time_zone').where('id', '=', agentId).executeTakeFirst();
  return agent?.time_zone ?? FALLBACK_ZONE;
}

/**
 * Writes down what an agent reports, which makes it known. Without an address the former one stays.
 *
 * @param peer stands for the address of one that is new and says none
 */
export async function recordReport(
  db: Queryable,
  id: string,
  { state, address: told }: AgentReport,
  peer: string,
): Promise<void> {
  const known = await db
    .selectFrom('capture_agents')
    .select(['state', 'url', 'seen_at', seenWithin(SEEN_SECONDS).as('isFresh')])
    .where('id', '=', id)
    .executeTakeFirst();
  const address = told ?? (known?.seen_at ? undefined : peer);
  const isEqual = known?.state === state && (address === undefined || known.url === address);
  if (known?.isFresh && isEqual) return;
  await writeAgent(db, id, { state, ...(address !== undefined && { url: address }) });
}

/** Replaces the configuration of an agent, which makes it known. @returns whether it is another one than before */
export async function recordConfiguration(
  db: Queryable,
  id: string,
  { properties, inputs, timeZone }: AgentConfiguration,
): Promise<boolean> {
  const configuration = JSON.stringify(Object.fromEntries(properties));
  const known = await db
    .selectFrom('capture_agents')
    .select([
      sql<boolean>`configuration = ${configuration}::jsonb`.as('isEqual'),
      seenWithin(SEEN_SECONDS).as('isFresh'),
    ])
    .where('id', '=', id)
    .executeTakeFirst();
  const isNew = !known?.isEqual;
  if (isNew || !known.isFresh) await writeAgent(db, id, { configuration, inputs, time_zone: timeZone });
  return isNew;
}

interface AgentChange {
  state?: AgentState;
  url?: string;
  configuration?: string;
  inputs?: string[];
  time_zone?: string;
}

/** One statement, so that of two first reports neither fails. */
async function writeAgent(db: Queryable, id: string, change: AgentChange): Promise<void> {
  const values = { ...change, seen_at: sql<Date>`now()`, forgotten: false };
  await db
    .insertInto('capture_agents')
    .values({ id, ...values })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
    .execute();
}

/** Selects what is shown of a capture agent, unless it was forgotten. */
export function shownAgent(database: Queryable, id: Expression<string>) {
  return database
    .selectFrom('capture_agents')
    .select(['id', 'inputs', 'url'])
    .select([SHOWN_STATE.as('status'), sql<Date>`coalesce(seen_at, known_since)`.as('updated')])
    .where('id', '=', id)
    .where('forgotten', '=', false)
    .limit(1);
}
