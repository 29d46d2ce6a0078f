import { Hono } from 'hono';
import type { Config } from '../config.ts';
import type { Database } from '../database/kysely.ts';
import { HttpError } from '../http/errors.ts';
import { type FormLimits, recordingForm } from '../http/multipart.ts';
import type { ObjectStorage } from '../storage/port.ts';
import type { StagingLedger } from '../storage/staging.ts';
import type { WorkflowDefinitions } from '../workflows/definitions.ts';
import { addTrack, requireIdleEvent } from './add-track.ts';
import { answerUpload, finishUpload } from './answer-upload.ts';
import { detectTrackType } from './captions.ts';
import { type ReceivedForm, receiveFiles } from './receive-files.ts';
import { cannotAdd, parseTrackRequest } from './track-request.ts';

export interface TrackDependencies {
  config: Pick<Config, 'maxUploadBytes' | 'uploadIdleMs'>;
  database: Database;
  storage: ObjectStorage;
  staging: StagingLedger;
  definitions: WorkflowDefinitions;
}

/**
 * `POST /api/events/{id}/track`: captions and other tracks for an event that is there already, also the recording of a
 * scheduled one.
 */
export function trackRoutes(deps: TrackDependencies): Hono {
  const limits = recordingForm(deps.config);
  return new Hono({ strict: false }).post('/api/events/:id/track', (c) =>
    answerUpload(c, async () => {
      const { principal, requestId, log } = c.var;
      const eventId = c.req.param('id');
      // Before the body is read: a refusal then costs the client nothing.
      await requireIdleEvent(deps.database, principal, eventId);
      const { fields, files } = await receiveForm(c.req.raw, limits, deps);
      const removed = await finishUpload(
        async () => {
          const request = parseTrackRequest(fields);
          const [file, ...more] = files;
          if (more.length > 0) throw cannotAdd('the form holds more than one file in the part track.');
          if (!file && !request.overwriteExisting)
            throw cannotAdd('the form holds no file in the part track.');
          return addTrack(eventId, request, file, { principal, requestId, ...deps });
        },
        () => deps.staging.discard(files.map(({ objectKey }) => objectKey)),
      );
      log.info({ eventId, tracks: files.length, removed, bytes: files[0]?.size ?? 0 }, 'tracks changed');
      return c.body(null, 200);
    }),
  );
}

/** What a form of another kind is, and a broken one, this endpoint says in its own words. */
async function receiveForm(
  request: Request,
  limits: FormLimits,
  { storage, staging }: TrackDependencies,
): Promise<ReceivedForm> {
  try {
    return await receiveFiles(request, limits, ['track'], { storage, staging, detect: detectTrackType });
  } catch (error) {
    if (error instanceof HttpError && [400, 415].includes(error.status)) {
      throw new HttpError(400, cannotAdd(error.message).message, error.headers);
    }
    throw error;
  }
}
