import type { Bench } from '../setup/bench.ts';
import { startInlet } from '../setup/inlet-process.ts';
import type { Table } from '../support/figures.ts';
import { ask, postEvent } from '../support/http-client.ts';
import { CLIENTS, requestRate } from '../support/request-rate.ts';
import { alternate } from '../support/rounds.ts';

const ROUNDS = 3;
const SECONDS = 3;

/** How many clients can watch an event: reading it, and asking whether it has changed. */
export async function measurePoll(bench: Bench, onRound: (round: number) => void): Promise<Table> {
  const { quick, rounds = quick ? 1 : ROUNDS } = bench.options;
  const seconds = quick ? 1 : SECONDS;
  const inlet = await startInlet(bench, 'api');
  const path = `/api/events/${await postEvent(inlet.api, { workflow: 'schedule-and-upload' })}`;
  const { etag = '' } = (await ask(inlet.api, path)).headers;
  const rates = await alternate(
    rounds,
    {
      read: () => requestRate(inlet.api, path, {}, { expected: 200, seconds }),
      unchanged: () => requestRate(inlet.api, path, { 'If-None-Match': etag }, { expected: 304, seconds }),
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
