import { execFileSync } from 'node:child_process';
import { createReadStream, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../../../src/platform/database/kysely.ts';
import { clip } from '../../../test/support/clips.ts';
import type { Bench } from '../setup/bench.ts';
import { type InletProcess, startInlet } from '../setup/inlet-process.ts';
import type { Figure, Row, Table } from '../support/figures.ts';
import { postEvent } from '../support/http-client.ts';
import { insertEvents, writeDefinitions } from './noop-events.ts';

const WAITING = 10_000;
const QUICK_WAITING = 1_500;
const NOOP_WORKERS = [1, 2, 4];
const NOOP_SECONDS = 10;
/** A process that has just begun is still being compiled. */
const WARM_UP_SECONDS = 5;
/** Of one worker; few enough that the database is not busy with one of them. */
const NOOP_AT_ONCE = '1';
const RECORDINGS_EACH = 12;
const CLIP_SECONDS = 8;
const PATIENCE_MS = 600_000;

/** What workers do that come while very much waits, and in which order. */
export async function measureWaiting(bench: Bench, onRound: (round: number) => void): Promise<Table> {
  onRound(1);
  const noop = await measureNoop(bench);
  await bench.reset();
  onRound(2);
  const real = await measureReal(bench);
  await bench.reset();
  return {
    name: 'waiting',
    title: `Workers that are added while ${bench.options.quick ? QUICK_WAITING : WAITING} recordings wait`,
    notes: [
      `No-op operations: each worker does ${NOOP_AT_ONCE} at once; what is done within a window after the last of them is ready.`,
      'Encoding: each worker has a processor of its own and does one recording at a time (fewer processors, fewer workers).',
      'Out of turn: how many older recordings were begun after one, at the worst; those that are handed out at once have no order.',
    ],
    rows: [...noop, ...real],
  };
}

async function measureNoop(bench: Bench): Promise<Row[]> {
  const { quick } = bench.options;
  const count = quick ? QUICK_WAITING : WAITING;
  const { folder, definitions } = writeDefinitions(bench.folder, [1]);
  const [definition] = definitions;
  if (!definition) throw new Error('The workflow definition is missing.');
  await insertEvents(bench.database, definition, count);
  const workers: InletProcess[] = [];
  const rates: number[] = [];
  for (const wanted of NOOP_WORKERS) {
    while (workers.length < wanted) {
      workers.push(await startInlet(bench, 'worker', { WORKFLOWS_DIR: folder, WORKER_CONCURRENCY: NOOP_AT_ONCE }));
    }
    if (!quick) await sleep(WARM_UP_SECONDS * 1000);
    rates.push(await rateOver(bench.database, quick ? 1 : NOOP_SECONDS));
  }
  await untilNothingWaits(bench.database);
  const { farthest } = await outOfTurn(bench.database);
  for (const { stop } of workers) await stop();
  return NOOP_WORKERS.map((number, i) => ({
    label: `no-op operations, ${number} ${number === 1 ? 'worker' : 'workers'}`,
    figures: {
      ...compared(rates[i] ?? Number.NaN, rates[0] ?? Number.NaN),
      ...(number === NOOP_WORKERS.at(-1) && { 'out of turn': { unit: 'count', samples: [farthest] } }),
    },
  }));
}

async function measureReal(bench: Bench): Promise<Row[]> {
  const processors = availableParallelism();
  const numbers = [...new Set([1, processors])];
  const path = await clip({
    seconds: bench.options.quick ? 1 : CLIP_SECONDS,
    container: 'webm',
    video: { size: '640x360', options: ['-deadline', 'realtime', '-cpu-used', '8'] },
    audio: true,
  });
  const track = {
    bytes: statSync(path).size,
    filename: basename(path),
    content: () => createReadStream(path),
  };
  const each = bench.options.quick ? 2 : RECORDINGS_EACH;
  const rates: number[] = [];
  const workers: InletProcess[] = [];
  const api = await startInlet(bench, 'api');
  for (const number of numbers) {
    while (workers.length < number) {
      const worker = await startInlet(bench, 'worker', { WORKER_CONCURRENCY: '1' });
      execFileSync('taskset', ['-a', '-c', '-p', String(workers.length), String(worker.pid)], {
        stdio: 'ignore',
      });
      workers.push(worker);
    }
    const begun = performance.now();
    for (let i = 0; i < each * number; i++) await postEvent(api.api, { workflow: 'schedule-and-upload', track });
    await untilNothingWaits(bench.database);
    rates.push((each * number) / ((performance.now() - begun) / 1000));
  }
  for (const { stop } of [...workers, api]) await stop();
  return numbers.map((number, i) => ({
    label: `encoding, ${number} ${number === 1 ? 'worker' : 'workers'}`,
    figures: compared(rates[i] ?? Number.NaN, rates[0] ?? Number.NaN),
  }));
}

function compared(rate: number, alone: number): Record<string, Figure> {
  return {
    recordings: { unit: 'per second', samples: [rate] },
    'of one worker': { unit: 'ratio', samples: [rate / alone] },
  };
}

/** Workflows that end in a second. @throws Error when nothing is left before the window ends */
async function rateOver(database: Database, seconds: number): Promise<number> {
  const before = await ended(database);
  const begun = performance.now();
  await sleep(seconds * 1000);
  const after = await ended(database);
  if (after.left === 0) throw new Error('Too few recordings wait for workers of this speed.');
  return (after.ended - before.ended) / ((performance.now() - begun) / 1000);
}

async function ended(database: Database): Promise<{ ended: number; left: number }> {
  return database
    .selectFrom('workflows')
    .select([
      sql<number>`count(*) FILTER (WHERE state = 'SUCCEEDED')`.as('ended'),
      sql<number>`count(*) FILTER (WHERE state <> 'SUCCEEDED')`.as('left'),
    ])
    .executeTakeFirstOrThrow();
}

async function untilNothingWaits(database: Database): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const { left } = await ended(database);
    if (left === 0) return;
    if (performance.now() > deadline) throw new Error(`${left} workflows have not succeeded.`);
    await sleep(100);
  }
}

/** How many older operations were begun after one, at the worst. */
async function outOfTurn(database: Database): Promise<{ farthest: number }> {
  const { rows } = await sql<{ farthest: number }>`
    SELECT coalesce(max(abs(turn - place)), 0)::integer AS farthest FROM (
      SELECT row_number() OVER (ORDER BY id) AS turn, row_number() OVER (ORDER BY claimed_at, id) AS place
      FROM workflow_operations WHERE claimed_at IS NOT NULL) AS ranked`.execute(database);
  return rows[0] ?? { farthest: Number.NaN };
}
