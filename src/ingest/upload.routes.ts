import { Hono } from 'hono';
import type { Config } from '../config.ts';
import type { Database } from '../database/kysely.ts';
import { ClientGone } from '../http/body.ts';
import { HttpError } from '../http/errors.ts';
import type { FormLimits } from '../http/multipart.ts';
import { versionedJson } from '../http/version.ts';
import type { ObjectStorage } from '../storage/port.ts';
import { StagingExpired, type StagingLedger } from '../storage/staging.ts';
import type { WorkflowDefinitions } from '../workflows/definitions.ts';
import { createEvent } from './create-event.ts';
import { parseEventRequest } from './event-request.ts';
import { receiveTracks, StorageRefused } from './receive-tracks.ts';

export interface UploadDependencies {
  config: Pick<Config, 'publicUrl' | 'maxUploadBytes' | 'uploadIdleMs'>;
  database: Database;
  storage: ObjectStorage;
  staging: StagingLedger;
  definitions: WorkflowDefinitions;
}

const FIELD_BYTES = 2 ** 20;

/** `POST /api/events`: a recording comes in. */
export function uploadRoutes(deps: UploadDependencies): Hono {
  const limits: FormLimits = {
    fieldBytes: FIELD_BYTES,
    fields: 20,
    files: 10,
    fileBytes: deps.config.maxUploadBytes,
    idleMs: deps.config.uploadIdleMs,
  };
  return new Hono({ strict: false }).post('/api/events', async (c) => {
    const { principal, requestId, log } = c.var;
    const started = performance.now();
    try {
      const { fields, tracks } = await receiveTracks(c.req.raw, limits, deps);
      const id = await finish(
        async () => {
          const request = parseEventRequest(fields);
          return createEvent({ request, tracks, principal, requestId }, deps);
        },
        () => deps.staging.discard(tracks.map(({ objectKey }) => objectKey)),
      );
      const bytes = tracks.reduce((sum, { size }) => sum + size, 0);
      log.info(
        { eventId: id, tracks: tracks.length, bytes, ms: Math.round(performance.now() - started) },
        'event created',
      );
      return versionedJson(c, { identifier: id }, 201, {
        Location: `${deps.config.publicUrl}/api/events/${encodeURIComponent(id)}`,
      });
    } catch (error) {
      if (error instanceof ClientGone) {
        log.info('the client went away in the middle of an upload; nothing is kept');
        return c.body(null, 400, { Connection: 'close' });
      }
      if (error instanceof StorageRefused) {
        log.error({ err: error.cause }, 'object storage refused a recording');
        throw storageAnswer(error.cause);
      }
      if (error instanceof StagingExpired) {
        log.error({ err: error }, 'a recording was swept before it was complete');
        throw storageAnswer(error);
      }
      throw error;
    }
  });
}

/** Runs the last step; when it fails, the stored tracks go. */
async function finish<T>(step: () => Promise<T>, undo: () => Promise<void>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    await undo();
    throw error;
  }
}

function storageAnswer(cause: unknown): HttpError {
  const full = cause instanceof Error && 'code' in cause && cause.code === 'ENOSPC';
  return full
    ? new HttpError(507, 'There is no room left to store the recording.', { Connection: 'close' })
    : new HttpError(503, 'The recording could not be stored. Try again later.', {
        Connection: 'close',
        'Retry-After': '30',
      });
}
