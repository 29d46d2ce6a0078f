import { type Expression, sql, type Updateable } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';
import type { CaptureAgent } from '#platform/database/schema.ts';
import type { AgentReport, AgentState } from './agent.schemas.ts';
import type { AgentConfiguration } from './agent-configuration.ts';

/** An agent without a report for this time is offline. The stored time may be `SEEN_SECONDS` older. */
const OFFLINE_SECONDS = 120;
/** A report without changes is stored only if the stored one is older. */
const SEEN_SECONDS = 30;
const FALLBACK_ZONE = 'UTC';

export interface AgentRow {
  id: string;
  status: AgentState;
  inputs: string[];
  url: string;
  /** The time of the last report, or of registration. */
  updated: Date;
}

const seenWithin = (seconds: number) =>
  sql<boolean>`coalesce(seen_at >= now() - make_interval(secs => ${seconds}), false)`;

/** Returns the reported state of an agent, or `offline` after this time without a report. */
export const stateUnlessSilent = (seconds: number) => sql<AgentState>`CASE
  WHEN seen_at IS NULL THEN 'unknown'
  WHEN NOT ${seenWithin(seconds)} THEN 'offline'
  ELSE state END`;

export const SHOWN_STATE = stateUnlessSilent(OFFLINE_SECONDS);

export function findAgent(database: Queryable, id: string): Promise<AgentRow | undefined> {
  return shownAgent(database, sql.val(id)).executeTakeFirst();
}

/** Returns an agent's IANA time zone; UTC for an unknown agent or zone. */
export async function timeZoneOf(db: Queryable, agentId: string): Promise<string> {
  const agent = await db.selectFrom('capture_agents').select('time_zone').where('id', '=', agentId).executeTakeFirst();
  return agent?.time_zone ?? FALLBACK_ZONE;
}

/** Stores a report and registers the agent. @param peer the address of a new agent that reports none */
export async function recordReport(
  db: Queryable,
  id: string,
  { state, address: reported }: AgentReport,
  peer: string,
): Promise<void> {
  const known = await db
    .selectFrom('capture_agents')
    .select(['state', 'url', 'seen_at', seenWithin(SEEN_SECONDS).as('isFresh')])
    .where('id', '=', id)
    .executeTakeFirst();
  const address = reported ?? (known?.seen_at ? undefined : peer);
  const isEqual = known?.state === state && (address === undefined || known.url === address);
  if (known?.isFresh && isEqual) return;
  await writeAgent(db, id, { state, ...(address !== undefined && { url: address }) });
}

/** Replaces an agent's configuration and registers the agent. @returns true if the configuration has changed */
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

/** A single statement, so that neither of two concurrent first reports fails. */
async function writeAgent(db: Queryable, id: string, change: Updateable<CaptureAgent>): Promise<void> {
  const values = { ...change, seen_at: sql<Date>`now()`, forgotten: false };
  await db
    .insertInto('capture_agents')
    .values({ id, ...values })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
    .execute();
}

export function shownAgent(database: Queryable, id: Expression<string>) {
  return database
    .selectFrom('capture_agents')
    .select(['id', 'inputs', 'url'])
    .select([SHOWN_STATE.as('status'), sql<Date>`coalesce(seen_at, known_since)`.as('updated')])
    .where('id', '=', id)
    .where('forgotten', '=', false)
    .limit(1);
}
