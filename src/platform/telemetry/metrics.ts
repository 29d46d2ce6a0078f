import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The metrics of this process. Dashboards and alerts rely on their names and labels (docs/operating.md). */
export const metrics = new Registry();

const registers = [metrics];
/** Limit of distinct failure reasons: they hold output of tools, and label values are never freed. */
const MOST_REASONS = 50;
const OTHER_REASONS = 'other';

/** `route` is the path pattern, or `unmatched` for unknown paths. */
export const requestSeconds = new Histogram({
  name: 'inlet_http_request_duration_seconds',
  help: 'Time from the head of a request to that of its answer, uploads included',
  labelNames: ['method', 'route', 'status'] as const,
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3600],
  registers,
});

export const uploadedBytes = new Counter({
  name: 'inlet_upload_bytes_total',
  help: 'Bytes of files that clients sent and that were given to the storage',
  registers,
});

export const uploadsUnderWay = new Gauge({
  name: 'inlet_uploads_under_way',
  help: 'Requests that bring files now',
  registers,
});

export const UPLOAD_ENDS = ['client_gone', 'idle', 'refused', 'storage', 'swept', 'fault'] as const;

export const abortedUploads = new Counter({
  name: 'inlet_uploads_aborted_total',
  help: 'Requests that brought files and did not come to their end, by cause',
  labelNames: ['cause'] as const,
  registers,
});

export const operationSeconds = new Histogram({
  name: 'inlet_operation_duration_seconds',
  help: 'Time that workers took for operations, by what became of them',
  labelNames: ['operation', 'outcome'] as const,
  buckets: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 12 * 3600],
  registers,
});

const operationFailures = new Counter({
  name: 'inlet_operation_failures_total',
  help: 'Operations that failed for good, by reason',
  labelNames: ['operation', 'reason'] as const,
  registers,
});

export const operationDeferrals = new Counter({
  name: 'inlet_operation_deferrals_total',
  help: 'Operations that were put off because a part of the service did not work',
  labelNames: ['operation'] as const,
  registers,
});

/** Starts the counters of an operation at zero: Prometheus misses the first increment of a new series. */
export function expectOperation(operation: string): void {
  operationSeconds.zero({ operation, outcome: 'succeeded' });
  operationDeferrals.inc({ operation }, 0);
}

export const publicationSeconds = new Histogram({
  name: 'inlet_upload_to_publication_seconds',
  help: 'Time from the end of an upload, when its processing is begun, to its publication',
  buckets: [5, 15, 60, 300, 900, 1800, 3600, 2 * 3600, 4 * 3600, 8 * 3600, 24 * 3600, 72 * 3600],
  registers,
});

export const roundSeconds = new Histogram({
  name: 'inlet_round_duration_seconds',
  help: 'Time that a round of a loop took, such as that of the relay or of the sweeps, by what became of it',
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
