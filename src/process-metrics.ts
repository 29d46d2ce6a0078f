import type pg from 'pg';
import { Counter, Gauge, Histogram } from 'prom-client';
import { metrics } from './metrics.ts';
import type { Pulse } from './pulse.ts';

const registers = [metrics];
/** How often the event loop is to come round, and how far it is behind is looked at. */
const LAG_MS = 500;

/** What a process tells of itself. */
export interface ProcessParts {
  /** `api`, `worker` or `all`. */
  role: string;
  version: string;
  pulse: Pulse;
  pools: Readonly<Record<string, Pick<pg.Pool, 'totalCount' | 'idleCount' | 'waitingCount'>>>;
}

/** Figures that are read when somebody asks: memory, processor, connections, loops. @returns what ends the measuring */
export function measureProcess({ role, version, pulse, pools }: ProcessParts): () => void {
  const gauge = (
    name: string,
    help: string,
    collect: (gauge: Gauge<string>) => void,
    labels: string[] = [],
  ) =>
    new Gauge({
      name,
      help,
      labelNames: labels,
      registers,
      collect: function (this: Gauge<string>) {
        collect(this);
      },
    });
  const own = [
    gauge('inlet_build_info', 'Version and role of the process', (g) => g.set({ version, role }, 1), [
      'version',
      'role',
    ]),
    gauge('process_resident_memory_bytes', 'Memory of the process', (g) => g.set(process.memoryUsage().rss)),
    gauge('process_heap_bytes', 'Heap in use', (g) => g.set(process.memoryUsage().heapUsed)),
    gauge('process_uptime_seconds', 'Time since the start', (g) => g.set(process.uptime())),
    gauge(
      'inlet_database_connections',
      'Connections to the database by pool and state; `waiting` are those who wait for one',
      (g) => {
        for (const [pool, { totalCount, idleCount, waitingCount }] of Object.entries(pools)) {
          g.set({ pool, state: 'used' }, totalCount - idleCount);
          g.set({ pool, state: 'idle' }, idleCount);
          g.set({ pool, state: 'waiting' }, waitingCount);
        }
      },
      ['pool', 'state'],
    ),
    gauge(
      'inlet_loop_running_seconds',
      'How long the present round of a loop has taken; 0 while it rests',
      (g) => {
        for (const { name, runningMs } of pulse.rounds) g.set({ loop: name }, runningMs() / 1000);
      },
      ['loop'],
    ),
  ];
  const cpu = new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Time on processors',
    registers,
    collect() {
      this.reset();
      this.inc(cpuSeconds());
    },
  });
  const lag = new Histogram({
    name: 'inlet_event_loop_lag_seconds',
    help: 'How much later than asked for a timer fires',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers,
  });
  let due = performance.now() + LAG_MS;
  const timer = setInterval(() => {
    lag.observe(Math.max(0, performance.now() - due) / 1000);
    due = performance.now() + LAG_MS;
  }, LAG_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    for (const each of [...own, cpu, lag])
      metrics.removeSingleMetric((each as unknown as { name: string }).name);
  };
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
