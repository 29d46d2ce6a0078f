import type { Context } from 'hono';
import { ClientGone } from '../http/body.ts';
import { HttpError } from '../http/errors.ts';
import { StagingExpired } from '../storage/staging.ts';
import { StorageRefused } from './receive-files.ts';

/** Answers a request that brings files, also when the client goes away or the storage takes nothing. */
export async function answerUpload(c: Context, receive: () => Promise<Response>): Promise<Response> {
  const { log } = c.var;
  try {
    return await receive();
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
}

/** Runs the last step of an upload; when it fails, `undo` removes what was stored. */
export async function finishUpload<T>(step: () => Promise<T>, undo: () => Promise<void>): Promise<T> {
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
