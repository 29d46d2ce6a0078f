import { Agent } from 'node:http';
import { refuseRule, type SchedulingCase, schedulingCases } from '../scheduling/cases.ts';
import { AGENTS } from '../scheduling/seed.ts';
import { openSide, type Side } from '../scheduling/side.ts';
import type { Bench } from '../setup/bench.ts';
import { type Row, ratios, type Table } from '../support/figures.ts';
import { alternate } from '../support/rounds.ts';

const ROUNDS = 15;
const WARM_UP = 5;
const FEWER = 100;
/** The most conflicts that a rule is refused for. */
const CONFLICTS = 100;

/** Scheduling, its conflicts and an agent's week over HTTP, against SQL for the same and against few recordings. */
export async function measureScheduling(bench: Bench, onRound: (round: number) => void): Promise<Table> {
  const { quick, events, rounds = quick ? 1 : ROUNDS } = bench.options;
  const recordings = Math.max(FEWER, Math.round(events / AGENTS));
  const agent = new Agent({ keepAlive: true });
  const large = await openSide(bench, recordings, agent);
  const small = await openSide(bench, Math.round(recordings / FEWER), agent);
  const rows: Row[] = [];
  const run = async <Name extends string>(measurements: Record<Name, () => Promise<number>>) => {
    await alternate(quick ? 1 : WARM_UP, measurements);
    return alternate(rounds, measurements);
  };
  const measure = async (each: SchedulingCase, fewer: Side | undefined) => {
    // Each time another agent, the same one on all sides.
    let number = 0;
    const here = { sql: () => each.sql(large, ++number), http: () => each.http(large, number) };
    const times = fewer ? await run({ ...here, fewer: () => each.http(fewer, number) }) : await run(here);
    rows.push(rowOf(each.label, times));
    onRound(rows.length);
  };
  for (const each of schedulingCases(small.days)) await measure(each, small);
  await measure(refuseRule(Math.min(large.days, CONFLICTS)), undefined);
  agent.destroy();
  for (const { client } of [large, small]) await client.end();
  return {
    name: 'scheduling',
    title: `Scheduling, with ${recordings} recordings ahead for each of ${AGENTS} capture agents`,
    notes: [
      'request: the whole of it over HTTP, one after the other. SQL: hand-written statements for the same on one',
      'connection, without HTTP, accounts, parsing, ACL and JSON; of a rule that is refused, the search for conflicts.',
      `of ${FEWER} times fewer: the same request to a database with a hundredth of the recordings.`,
    ],
    rows,
  };
}

function rowOf(label: string, { sql, http, fewer }: { sql: number[]; http: number[]; fewer?: number[] }): Row {
  return {
    label,
    figures: {
      request: { unit: 'fine ms', samples: http },
      SQL: { unit: 'fine ms', samples: sql },
      'of SQL': { unit: 'ratio', samples: ratios(http, sql) },
      ...(fewer && {
        [`of ${FEWER} times fewer`]: {
          unit: 'ratio' as const,
          samples: ratios(http, fewer),
          aim: { atMost: 2 },
        },
      }),
    },
  };
}
