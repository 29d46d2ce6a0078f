import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Bench } from '../setup/bench.ts';
import { startInlet } from '../setup/inlet-process.ts';
import type { Row } from '../support/figures.ts';
import { familySeconds, processorSeconds, statOf, TICK_SECONDS } from '../support/processor-time.ts';
import { DigestClient } from './digest-client.ts';
import { Galicaster } from './galicaster.ts';

/** Of one core. */
const AIM = 0.1;

/** Who waits, and for how long. */
export interface Wait {
  /** Accounts of agents, with the password `secret`. */
  names: readonly string[];
  keepsNonce: boolean;
  /**
   * Not measured, and with no break before what is: an agent that has just reported is written down only half a minute
   * later, and the database tells what it has written up to ten seconds late.
   */
  warmUpSeconds: number;
  seconds: number;
}

/** What a process of the API and the database cost while agents wait for their time; at least what can be counted. */
export async function measureWaiting(bench: Bench, wait: Wait): Promise<Row> {
  const { names, keepsNonce, warmUpSeconds, seconds } = wait;
  const inlet = await startInlet(bench, 'api');
  const { url } = inlet.api;
  const halls = names.map(
    (name) => new Galicaster(new DigestClient({ url, username: name, password: 'secret', keepsNonce }), name),
  );
  const postmaster = await findPostmaster(bench);
  const read = async () => ({
    at: performance.now() / 1000,
    requests: halls.reduce((sum, { load }) => sum + load.requests, 0),
    reports: halls.reduce((sum, { load }) => sum + load.reports, 0),
    writes: await rowsWritten(bench),
    processor: processorSeconds(inlet.pid),
    PostgreSQL: postmaster === undefined ? Number.NaN : familySeconds(postmaster),
  });
  for (const hall of halls) {
    await hall.report();
    await hall.refresh();
  }
  const start = performance.now();
  const end = start + (warmUpSeconds + seconds) * 1000;
  const watch = async () => {
    await sleep(warmUpSeconds * 1000);
    const before = await read();
    await sleep(end - performance.now());
    return { before, after: await read() };
  };
  const [{ before, after }] = await Promise.all([
    watch(),
    ...halls.map((hall, i) => hall.run(i / halls.length, start, end)),
  ]);
  await inlet.stop();
  const perSecond = (what: keyof typeof before, least = 1) => [
    Math.max(least, after[what] - before[what]) / (after.at - before.at),
  ];
  return {
    label: `${halls.length} waiting, a challenge ${keepsNonce ? 'at the start' : 'for each request'}`,
    figures: {
      requests: { unit: 'per second', samples: perSecond('requests') },
      reports: { unit: 'per second', samples: perSecond('reports') },
      writes: { unit: 'per second', samples: perSecond('writes') },
      processor: { unit: 'ratio', samples: perSecond('processor', TICK_SECONDS), aim: { atMost: AIM } },
      ...(postmaster !== undefined && {
        PostgreSQL: { unit: 'ratio', samples: perSecond('PostgreSQL', TICK_SECONDS) },
      }),
    },
  };
}

/** The process above all others of the database server; undefined when that runs elsewhere. */
async function findPostmaster({ database }: Bench): Promise<number | undefined> {
  const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(database);
  const { name, parent } = statOf(rows[0]?.pid ?? 0);
  return name === 'postgres' ? parent : undefined;
}

/** Rows of agents that have been written so far. */
async function rowsWritten({ database }: Bench): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    SELECT n_tup_ins + n_tup_upd AS n FROM pg_stat_user_tables WHERE relname = 'capture_agents'`.execute(database);
  return Number(rows[0]?.n ?? 0);
}
