import { HttpError } from '../../src/http/errors.ts';

/** Status and sentence of the refusal that the work ends in; `accepted` when it does not. Other errors are thrown on. */
export function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof HttpError) return `${error.status} ${error.message}`;
    throw error;
  }
  return 'accepted';
}
