import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { Principal } from '#access/principal.ts';
import { scheduleOf } from '#capture/schedules/timetable.queries.ts';
import { changeSchedule, insertSchedules, lockAgentOf } from '#capture/schedules/write-schedules.ts';
import { isSamePlace } from '#capture/states/recording-state.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { insertEvent } from './publication.ts';
import { newAgent } from './scheduling.ts';

const MORNING = Date.UTC(2030, 0, 7, 8);

/** A moment, in minutes after the morning on which all of these schedules lie. */
export const minute = (minutes: number): Date => new Date(MORNING + minutes * 60_000);

/** What is to be recorded, in minutes. */
export interface Slot {
  agentId: string;
  from: number;
  to: number;
  gap?: number;
  allowConflict?: boolean;
  title?: string;
}

/** What the constraint says. */
export const REFUSED = { code: '23P01', constraint: 'schedules_do_not_conflict' };

export const admin = new Principal({
  username: 'admin',
  name: '',
  email: '',
  provider: 'inlet',
  roles: new Set(['ROLE_ADMIN']),
});

/** Makes an agent known that nothing is scheduled on. @returns its identifier */
export async function knownAgent(database: Database): Promise<string> {
  const id = newAgent();
  await database.insertInto('capture_agents').values({ id }).execute();
  return id;
}

/** Writes a schedule of a known agent by bare SQL, and its event after it. @returns the event's identifier */
export async function storeBare(database: Database, slot: Slot): Promise<string> {
  const eventId = randomUUID();
  await database.transaction().execute(async (trx) => {
    await sql`
      INSERT INTO schedules (event_id, agent_id, start_date, end_date, gap_ms, allow_conflict, workflow)
      VALUES (${eventId}, ${slot.agentId}, ${minute(slot.from)}, ${minute(slot.to)}, ${(slot.gap ?? 0) * 60_000},
        ${slot.allowConflict ?? false}, 'publish')`.execute(trx);
    await insertEvent(trx, { id: eventId, title: slot.title ?? 'Lecture' });
  });
  return eventId;
}

/** Schedules recordings of one agent together, as the application does. @returns the events' identifiers */
export async function scheduleTogether(
  trx: Transaction,
  agentId: string,
  periods: readonly { from: number; to: number }[],
  gap = 0,
): Promise<string[]> {
  const occurrences = periods.map(({ from, to }) => ({
    eventId: randomUUID(),
    title: 'Lecture',
    start: minute(from),
    end: minute(to),
  }));
  const processing = { workflow: 'publish', configuration: {} };
  await insertSchedules(trx, { agentId, inputs: [], occurrences, processing, gapMs: gap * 60_000 });
  for (const { eventId } of occurrences) await insertEvent(trx, { id: eventId });
  return occurrences.map(({ eventId }) => eventId);
}

/** Moves a schedule as the application does: with its event locked. */
export async function move(trx: Transaction, eventId: string, to: Partial<Slot>): Promise<void> {
  await sql`SELECT FROM events WHERE id = ${eventId} FOR UPDATE`.execute(trx);
  const schedule = await scheduleOf(trx, eventId);
  if (!schedule) throw new Error('There is nothing to move.');
  const moved = {
    ...schedule,
    agentId: to.agentId ?? schedule.agentId,
    start: to.from === undefined ? schedule.start : minute(to.from),
    end: to.to === undefined ? schedule.end : minute(to.to),
  };
  const { gap = 0, allowConflict = false, title = 'Lecture' } = to;
  const recordingState = isSamePlace(schedule, moved) ? undefined : '';
  await changeSchedule(trx, {
    ...{ from: schedule, to: moved, recordingState },
    ...{ title, gapMs: gap * 60_000, allowConflict },
  });
}

/** Deletes an event as the application does: with its agent locked before its schedule. */
export async function deleteScheduled(trx: Transaction, eventId: string): Promise<void> {
  await sql`SELECT FROM events WHERE id = ${eventId} FOR UPDATE`.execute(trx);
  await lockAgentOf(trx, eventId);
  await trx.deleteFrom('events').where('id', '=', eventId).execute();
}

/** What each event has claimed of an agent, as `from-to` in minutes. */
export async function claims(database: Database, agentId: string): Promise<Record<string, string>> {
  const { rows } = await sql<{ event_id: string; claimed: string }>`
    SELECT event_id, coalesce((SELECT string_agg(
      extract(epoch FROM lower(part) - ${minute(0)}::timestamptz)::int / 60 || '-' ||
      extract(epoch FROM upper(part) - ${minute(0)}::timestamptz)::int / 60, ' ' ORDER BY part)
      FROM unnest(claimed) AS part), '') AS claimed
    FROM schedules WHERE agent_id = ${agentId}`.execute(database);
  return Object.fromEntries(rows.map(({ event_id, claimed }) => [event_id, claimed]));
}

/** Those of the agents of which two events claim the same time, or of whose occupied time something is unclaimed. */
export async function misclaimed(database: Database, ...agents: string[]): Promise<string[]> {
  const { rows } = await sql<{ agent_id: string }>`
    WITH own AS (SELECT * FROM schedules WHERE agent_id = ANY(${agents}))
    SELECT one.agent_id FROM own AS one JOIN own AS other USING (agent_id)
    WHERE one.event_id <> other.event_id AND one.claimed && other.claimed
    UNION
    SELECT agent_id FROM (SELECT agent_id, range_agg(occupied) AS occupied FROM own GROUP BY agent_id) AS taken
    LEFT JOIN (SELECT agent_id, range_agg(part) AS claimed FROM own, unnest(claimed) AS part GROUP BY agent_id)
      AS had USING (agent_id)
    WHERE occupied IS DISTINCT FROM claimed`.execute(database);
  return rows.map(({ agent_id }) => agent_id);
}
