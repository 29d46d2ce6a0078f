import { fileURLToPath } from 'node:url';
import type { Bench } from '../setup/bench.ts';
import { startInlet } from '../setup/inlet-process.ts';
import { type Row, ratios, type Table } from '../support/figures.ts';
import { startHelper } from '../support/helper-process.ts';
import { alternate } from '../support/rounds.ts';
import type { BareJobs } from './bare-queue.process.ts';
import { insertEvents, postEvents, untilAllSucceeded, writeDefinitions } from './noop-events.ts';

const ROUNDS = 3;
const EVENTS = 1000;
const QUICK_EVENTS = 50;
const CONCURRENCY = '16';

/** Events through workflows whose operations do nothing, against jobs through BullMQ alone. */
export async function measureQueue(bench: Bench, onRound: (round: number) => void): Promise<Table> {
  const { quick, rounds = quick ? 2 : ROUNDS } = bench.options;
  const events = quick ? QUICK_EVENTS : EVENTS;
  const { folder, definitions } = writeDefinitions(bench.folder, [1, 3]);
  const concurrency = process.env.WORKER_CONCURRENCY || CONCURRENCY;
  const variables = { WORKFLOWS_DIR: folder, WORKER_CONCURRENCY: concurrency };
  const bare = startHelper<BareJobs, { ms: number }>(
    bench.runtime,
    fileURLToPath(new URL('./bare-queue.process.ts', import.meta.url)),
    { ...bench.env, ...variables },
  );
  const stopBare = bench.cleanup.add(bare.stop);
  const worker = await startInlet(bench, 'worker', variables);
  const inlet = await startInlet(bench, 'api', variables);
  const { database } = bench;
  const [one, three] = definitions;
  if (!one || !three) throw new Error('The workflow definitions are missing.');
  const throughput = (create: () => Promise<void>) => async () =>
    events / ((await untilAllSucceeded(database, events, create)) / 1000);
  const measurements = {
    bare: async () => events / ((await bare.run({ jobs: events })).ms / 1000),
    one: throughput(() => insertEvents(database, one, events)),
    three: throughput(() => insertEvents(database, three, events)),
    posted: throughput(() => postEvents(inlet.api, one.id, events)),
  };
  await alternate(1, measurements);
  const rates = await alternate(rounds, measurements, onRound);
  for (const stop of [inlet.stop, worker.stop, stopBare]) await stop();
  await bench.reset();

  const row = (label: string, samples: number[], operations: number): Row => {
    const perOperation = samples.map((rate) => rate * operations);
    return {
      label,
      figures: {
        events: { unit: 'per second', samples },
        'operations or jobs': { unit: 'per second', samples: perOperation },
        'of bare BullMQ': { unit: 'ratio', samples: ratios(perOperation, rates.bare) },
      },
    };
  };
  return {
    name: 'queue',
    title: `Events through workflows of no-op operations, against bare BullMQ (${events} each, ${concurrency} at once)`,
    notes: [
      'bare: jobs that do nothing, added in batches and worked off by one process; nothing is kept in a database.',
      'Inlet: one worker process; from the first event written to the last workflow SUCCEEDED. An operation costs a',
      'claim and a result, each a transaction that is on the disk before the next step; an event is one more.',
    ],
    rows: [
      {
        label: 'bare BullMQ',
        figures: { 'operations or jobs': { unit: 'per second', samples: rates.bare } },
      },
      row('1 operation', rates.one, 1),
      row('3 operations', rates.three, 3),
      row('1 operation, events posted over HTTP', rates.posted, 1),
    ],
  };
}
