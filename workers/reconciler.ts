import { sweepIdempotencyKeys } from '#access/idempotency/ledger.ts';
import { sweepSessions } from '#access/sessions/store.ts';
import { markMissedRecordings } from '#capture/reports/missed-recordings.ts';
import { sweepChanges } from '#changes/sweep.ts';
import { type CompletionParts, sweepDirectUploads } from '#ingest/direct/direct-completion.ts';
import { expireDrafts } from '#ingest/drafts.ts';
import { expireUploads } from '#ingest/tus/uploads.ts';
import { sweepUnfinished } from '#maintenance/sweep-unfinished.ts';
import { parkHopeless, sweepDeliveries } from '#notifications/webhooks/deliveries.ts';
import type { Config } from '#platform/config/config.ts';
import type { DatabaseWatch } from '#platform/database/watch.ts';
import { type Loop, periodically } from '#platform/process/periodically.ts';
import type { ObjectStorage } from '#platform/storage/port.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import { recoverLostOperations } from '#processing/claims.ts';
import { countChanges, sweepStatistics } from '#statistics/count.ts';
import { measureStorage } from '#statistics/storage.ts';
import type { Part } from './part.ts';
import { removeAbandonedFolders } from './work-folders.ts';

const LOST_CHECK_MS = 3_000;
const SWEEP_MS = 5_000;
const UNFINISHED_SWEEP_MS = 60_000;
const KEYS_SWEEP_MS = 60_000;
const SESSIONS_SWEEP_MS = 60_000;
const DRAFTS_SWEEP_MS = 60_000;
const DIRECT_UPLOADS_MS = 15_000;
const UPLOADS_SWEEP_MS = 60_000;
const CHANGES_SWEEP_MS = 60_000;
const MISSED_CHECK_MS = 60_000;
const COUNTING_MS = 10_000;
/** Looks whether it is due; what fails because it takes too long is not tried again at once. */
const STORAGE_CHECK_MS = 300_000;

/** What the reconciler works with. */
export interface ReconcilerParts extends CompletionParts {
  config: Pick<Config, 'scheduling' | 'changesDays'>;
  watch: Pick<DatabaseWatch, 'seen'>;
  storage: CompletionParts['storage'] & Pick<ObjectStorage, 'unfinished' | 'removeUnfinished'>;
  log: Logger;
}

type StartLoop = (name: string, pauseMs: number, run: () => Promise<unknown>) => Loop;

/**
 * Puts right what killed processes left: operations without a worker, staged objects, working folders; what is only
 * kept for a time; and recordings that never came. Counts what has happened.
 */
export function startReconciler(parts: ReconcilerParts, workDir: string): Part {
  const start: StartLoop = (name, pauseMs, run) => periodically(name, { pauseMs }, parts.log, run);
  const loops = [
    ...recovering(parts, workDir, start),
    ...expiring(parts, start),
    ...finishing(parts, start),
    ...counting(parts, start),
  ];
  return {
    loops,
    close: async () => {
      await Promise.all(loops.map((loop) => loop.close()));
    },
  };
}

/** What killed processes left. */
function recovering(parts: ReconcilerParts, workDir: string, start: StartLoop): Loop[] {
  const { database, watch, staging, storage, log } = parts;
  return [
    start('recovery of lost operations', LOST_CHECK_MS, async () => {
      const recovered = await recoverLostOperations(database, watch.seen);
      if (recovered.length > 0) log.warn({ operationIds: recovered }, 'operations were taken from silent workers');
    }),
    start('sweep of staged objects', SWEEP_MS, async () => {
      const swept = await staging.sweep(watch.seen);
      if (swept > 0) log.info({ objects: swept }, 'objects that nothing refers to were removed');
      await removeAbandonedFolders(database, workDir);
    }),
    start('sweep of unfinished objects', UNFINISHED_SWEEP_MS, async () => {
      const swept = await sweepUnfinished(database, storage);
      if (swept > 0) log.info({ objects: swept }, 'what was left of uploads to the storage was removed');
    }),
  ];
}

/** What is kept for a time. */
function expiring({ database, watch, config, log }: ReconcilerParts, start: StartLoop): Loop[] {
  const { changesDays } = config;
  return [
    start('sweep of idempotency keys', KEYS_SWEEP_MS, () => sweepIdempotencyKeys(database, watch.seen)),
    start('sweep of sessions', SESSIONS_SWEEP_MS, () => sweepSessions(database)),
    start('sweep of drafts', DRAFTS_SWEEP_MS, async () => {
      const expired = await expireDrafts(database);
      if (expired > 0) log.info({ drafts: expired }, 'drafts expired that nobody completed');
    }),
    start('sweep of uploads', UPLOADS_SWEEP_MS, async () => {
      const expired = await expireUploads(database);
      if (expired > 0) log.info({ uploads: expired }, 'uploads expired');
    }),
    start('sweep of changes', CHANGES_SWEEP_MS, async () => {
      const swept = await sweepChanges(database, changesDays);
      const parked = await parkHopeless(database);
      if (parked > 0) log.warn({ messages: parked }, 'messages for webhooks were given up');
      const messages = await sweepDeliveries(database, changesDays);
      if (swept + messages > 0) log.info({ changes: swept, messages }, 'changes were forgotten');
    }),
  ];
}

/** What clients left undone. */
function finishing(parts: ReconcilerParts, start: StartLoop): Loop[] {
  const { database, config, log } = parts;
  return [
    start('completion of direct uploads', DIRECT_UPLOADS_MS, async () => {
      const finished = await sweepDirectUploads(parts);
      if (finished > 0) log.warn({ events: finished }, 'events were made of direct uploads that nobody had finished');
    }),
    start('search for missed recordings', MISSED_CHECK_MS, async () => {
      const missed = await markMissedRecordings(database, config.scheduling.recordingGraceMs);
      if (missed > 0) log.warn({ events: missed }, 'recordings of scheduled events never came');
    }),
  ];
}

function counting({ database }: ReconcilerParts, start: StartLoop): Loop[] {
  return [
    start('counting of changes', COUNTING_MS, () => countChanges(database)),
    start('measuring of storage', STORAGE_CHECK_MS, async () => {
      await measureStorage(database);
      await sweepStatistics(database);
    }),
  ];
}
