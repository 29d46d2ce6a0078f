import { type Answer, ask, sendEvent } from '../support/http-client.ts';
import { findConflicts, insertRecordings, listRecordings } from './hand-written.ts';
import { agentName, FIRST_HOUR, MINUTES, timeOf } from './seed.ts';
import type { Side } from './side.ts';

/** One thing that is done over HTTP, and in SQL. */
export interface SchedulingCase {
  label: string;
  /** Does it on the agent of a number. @returns milliseconds */
  http(side: Side, number: number): Promise<number>;
  sql(side: Side, number: number): Promise<number>;
}

const OCCURRENCES = 100;
const WEEK = 7;
/** An hour at which no agent records. */
const NIGHT = 2;

/** @param days on which all agents have recordings, on every side */
export function schedulingCases(days: number): SchedulingCase[] {
  return [
    createOne(Math.floor(days / 2)),
    createByRule(),
    refuseRule(Math.min(days, OCCURRENCES)),
    listDays(Math.min(days, WEEK), '', false),
    listDays(Math.min(days, WEEK), 'technical_start:ASC', true),
  ];
}

/** The same rule against an agent that records every day. */
export function refuseRule(conflicts: number): SchedulingCase {
  const label = `refusing a rule of ${OCCURRENCES}, conflicts: ${conflicts}`;
  // The last days with recordings, and free ones after them.
  const from = (side: Side) => side.days - conflicts;
  return {
    label,
    http: async (side, number) => {
      const { answer, ms } = await sendRule(side, number, { hour: FIRST_HOUR, from: from(side) });
      return checked(ms, label, answer.status === 409 && JSON.parse(answer.body).length === conflicts, answer);
    },
    sql: async (side, number) => {
      const wanted = { agent: agentName(number), periods: daily(FIRST_HOUR, from(side)) };
      return timed(async () => checked(0, label, (await findConflicts(side.client, wanted)) === conflicts));
    },
  };
}

function createOne(day: number): SchedulingCase {
  const label = 'scheduling one more event';
  const start = timeOf(day, NIGHT * 60);
  const end = timeOf(day, NIGHT * 60 + MINUTES);
  return {
    label,
    http: async (side, number) => {
      const { answer, ms } = await send(side, { agent_id: agentName(number), start, end });
      await remove(side, created(answer));
      return checked(ms, label, answer.status === 201, answer);
    },
    sql: (side, number) => insert(side, { agent: agentName(number), periods: [{ start, end }] }),
  };
}

function createByRule(): SchedulingCase {
  const label = `scheduling ${OCCURRENCES} by a rule`;
  return {
    label,
    http: async (side, number) => {
      const { answer, ms } = await sendRule(side, number, { hour: NIGHT, from: 0 });
      const ids = created(answer);
      await remove(side, ids);
      return checked(ms, label, answer.status === 200 && ids.length === OCCURRENCES, answer);
    },
    sql: (side, number) => insert(side, { agent: agentName(number), periods: daily(NIGHT, 0) }),
  };
}

function listDays(days: number, sort: string, withSchedules: boolean): SchedulingCase {
  const label = `an agent's ${days === WEEK ? 'week' : `days, ${days}`}${sort && `, by ${sort}`}${withSchedules ? ', with schedules' : ''}`;
  const wanted = (side: Side, number: number) => {
    const day = Math.floor((side.days - days) / 2);
    return { agent: agentName(number), from: timeOf(day, 0), to: timeOf(day + days, 0), withSchedules };
  };
  return {
    label,
    http: async (side, number) => {
      const { agent, from, to } = wanted(side, number);
      const query = new URLSearchParams({
        filter: `agent_id:${agent},technical_start:${instant(from)}/${instant(to)}`,
        ...(sort && { sort }),
        ...(withSchedules && { withscheduling: 'true' }),
      });
      let answer: Answer | undefined;
      const ms = await timed(async () => {
        answer = await ask(side.api, `/api/events?${query}`, { agent: side.agent });
      });
      return checked(ms, label, answer?.status === 200 && JSON.parse(answer.body).length > 0, answer);
    },
    sql: (side, number) =>
      timed(async () => checked(0, label, (await listRecordings(side.client, wanted(side, number))) > 0)),
  };
}

function sendRule(side: Side, number: number, { hour, from }: { hour: number; from: number }) {
  return send(side, {
    agent_id: agentName(number),
    start: timeOf(from, 0),
    end: timeOf(from + OCCURRENCES, 0),
    duration: MINUTES * 60_000,
    rrule: `FREQ=DAILY;BYHOUR=${hour};BYMINUTE=0`,
  });
}

async function send({ api, agent }: Side, scheduling: Record<string, unknown>) {
  const started = performance.now();
  const answer = await sendEvent(api, { workflow: 'schedule-and-upload', scheduling }, agent);
  return { answer, ms: performance.now() - started };
}

/** What the rule of so many occurrences asks for. */
function daily(hour: number, from: number) {
  return Array.from({ length: OCCURRENCES }, (_, i) => ({
    start: timeOf(from + i, hour * 60),
    end: timeOf(from + i, hour * 60 + MINUTES),
  }));
}

async function insert(side: Side, wanted: Parameters<typeof insertRecordings>[1]): Promise<number> {
  let ids: string[] = [];
  const ms = await timed(async () => {
    ids = await insertRecordings(side.client, wanted);
  });
  await remove(side, ids);
  return ms;
}

function created({ status, body }: Answer): string[] {
  if (status !== 200 && status !== 201) return [];
  return [JSON.parse(body)].flat().map(({ identifier }) => identifier);
}

/** The place is free again, and the database as it was. */
async function remove({ client }: Side, ids: readonly string[]): Promise<void> {
  await client.query('DELETE FROM events WHERE id = ANY($1)', [ids]);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

function checked(ms: number, label: string, fits: boolean, answer?: Answer): number {
  if (!fits) throw new Error(`${label} went wrong: ${answer?.status} ${answer?.body.slice(0, 500)}`);
  return ms;
}

const instant = (date: Date) => date.toISOString();
