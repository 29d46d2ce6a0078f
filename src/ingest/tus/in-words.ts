import { DATABASE_AWAY } from '#platform/http/app/error-handler.ts';
import { UploadGone } from './object.ts';
import { TooMuch } from './receive.ts';
import { UPLOAD_GONE, UPLOAD_LOCKED, UPLOAD_TOO_LONG } from './tus-refusals.ts';
import { UploadLost } from './uploads.ts';

/** The connection broke on which the lock rests. */
export class LockLost extends Error {
  override name = 'LockLost';
}

/** What receiving failed with, as it is answered. */
export function inWords(error: unknown): unknown {
  if (error instanceof TooMuch) return UPLOAD_TOO_LONG();
  if (error instanceof UploadGone) return UPLOAD_GONE();
  if (error instanceof UploadLost) return UPLOAD_LOCKED();
  if (error instanceof LockLost) return DATABASE_AWAY();
  return error;
}
