import { listDatabase } from '../lists/databases.ts';
import { startBareHono } from '../setup/bare-hono.ts';
import type { Bench } from '../setup/bench.ts';
import { startInlet } from '../setup/inlet-process.ts';
import { type Row, ratios, type Table } from '../support/figures.ts';
import { ask } from '../support/http-client.ts';
import { CLIENTS, requestRate } from '../support/request-rate.ts';
import { alternate } from '../support/rounds.ts';

const ROUNDS = 5;
const SECONDS = 3;
const PAGE = 100;

/** Requests a second for one event and for a page of events, against Hono alone asking the database the same. */
export async function measureThroughput(bench: Bench, onRound: (round: number) => void): Promise<Table> {
  const { quick, events, rounds = quick ? 1 : ROUNDS } = bench.options;
  const wanted = { expected: 200, seconds: quick ? 1 : SECONDS };
  const url = await listDatabase(bench, events);
  const inlet = await startInlet(bench, 'api', { DATABASE_URL: url });
  const bare = await startBareHono(bench, url);
  const list = `/api/events?limit=${PAGE}`;
  const [first] = JSON.parse((await ask(inlet.api, list)).body);
  const single = `/api/events/${first.identifier}`;
  const rates = await alternate(
    rounds,
    {
      bareSingle: () => requestRate(bare.api, single, {}, wanted),
      single: () => requestRate(inlet.api, single, {}, wanted),
      bareList: () => requestRate(bare.api, list, {}, wanted),
      list: () => requestRate(inlet.api, list, {}, wanted),
    },
    onRound,
  );
  for (const { stop } of [inlet, bare]) await stop();
  const row = (label: string, samples: number[], alone: number[]): Row => ({
    label,
    figures: {
      Inlet: { unit: 'per second', samples },
      'bare Hono': { unit: 'per second', samples: alone },
      'of bare Hono': { unit: 'ratio', samples: ratios(samples, alone), aim: { atLeast: 0.6 } },
    },
  });
  return {
    name: 'throughput',
    title: `Reading events, ${CLIENTS} clients at once, ${events} events`,
    notes: [
      'bare Hono: a handler on the same runtime and pool that runs the same query and sends its rows, without accounts,',
      'access rights, versions, totals and logs. The client is one process on the same machine.',
    ],
    rows: [
      row('GET /api/events/{id}', rates.single, rates.bareSingle),
      row(`GET /api/events?limit=${PAGE}`, rates.list, rates.bareList),
    ],
  };
}
