import { sweepIdempotencyKeys } from '#access/idempotency/idempotency-ledger.ts';
import { sweepUsedTokens } from '#access/launches/used-tokens.ts';
import { sweepSessions } from '#access/sessions/sessions.ts';
import { markMissedRecordings } from '#capture/reports/missed-recordings.ts';
import { sweepChanges } from '#changes/record-changes.ts';
import { type CompletionParts, sweepDirectUploads } from '#ingest/direct/direct-completion.ts';
import { expireDrafts } from '#ingest/drafts.ts';
import { expireUploads } from '#ingest/tus/tus-uploads.ts';
import { sweepUnfinished } from '#maintenance/sweep-unfinished.ts';
import { parkExpiredDeliveries, sweepDeliveries } from '#notifications/webhooks/webhook-deliveries.ts';
import type { Config } from '#platform/config/config.ts';
import type { DatabaseWatch } from '#platform/database/database-watch.ts';
import { startLoop } from '#platform/process/loop.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import { recoverLostOperations } from '#processing/operation-claims.ts';
import { countChanges, measureStorage, sweepStatistics } from '#statistics/count.ts';
import { mergeViews } from '#statistics/views/view-counts.ts';
import { componentOf, type WorkerComponent } from './worker-component.ts';
import { removeAbandonedFolders } from './workspace.ts';

const LOST_CHECK_MS = 3_000;
const STAGED_SWEEP_MS = 5_000;
const COUNTING_MS = 10_000;
const DIRECT_UPLOADS_MS = 15_000;
const MINUTE_MS = 60_000;
/** Only checks whether a measurement is due. One that timed out waits this long. */
const STORAGE_CHECK_MS = 300_000;

export interface ReconcilerParts extends CompletionParts {
  config: Pick<Config, 'scheduling' | 'changesDays' | 'statistics'>;
  watch: Pick<DatabaseWatch, 'seen'>;
  storage: ObjectStorage;
  log: Logger;
}

/**
 * Cleans up after killed processes (lost operations, staged objects, working folders), removes what has expired,
 * finishes direct uploads, marks missed recordings, and counts changes for statistics.
 */
export function startReconciler(parts: ReconcilerParts, workDir: string): WorkerComponent {
  const { config, database, watch, staging, storage, log } = parts;
  const { changesDays, scheduling, statistics } = config;
  const start = (name: string, pauseMs: number, run: () => Promise<unknown>) => startLoop(name, { pauseMs }, log, run);
  const sweep = (what: string, message: string, run: () => Promise<number>) =>
    start(`sweep of ${what}`, MINUTE_MS, async () => {
      const swept = await run();
      if (swept > 0) log.info({ [what]: swept }, message);
    });
  return componentOf([
    start('recovery of lost operations', LOST_CHECK_MS, async () => {
      const recovered = await recoverLostOperations(database, watch.seen);
      if (recovered.length > 0) log.warn({ operationIds: recovered }, 'operations were taken from silent workers');
    }),
    start('sweep of staged objects', STAGED_SWEEP_MS, async () => {
      const swept = await staging.sweep(watch.seen);
      if (swept > 0) log.info({ objects: swept }, 'unreferenced objects were removed');
      await removeAbandonedFolders(database, workDir);
    }),
    start('sweep of unfinished objects', MINUTE_MS, async () => {
      const swept = await sweepUnfinished(database, storage);
      if (swept > 0) log.info({ objects: swept }, 'unfinished objects were removed from the storage');
    }),
    start('sweep of idempotency keys', MINUTE_MS, () => sweepIdempotencyKeys(database, watch.seen)),
    start('sweep of sessions', MINUTE_MS, () => sweepSessions(database)),
    start('sweep of used tokens', MINUTE_MS, () => sweepUsedTokens(database)),
    sweep('drafts', 'unfinished drafts expired', () => expireDrafts(database)),
    sweep('uploads', 'uploads expired', () => expireUploads(database)),
    start('sweep of changes', MINUTE_MS, async () => {
      const swept = await sweepChanges(database, changesDays);
      const parked = await parkExpiredDeliveries(database);
      if (parked > 0) log.warn({ messages: parked }, 'messages for webhooks were given up');
      const messages = await sweepDeliveries(database, changesDays);
      if (swept + messages > 0) log.info({ changes: swept, messages }, 'old changes were removed');
    }),
    start('completion of direct uploads', DIRECT_UPLOADS_MS, async () => {
      const finished = await sweepDirectUploads(parts);
      if (finished > 0) log.warn({ events: finished }, 'events were created from unfinished direct uploads');
    }),
    start('search for missed recordings', MINUTE_MS, async () => {
      const missed = await markMissedRecordings(database, scheduling.recordingGraceMs);
      if (missed > 0) log.warn({ events: missed }, 'recordings of scheduled events did not arrive');
    }),
    start('counting of changes', COUNTING_MS, () => countChanges(database)),
    start('measuring of storage', STORAGE_CHECK_MS, async () => {
      await sweepStatistics(database);
      await mergeViews(database, statistics.timeZone);
      // It counts many rows, and may take longer than the database allows.
      await measureStorage(database);
    }),
  ]);
}
