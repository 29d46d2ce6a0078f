import type pg from 'pg';
import { Counter, Gauge, Histogram } from 'prom-client';
import { metrics } from './metrics.ts';
import type { Pulse } from './pulse.ts';

const registers = [metrics];
/** Interval of event loop samples. */
const LAG_MS = 500;

export interface ProcessParts {
  /** `api`, `worker` or `all`. */
  role: string;
  version: string;
  pulse: Pulse;
  pools: Readonly<Record<string, Pick<pg.Pool, 'totalCount' | 'idleCount' | 'waitingCount'>>>;
}

/** Registers the metrics of the process. Call it once. */
export function measureProcess({ role, version, pulse, pools }: ProcessParts): void {
  gauge('inlet_build_info', 'Version and role of the process', ['version', 'role'], (g) => g.set({ version, role }, 1));
  gauge('process_resident_memory_bytes', 'Memory of the process', [], (g) => g.set(process.memoryUsage().rss));
  gauge('process_heap_bytes', 'Heap in use', [], (g) => g.set(process.memoryUsage().heapUsed));
  gauge('process_uptime_seconds', 'Time since the start', [], (g) => g.set(process.uptime()));
  gauge(
    'inlet_database_connections',
    'Connections to the database by pool and state; `waiting` are those who wait for one',
    ['pool', 'state'],
    (g) => {
      for (const [pool, { totalCount, idleCount, waitingCount }] of Object.entries(pools)) {
        g.set({ pool, state: 'used' }, totalCount - idleCount);
        g.set({ pool, state: 'idle' }, idleCount);
        g.set({ pool, state: 'waiting' }, waitingCount);
      }
    },
  );
  gauge(
    'inlet_loop_running_seconds',
    'How long the present round of a loop has taken; 0 while it rests',
    ['loop'],
    (g) => {
      for (const { name, runningMs } of pulse.rounds) g.set({ loop: name }, runningMs() / 1000);
    },
  );
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Time on processors',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  measureLag();
}

function gauge(name: string, help: string, labelNames: string[], collect: (gauge: Gauge<string>) => void): void {
  new Gauge({
    ...{ name, help, labelNames, registers },
    collect() {
      collect(this);
    },
  });
}

function measureLag(): void {
  const lag = new Histogram({
    name: 'inlet_event_loop_lag_seconds',
    help: 'How much later than asked for a timer fires',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers,
  });
  let due = performance.now() + LAG_MS;
  setInterval(() => {
    lag.observe(Math.max(0, performance.now() - due) / 1000);
    due = performance.now() + LAG_MS;
  }, LAG_MS).unref();
}
