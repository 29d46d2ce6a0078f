import { type Context, Hono } from 'hono';
import type { Config } from '../config.ts';
import type { Database, Transaction } from '../database/kysely.ts';
import { type FormLimits, recordingForm } from '../http/multipart.ts';
import { versionedJson } from '../http/version.ts';
import type { Idempotency, RememberContent } from '../idempotency/idempotency.ts';
import type { CatalogSet } from '../metadata/catalogs.ts';
import type { ObjectStorage } from '../storage/port.ts';
import type { StagingLedger } from '../storage/staging.ts';
import type { WorkflowDefinitions } from '../workflows/definitions.ts';
import { answerUpload, finishUpload } from './answer-upload.ts';
import { createEvent } from './create-event.ts';
import { digestTracks, trackContent } from './digest-tracks.ts';
import { parseEventRequest } from './event-request.ts';
import { receiveTracks } from './receive-tracks.ts';

export interface UploadDependencies {
  config: Pick<Config, 'publicUrl' | 'maxUploadBytes' | 'uploadIdleMs'>;
  database: Database;
  storage: ObjectStorage;
  staging: StagingLedger;
  idempotency: Idempotency;
  definitions: WorkflowDefinitions;
  catalogs: CatalogSet;
}

/** `POST /api/events`: a recording comes in. */
export function uploadRoutes(deps: UploadDependencies): Hono {
  const limits = recordingForm(deps.config);
  return new Hono({ strict: false }).post('/api/events', (c) =>
    answerUpload(c, () =>
      deps.idempotency.carryOut(c, {
        compare: () => digestTracks(c.req.raw, limits),
        create: (remember) => upload(c, limits, deps, remember),
      }),
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
  const started = performance.now();
  const answer = (id: string) =>
    versionedJson(c, { identifier: id }, 201, {
      Location: `${deps.config.publicUrl}/api/events/${encodeURIComponent(id)}`,
    });
  const { fields, tracks } = await receiveTracks(c.req.raw, limits, deps);
  const id = await finishUpload(
    async () => {
      const request = parseEventRequest(fields, { catalogs: deps.catalogs, version });
      const beforeCommit = (trx: Transaction, created: string) =>
        remember(trx, trackContent(fields, tracks), answer(created));
      return createEvent({ request, tracks, principal, requestId, beforeCommit }, deps);
    },
    () => deps.staging.discard(tracks.map(({ objectKey }) => objectKey)),
  );
  const bytes = tracks.reduce((sum, { size }) => sum + size, 0);
  log.info(
    { eventId: id, tracks: tracks.length, bytes, ms: Math.round(performance.now() - started) },
    'event created',
  );
  return answer(id);
}
