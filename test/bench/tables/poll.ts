import { Agent } from 'node:http';
import type { Bench } from '../setup/bench.ts';
import { startInlet } from '../setup/inlet-process.ts';
import type { Table } from '../support/figures.ts';
import { type ApiAddress, ask, postEvent } from '../support/http-client.ts';
import { alternate } from '../support/rounds.ts';

const ROUNDS = 3;
const SECONDS = 3;
const CLIENTS = 16;

/** How many clients can watch an event: reading it, and asking whether it has changed. */
export async function measurePoll(bench: Bench, onRound: (round: number) => void): Promise<Table> {
  const { quick, rounds = quick ? 1 : ROUNDS } = bench.options;
  const inlet = await startInlet(bench, 'api');
  const path = `/api/events/${await postEvent(inlet.api, { workflow: 'schedule-and-upload' })}`;
  const { etag = '' } = (await ask(inlet.api, path)).headers;
  const rates = await alternate(
    rounds,
    {
      read: () => requestRate(inlet.api, path, {}, 200),
      unchanged: () => requestRate(inlet.api, path, { 'If-None-Match': etag }, 304),
    },
    onRound,
  );
  await inlet.stop();
  await bench.reset();
  return {
    name: 'poll',
    title: `Reading one event, ${CLIENTS} clients at once (for information)`,
    notes: ['The client is one process on the same machine and takes its share of the processors.'],
    rows: [
      { label: 'GET, 200', figures: { requests: { unit: 'per second', samples: rates.read } } },
      {
        label: 'GET with If-None-Match, 304',
        figures: { requests: { unit: 'per second', samples: rates.unchanged } },
      },
    ],
  };
}

async function requestRate(
  api: ApiAddress,
  path: string,
  headers: Record<string, string>,
  expected: number,
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const started = performance.now();
  const end = started + SECONDS * 1000;
  let requests = 0;
  const client = async () => {
    while (performance.now() < end) {
      const { status } = await ask(api, path, { headers, agent });
      if (status !== expected) throw new Error(`GET answered ${status} instead of ${expected}.`);
      requests += 1;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  agent.destroy();
  return requests / ((performance.now() - started) / 1000);
}
