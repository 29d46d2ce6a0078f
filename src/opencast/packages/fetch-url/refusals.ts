import { refusal } from '#platform/http/errors/refusal.ts';
import { OutboundFault } from '#platform/outbound/target.ts';

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

/** Does something, and refuses the URL where another host is to blame. @throws {HttpError} 400 */
export function refusing<T>(work: () => T): T {
  try {
    const done = work();
    return (done instanceof Promise ? done.catch(refuse) : done) as T;
  } catch (error) {
    return refuse(error);
  }
}

function refuse(error: unknown): never {
  throw error instanceof OutboundFault ? URL_REFUSED(error.message) : error;
}
