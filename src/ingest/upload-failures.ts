import type { Context } from 'hono';
import { conflictResponse, ScheduleConflict } from '#capture/schedules/schedule-conflicts.ts';
import { toHttpError } from '#platform/http/app/error-handler.ts';
import { HttpError, refusal } from '#platform/http/errors/errors.ts';
import { FILES_TOO_LARGE } from '#platform/http/form/multipart.ts';
import { CLIENT_IDLE, ClientDisconnected } from '#platform/http/form/request-body.ts';
import { StorageRefused } from '#platform/storage/object-storage.ts';
import { StagingExpired } from '#platform/storage/staging-sweep.ts';
import { abortedUploads, type UPLOAD_ENDS } from '#platform/telemetry/metrics.ts';
import { EMPTY_FILE } from './staged-files.ts';
import { TOO_MANY_UPLOADS } from './upload-limiter.ts';

const SILENT_STATUS = 408;
const NO_ROOM = refusal(507, 'The storage has too little free space for the recording.', [], { Connection: 'close' });
const NOT_STORED = refusal(503, 'The recording could not be stored. Try again later.', [], {
  Connection: 'close',
  'Retry-After': '30',
});
/** Refusals of every request with files. */
export const UPLOAD_REFUSALS = [TOO_MANY_UPLOADS, EMPTY_FILE, CLIENT_IDLE, FILES_TOO_LARGE, NO_ROOM, NOT_STORED];

/**
 * Answers a failed request with files, including disconnected clients, storage errors and schedule conflicts.
 *
 * @param options.keeps true if a client can continue after a disconnection
 * @throws the error if all endpoints answer it alike
 */
export function answerUploadFailure(c: Context, error: unknown, { keeps = false } = {}): Response {
  const { log } = c.var;
  const cause = causeOf(error);
  if (cause) abortedUploads.inc({ cause });
  if (error instanceof ClientDisconnected) {
    log.info(`the client disconnected during an upload; the received bytes are ${keeps ? 'kept' : 'discarded'}`);
    return c.body(null, 400, { Connection: 'close' });
  }
  if (error instanceof StorageRefused) {
    log.error({ err: error.cause }, 'the object storage refused a recording');
    throw storageAnswer(error.cause);
  }
  if (error instanceof StagingExpired) {
    log.error({ err: error }, 'a staged recording was removed before the request was complete');
    throw storageAnswer(error);
  }
  return conflictResponse(c, error);
}

/** @returns undefined for errors that are counted elsewhere */
function causeOf(error: unknown): (typeof UPLOAD_ENDS)[number] | undefined {
  if (error instanceof ClientDisconnected) return 'client_gone';
  if (error instanceof StorageRefused) return 'storage';
  if (error instanceof StagingExpired) return 'swept';
  if (error instanceof ScheduleConflict) return 'refused';
  // Clients cause some database errors.
  if (!(error instanceof HttpError)) return isServerFault(error) ? 'fault' : 'refused';
  if (error.status === SILENT_STATUS) return 'idle';
  return error.message === '' ? undefined : 'refused';
}

function isServerFault(error: unknown): boolean {
  return !(error instanceof Error) || toHttpError(error, '').status >= 500;
}

function storageAnswer(cause: unknown): HttpError {
  const full = cause instanceof Error && 'code' in cause && cause.code === 'ENOSPC';
  return full ? NO_ROOM() : NOT_STORED();
}
