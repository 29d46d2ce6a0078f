import { sql } from 'kysely';
import type { Transaction } from '../../database/kysely.ts';
import type { Processing } from '../../workflows/processing.ts';
import { refusingOverlaps } from '../conflicts.ts';
import { advanceRecording } from '../state.ts';
import { isSamePlace, type Occurrence, type Schedule } from './schedule.ts';

/** Recordings of one agent that are scheduled together. */
export interface NewSchedules {
  agentId: string;
  inputs: readonly string[];
  /** Chronological. */
  occurrences: readonly Occurrence[];
  processing: Processing;
  /** What has to lie between two recordings of the agent, in milliseconds. */
  gapMs: number;
}

/**
 * Locks capture agents until the transaction ends, and makes those known that nobody knows yet. What is scheduled on one
 * agent is thereby decided one after the other, and many requests for the same time do not wait for each other in
 * circles; that no two recordings overlap is up to the constraint of the table alone.
 *
 * @param agentId who is to record
 * @param former who was to, where that is another one: it may have been forgotten since
 */
async function lockAgents(trx: Transaction, agentId: string, former = agentId): Promise<void> {
  const ids = [agentId, former];
  // Those that are new come first, in order: whoever waits for one of them holds none that is older.
  await sql`
    INSERT INTO capture_agents (id) SELECT DISTINCT id FROM unnest(${ids}::text[]) AS wanted (id)
    WHERE NOT EXISTS (SELECT FROM capture_agents AS known WHERE known.id = wanted.id)
    ORDER BY id ON CONFLICT (id) DO NOTHING`.execute(trx);
  const locked = await trx
    .selectFrom('capture_agents')
    .select(['id', 'forgotten'])
    .where('id', 'in', ids)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  if (!locked.some(({ id, forgotten }) => forgotten && id === agentId)) return;
  await trx
    .updateTable('capture_agents')
    .set({ forgotten: false, known_since: sql<Date>`now()` })
    .where('id', '=', agentId)
    .execute();
}

/**
 * Locks the agent of a locked event that is about to be deleted: agents are locked before schedules, and without this the
 * deletion would come to the agent last.
 */
export async function lockAgentOf(trx: Transaction, eventId: string): Promise<void> {
  await sql`SELECT FROM capture_agents WHERE id = (SELECT agent_id FROM events WHERE id = ${eventId})
    FOR NO KEY UPDATE`.execute(trx);
}

/**
 * Writes schedules, of events that the same transaction writes after them.
 *
 * @throws {Overlap} when one overlaps what the agent is to record already, or another of them
 */
export async function insertSchedules(trx: Transaction, schedules: NewSchedules): Promise<void> {
  const { agentId, inputs, occurrences, processing, gapMs } = schedules;
  await lockAgents(trx, agentId);
  await refusingOverlaps({ agentId, gapMs, occurrences }, () =>
    sql`
      INSERT INTO schedules (event_id, start_date, end_date, agent_id, gap_ms, inputs, workflow, configuration)
      SELECT event_id, start_date, end_date, ${agentId}, ${gapMs}, ${[...inputs]}::text[], ${processing.workflow},
        ${JSON.stringify(processing.configuration)}::jsonb
      FROM unnest(${occurrences.map(({ eventId }) => eventId)}::text[],
        ${occurrences.map(({ start }) => start)}::timestamptz[],
        ${occurrences.map(({ end }) => end)}::timestamptz[]) AS occurrence (event_id, start_date, end_date)
      ORDER BY start_date`.execute(trx),
  );
}

/**
 * Moves a schedule to another time or agent, or gives it other inputs. What was known of its recording is forgotten
 * when it moves.
 *
 * @param from as it is, its event locked
 * @param to as it is to be
 * @param options.title of the event
 * @param options.allowConflict whether it may overlap what the agent is to record already
 * @throws {Overlap} when it does and may not
 */
export async function changeSchedule(
  trx: Transaction,
  from: Schedule,
  to: Schedule,
  { title, gapMs, allowConflict }: { title: string; gapMs: number; allowConflict: boolean },
): Promise<void> {
  const { agentId, start, end, inputs } = to;
  const moves = !isSamePlace(from, to);
  if (moves) await lockAgents(trx, agentId, from.agentId);
  const change = trx
    .updateTable('schedules')
    .set({
      inputs,
      changed_at: sql`now()`,
      ...(moves && {
        agent_id: agentId,
        start_date: start,
        end_date: end,
        gap_ms: gapMs,
        allow_conflict: allowConflict,
      }),
    })
    .where('event_id', '=', from.eventId);
  await refusingOverlaps({ agentId, gapMs, occurrences: [{ ...to, title }] }, () => change.execute());
  if (moves) await advanceRecording(trx, from.eventId, { kind: 'moved' });
}

/**
 * Replaces what is to be done with the recording of a scheduled event once it comes. What moves the schedule in the same
 * transaction comes before: agents are locked before schedules.
 */
export async function changeProcessing(
  trx: Transaction,
  eventId: string,
  { workflow, configuration }: Processing,
): Promise<void> {
  await trx
    .updateTable('schedules')
    .set({ workflow, configuration: JSON.stringify(configuration) })
    .where('event_id', '=', eventId)
    .execute();
}
