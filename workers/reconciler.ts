import { sweepSessions } from '../src/access/sessions/store.ts';
import { sweepChanges } from '../src/changes/sweep.ts';
import type { Database } from '../src/database/kysely.ts';
import type { DatabaseWatch } from '../src/database/watch.ts';
import { sweepIdempotencyKeys } from '../src/idempotency/sweep.ts';
import { forgetDirectUploads } from '../src/ingest/direct/end.ts';
import type { FinishParts } from '../src/ingest/direct/finish.ts';
import { finishDirectUploads } from '../src/ingest/direct/sweep.ts';
import { expireDrafts } from '../src/ingest/drafts.ts';
import { expireUploads } from '../src/ingest/uploads/expire.ts';
import { periodically } from '../src/periodically.ts';
import { markMissedRecordings } from '../src/recordings/missed-recordings.ts';
import { countChanges } from '../src/statistics/count.ts';
import { measureStorage } from '../src/statistics/storage.ts';
import { sweepStatistics } from '../src/statistics/sweep.ts';
import type { ObjectStorage } from '../src/storage/port.ts';
import type { StagingLedger } from '../src/storage/staging.ts';
import type { Logger } from '../src/telemetry/log.ts';
import { sweepUnfinished } from '../src/upkeep/sweep-unfinished.ts';
import { parkHopeless, sweepDeliveries } from '../src/webhooks/deliveries.ts';
import { recoverLostOperations } from '../src/workflows/claims.ts';
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

/**
 * Puts right what killed processes left: operations without a worker, staged objects, working folders; what is only
 * kept for a time; and recordings that never came. Counts what has happened.
 */
export function startReconciler(options: {
  database: Database;
  watch: Pick<DatabaseWatch, 'seen'>;
  staging: StagingLedger;
  storage: Pick<ObjectStorage, 'unfinished' | 'removeUnfinished'>;
  workDir: string;
  /** How long after its end a scheduled recording may still come without having been missed, in milliseconds. */
  recordingGraceMs: number;
  /** How long changes are kept. */
  changesDays: number;
  /** What events of direct uploads are made with. */
  direct: FinishParts;
  log: Logger;
}): Part {
  const { database, watch, staging, storage, workDir, recordingGraceMs, changesDays, direct, log } = options;
  const loops = [
    periodically('recovery of lost operations', { pauseMs: LOST_CHECK_MS }, log, async () => {
      const recovered = await recoverLostOperations(database, watch.seen);
      if (recovered.length > 0)
        log.warn({ operationIds: recovered }, 'operations were taken from silent workers');
    }),
    periodically('sweep of staged objects', { pauseMs: SWEEP_MS }, log, async () => {
      const swept = await staging.sweep(watch.seen);
      if (swept > 0) log.info({ objects: swept }, 'objects that nothing refers to were removed');
      await removeAbandonedFolders(database, workDir);
    }),
    periodically('sweep of unfinished objects', { pauseMs: UNFINISHED_SWEEP_MS }, log, async () => {
      const swept = await sweepUnfinished(database, storage);
      if (swept > 0) log.info({ objects: swept }, 'what was left of uploads to the storage was removed');
    }),
    periodically('sweep of idempotency keys', { pauseMs: KEYS_SWEEP_MS }, log, () =>
      sweepIdempotencyKeys(database, watch.seen),
    ),
    periodically('sweep of sessions', { pauseMs: SESSIONS_SWEEP_MS }, log, () => sweepSessions(database)),
    periodically('sweep of drafts', { pauseMs: DRAFTS_SWEEP_MS }, log, async () => {
      const expired = await expireDrafts(database);
      if (expired > 0) log.info({ drafts: expired }, 'drafts expired that nobody completed');
    }),
    periodically('completion of direct uploads', { pauseMs: DIRECT_UPLOADS_MS }, log, async () => {
      const finished = await finishDirectUploads({ ...direct, log });
      if (finished > 0)
        log.warn({ events: finished }, 'events were made of direct uploads that nobody had finished');
      await forgetDirectUploads(database);
    }),
    periodically('sweep of uploads', { pauseMs: UPLOADS_SWEEP_MS }, log, async () => {
      const expired = await expireUploads(database);
      if (expired > 0) log.info({ uploads: expired }, 'uploads expired');
    }),
    periodically('sweep of changes', { pauseMs: CHANGES_SWEEP_MS }, log, async () => {
      const swept = await sweepChanges(database, changesDays);
      const parked = await parkHopeless(database);
      if (parked > 0) log.warn({ messages: parked }, 'messages for webhooks were given up');
      const messages = await sweepDeliveries(database, changesDays);
      if (swept + messages > 0) log.info({ changes: swept, messages }, 'changes were forgotten');
    }),
    periodically('search for missed recordings', { pauseMs: MISSED_CHECK_MS }, log, async () => {
      const missed = await markMissedRecordings(database, recordingGraceMs);
      if (missed > 0) log.warn({ events: missed }, 'recordings of scheduled events never came');
    }),
    periodically('counting of changes', { pauseMs: COUNTING_MS }, log, () => countChanges(database)),
    periodically('measuring of storage', { pauseMs: STORAGE_CHECK_MS }, log, async () => {
      await measureStorage(database);
      await sweepStatistics(database);
    }),
  ];
  return {
    loops,
    close: async () => {
      await Promise.all(loops.map((loop) => loop.close()));
    },
  };
}
