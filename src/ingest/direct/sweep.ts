import { sql } from 'kysely';
import type { Logger } from '#platform/telemetry/log.ts';
import { type FinishParts, finishDirectUpload } from './finish.ts';

/** As long as that, the request that brought the last byte is let make the event. */
const GRACE_SECONDS = 30;
/** What is more, or takes longer, is left to the next run, so that this one shows that it lives. */
const MOST = 50;
const MOST_MS = 30_000;
/** One that takes longer goes on beside the next. */
const EACH_MS = 60_000;

/**
 * Makes the events of direct uploads whose files are all there and whose last request was killed before it could.
 *
 * @param graceSeconds how long nothing may have come
 * @returns how many there were
 */
export async function finishDirectUploads(
  parts: FinishParts & { log: Logger },
  graceSeconds = GRACE_SECONDS,
): Promise<number> {
  const { database, log } = parts;
  const { rows } = await sql<{ id: string; request_id: string }>`
    SELECT id, request_id FROM direct_uploads
    WHERE event_id IS NULL AND failure IS NULL AND expires_at > now() AND NOT EXISTS (
      SELECT FROM direct_upload_files AS file LEFT JOIN uploads ON uploads.id = file.upload_id
      WHERE file.direct_upload_id = direct_uploads.id AND (stored + rest_bytes = length
        AND changed_at <= now() - make_interval(secs => ${graceSeconds})) IS NOT TRUE)
    ORDER BY random() LIMIT ${MOST}`.execute(database);
  const until = performance.now() + MOST_MS;
  let finished = 0;
  for (const { id, request_id: requestId } of rows) {
    if (performance.now() > until) break;
    const limit = Promise.withResolvers<never>();
    const timer = setTimeout(() => limit.reject(new Error(`It takes longer than ${EACH_MS} ms.`)), EACH_MS);
    try {
      const finishing = finishDirectUpload(parts, id, { requestId, log: log.child({ requestId }) });
      const direct = await Promise.race([finishing, limit.promise]);
      if (direct?.eventId !== undefined) finished += 1;
    } catch (error) {
      log.warn(
        { err: error, directUpload: id },
        'the event of a direct upload could not be made; it is tried again',
      );
    } finally {
      clearTimeout(timer);
    }
  }
  return finished;
}
