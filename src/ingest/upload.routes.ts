import { type Context, Hono } from 'hono';
import type { Config } from '../config.ts';
import type { Database, Transaction } from '../database/kysely.ts';
import { badRequest } from '../http/errors.ts';
import { type FormLimits, recordingForm } from '../http/multipart.ts';
import { versionedJson } from '../http/version.ts';
import type { Idempotency, RememberContent } from '../idempotency/idempotency.ts';
import type { CatalogSet } from '../metadata/catalogs.ts';
import { answerConflicts } from '../recordings/answer-conflicts.ts';
import type { ObjectStorage } from '../storage/port.ts';
import type { StagingLedger } from '../storage/staging.ts';
import type { WorkflowDefinitions } from '../workflows/definitions.ts';
import { answerUpload, finishUpload } from './answer-upload.ts';
import { createEvents } from './create-events.ts';
import { digestTracks, trackContent } from './digest-tracks.ts';
import { parseEventRequest } from './event-request.ts';
import { receiveTracks } from './receive-tracks.ts';

export interface UploadDependencies {
  config: Pick<Config, 'publicUrl' | 'maxUploadBytes' | 'uploadIdleMs' | 'scheduling'>;
  database: Database;
  storage: ObjectStorage;
  staging: StagingLedger;
  idempotency: Idempotency;
  definitions: WorkflowDefinitions;
  catalogs: CatalogSet;
}

/** `POST /api/events`: a recording comes in, or is scheduled. */
export function uploadRoutes(deps: UploadDependencies): Hono {
  const limits = recordingForm(deps.config);
  return new Hono({ strict: false }).post('/api/events', (c) =>
    answerUpload(c, () =>
      answerConflicts(c, () =>
        deps.idempotency.carryOut(c, {
          compare: () => digestTracks(c.req.raw, limits),
          create: (remember) => upload(c, limits, deps, remember),
        }),
      ),
    ),
  );
}

async function upload(
  c: Context,
  limits: FormLimits,
  deps: UploadDependencies,
  remember: RememberContent,
): Promise<Response> {
  const { principal, requestId, version, log } = c.var;
  const { config, database, catalogs } = deps;
  const started = performance.now();
  const answer = (ids: readonly string[]) => answerCreated(c, ids, config.publicUrl);
  const { fields, tracks } = await receiveTracks(c.req.raw, limits, deps);
  const ids = await finishUpload(
    async () => {
      const { maxOccurrences } = config.scheduling;
      const request = await parseEventRequest(fields, { catalogs, version, database, maxOccurrences });
      if (request.recordings?.recurring && tracks.length > 0) throw severalEvents();
      const beforeCommit = (trx: Transaction, created: readonly string[]) =>
        remember(trx, trackContent(fields, tracks), answer(created));
      return createEvents({ request, tracks, principal, requestId, beforeCommit }, deps);
    },
    () => deps.staging.discard(tracks.map(({ objectKey }) => objectKey)),
  );
  const bytes = tracks.reduce((sum, { size }) => sum + size, 0);
  const ms = Math.round(performance.now() - started);
  log.info({ eventId: ids[0], events: ids.length, tracks: tracks.length, bytes, ms }, 'event created');
  return answer(ids);
}

/** 201 for one event, 200 for several. */
function answerCreated(c: Context, ids: readonly string[], publicUrl: string): Response {
  const [id, ...more] = ids;
  if (id === undefined || more.length > 0) {
    return versionedJson(
      c,
      ids.map((identifier) => ({ identifier })),
    );
  }
  const Location = `${publicUrl}/api/events/${encodeURIComponent(id)}`;
  return versionedJson(c, { identifier: id }, 201, { Location });
}

function severalEvents() {
  return badRequest(
    "Recordings cannot be sent along with an 'rrule': nothing says which of its events they belong to. Send each to its event.",
  );
}
