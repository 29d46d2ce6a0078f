import { refusal } from '../../../http/endpoint/refusal.ts';

/** A file that a client names by its address, and that is not fetched from there or does not come. */
export const URL_REFUSED = refusal(400, (reason: string) => `The URL cannot be fetched: ${reason}.`, [
  'its host is not one that INGEST_URL_HOSTS names',
]);

/** A file that is larger than those of a request may be. */
export const URL_TOO_LARGE = refusal(
  413,
  (bytes: number) => `The file at the URL is larger than ${bytes} bytes, which is what may still come.`,
  [100 * 2 ** 30],
);
