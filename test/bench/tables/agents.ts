import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { DEFAULT_BYTES } from '../../../src/storage/memory.ts';
import { addMachine } from '../../support/accounts.ts';
import { deliverTrack } from '../agents/deliver.ts';
import { Galicaster } from '../agents/galicaster.ts';
import type { Bench } from '../setup/bench.ts';
import { startInlet } from '../setup/inlet-process.ts';
import type { Row, Table } from '../support/figures.ts';
import { cheapTrack } from '../support/http-client.ts';
import { watchMemory } from '../support/peak-memory.ts';
import { processorSeconds } from '../support/processor-time.ts';

const MIB = 2 ** 20;
const AGENTS = 100;
const UPLOADS = 30;
/** Of one core. */
const AIM = 0.1;
const SECONDS = 60;
/** The server tells what it has written a moment later. */
const STATISTICS_MS = 2_000;

/** What capture agents cost that wait for their time, and what they need that deliver at once. */
export async function measureAgents(bench: Bench, onRound: (round: number) => void): Promise<Table> {
  const { quick, rounds = 1 } = bench.options;
  const [agents, seconds, bytes] = quick ? [10, 3, 4 * MIB] : [AGENTS, SECONDS, 128 * MIB];
  const names = Array.from({ length: agents }, (_, i) => `hall-${i + 1}`);
  for (const name of names) await addMachine(bench.database, name);
  const rows: Row[] = [];
  for (let round = 1; round <= rounds; round++) {
    onRound(round);
    rows.push(await waiting(bench, names, seconds), ...(await delivering(bench, bytes)));
  }
  await bench.database.deleteFrom('accounts').where('username', 'in', names).execute();
  await bench.database.deleteFrom('capture_agents').where('id', 'in', names).execute();
  return {
    name: 'agents',
    title: 'Capture agents: what the API process costs while they wait, and while they deliver at once',
    notes: [
      'Waiting: each reports every ten seconds and asks for its calendar, the series and the rest every minute; with Digest',
      'and a connection for each request, so that every one is two. Processor: of one core, of the API process alone.',
      'Delivering: over a process that has taken one small track; the aim is UPLOAD_MEMORY_BYTES.',
    ],
    rows,
  };
}

async function waiting(bench: Bench, names: readonly string[], seconds: number): Promise<Row> {
  const inlet = await startInlet(bench, 'api');
  const halls = names.map((name) => new Galicaster(inlet.api.url, name, 'secret'));
  // Programs are compiled, accounts and agents become known.
  for (const hall of halls) {
    await hall.report();
    await hall.refresh();
    Object.assign(hall.load, { requests: 0, reports: 0 });
  }
  await sleep(STATISTICS_MS);
  const written = await writes(bench);
  const before = processorSeconds(inlet.pid);
  const start = performance.now();
  const end = start + seconds * 1000;
  await Promise.all(halls.map((hall, i) => hall.run(i / halls.length, start, end)));
  await sleep(Math.max(0, end - performance.now()));
  const elapsed = (performance.now() - start) / 1000;
  const processor = (processorSeconds(inlet.pid) - before) / elapsed;
  await sleep(STATISTICS_MS);
  const total = (what: 'requests' | 'reports') =>
    halls.reduce((sum, { load }) => sum + load[what], 0) / elapsed;
  const row: Row = {
    label: `${halls.length} Galicasters, waiting`,
    figures: {
      requests: { unit: 'per second', samples: [total('requests')] },
      reports: { unit: 'per second', samples: [total('reports')] },
      writes: { unit: 'per second', samples: [((await writes(bench)) - written) / elapsed] },
      processor: { unit: 'ratio', samples: [processor], aim: { atMost: AIM } },
    },
  };
  await inlet.stop();
  return row;
}

async function delivering(bench: Bench, bytes: number): Promise<Row[]> {
  const inlet = await startInlet(bench, 'api');
  const memory = watchMemory(inlet.pid);
  await deliverTrack(inlet.api, cheapTrack(MIB));
  const before = memory.peak();
  await Promise.all(Array.from({ length: UPLOADS }, () => deliverTrack(inlet.api, cheapTrack(bytes))));
  const peak = memory.peak();
  memory.stop();
  await inlet.stop();
  await bench.reset();
  return [
    {
      label: `${UPLOADS} x ${bytes / MIB} MiB at once`,
      figures: {
        'peak resident': { unit: 'bytes', samples: [peak] },
        'over one': {
          unit: 'bytes',
          samples: [Math.max(1, peak - before)],
          aim: { atMost: bench.config.uploadMemoryBytes ?? DEFAULT_BYTES },
        },
      },
    },
  ];
}

/** Rows of agents that have been written so far. */
async function writes({ database }: Bench): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    SELECT n_tup_ins + n_tup_upd AS n FROM pg_stat_user_tables WHERE relname = 'capture_agents'`.execute(
    database,
  );
  return rows[0]?.n ?? 0;
}
