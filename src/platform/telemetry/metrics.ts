import type pg from 'pg';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { LoopMonitor } from './pulse.ts';

/** The metrics of this process. Dashboards and alerts rely on their names and labels (docs/operating.md). */
export const metrics = new Registry();

const registers = [metrics];
/** Limit of distinct failure reasons: they hold output of tools, and label values are never freed. */
const MOST_REASONS = 50;
const OTHER_REASONS = 'other';

/** `route` is the path pattern, or `unmatched` for unknown paths. */
export const requestSeconds = new Histogram({
  name: 'inlet_http_request_duration_seconds',
  help: 'Time from the request headers to the response headers, including uploads',
  labelNames: ['method', 'route', 'status'] as const,
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3600],
  registers,
});

export const uploadedBytes = new Counter({
  name: 'inlet_upload_bytes_total',
  help: 'Bytes of uploaded files that were passed to the storage',
  registers,
});

export const uploadsUnderWay = new Gauge({
  name: 'inlet_uploads_under_way',
  help: 'Requests that are uploading files',
  registers,
});

export const UPLOAD_ENDS = ['client_gone', 'idle', 'refused', 'storage', 'swept', 'fault'] as const;

export const abortedUploads = new Counter({
  name: 'inlet_uploads_aborted_total',
  help: 'Uploads that were not completed, by cause',
  labelNames: ['cause'] as const,
  registers,
});

export const operationSeconds = new Histogram({
  name: 'inlet_operation_duration_seconds',
  help: 'Time that operations took, by outcome',
  labelNames: ['operation', 'outcome'] as const,
  buckets: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 12 * 3600],
  registers,
});

const operationFailures = new Counter({
  name: 'inlet_operation_failures_total',
  help: 'Operations that failed permanently, by reason',
  labelNames: ['operation', 'reason'] as const,
  registers,
});

export const operationDeferrals = new Counter({
  name: 'inlet_operation_deferrals_total',
  help: 'Operations that were postponed because a part of the service was down',
  labelNames: ['operation'] as const,
  registers,
});

/** Starts the counters of an operation at zero: Prometheus misses the first increment of a new series. */
export function initOperationMetrics(operation: string): void {
  operationSeconds.zero({ operation, outcome: 'succeeded' });
  operationDeferrals.inc({ operation }, 0);
}

export const publicationSeconds = new Histogram({
  name: 'inlet_upload_to_publication_seconds',
  help: 'Time from the end of an upload to its publication',
  buckets: [5, 15, 60, 300, 900, 1800, 3600, 2 * 3600, 4 * 3600, 8 * 3600, 24 * 3600, 72 * 3600],
  registers,
});

export const roundSeconds = new Histogram({
  name: 'inlet_round_duration_seconds',
  help: 'Time that one run of a background loop took, by outcome',
  labelNames: ['loop', 'outcome'] as const,
  buckets: [0.01, 0.1, 1, 10, 60, 300],
  registers,
});

const reasons = new Set<string>();

/** Counts a failure. Reasons beyond the limit count as `other`. */
export function countFailure(operation: string, reason: string): void {
  if (reasons.size < MOST_REASONS) reasons.add(reason);
  operationFailures.inc({ operation, reason: reasons.has(reason) ? reason : OTHER_REASONS });
}

for (const cause of UPLOAD_ENDS) abortedUploads.inc({ cause }, 0);

/** Interval of event loop samples. */
const LAG_MS = 500;

export interface ProcessParts {
  role: string;
  version: string;
  pulse: LoopMonitor;
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
    'Connections to the database by pool and state; `waiting` counts requests for a connection',
    ['pool', 'state'],
    (g) => {
      for (const [pool, { totalCount, idleCount, waitingCount }] of Object.entries(pools)) {
        g.set({ pool, state: 'used' }, totalCount - idleCount);
        g.set({ pool, state: 'idle' }, idleCount);
        g.set({ pool, state: 'waiting' }, waitingCount);
      }
    },
  );
  gauge('inlet_loop_running_seconds', 'Duration of the current run of a loop; 0 while idle', ['loop'], (g) => {
    for (const { name, runningMs } of pulse.rounds) g.set({ loop: name }, runningMs() / 1000);
  });
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time',
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
    help: 'Delay of timers on the event loop',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers,
  });
  let due = performance.now() + LAG_MS;
  setInterval(() => {
    lag.observe(Math.max(0, performance.now() - due) / 1000);
    due = performance.now() + LAG_MS;
  }, LAG_MS).unref();
}
