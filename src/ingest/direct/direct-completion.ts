import { sql } from 'kysely';
import type { Directory } from '#access/accounts/directory.ts';
import { Principal } from '#access/principal.ts';
import { withScheduleConflicts } from '#capture/schedules/schedule-conflicts.ts';
import type { Catalogs } from '#metadata/catalogs.ts';
import type { Config } from '#platform/config/config.ts';
import type { Locks } from '#platform/database/locks.ts';
import { inTransaction, isDatabaseOutage, isTransient } from '#platform/database/retry.ts';
import { INTERNAL_ERROR } from '#platform/http/app/error-handler.ts';
import { HttpError } from '#platform/http/errors/errors.ts';
import { withTimeout } from '#platform/process/timeout.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import type { WorkflowDefinitions } from '#processing/load-definitions.ts';
import { accept } from '../accept.ts';
import { isOpen, recordOutcome } from '../drafts.ts';
import { parseNewEvents } from '../event-form.ts';
import { receive, UploadGone } from '../tus/receive.ts';
import { lockUpload, UploadLost, type UploadParts } from '../tus/tus-uploads.ts';
import { type Author, type DirectUpload, directDraft, findDirectUpload, keepFiles } from './direct-uploads.ts';

export interface CompletionParts extends UploadParts {
  config: Pick<Config, 'scheduling'>;
  locks: Locks;
  definitions: WorkflowDefinitions;
  directory: Pick<Directory, 'findPrincipal'>;
  catalogs: Pick<Catalogs, 'event'>;
}

/** The request during which an event is created, for errors and logs. */
export interface RequestInfo {
  requestId: string;
  log: Logger;
}

const GONE = 'The received bytes no longer exist.';
/** The time that the request with the last byte has to create the event. */
const GRACE_SECONDS = 30;
/** A sweep is limited to this number and time, so that its loop's heartbeat continues. */
const SWEEP_ITEMS = 50;
const SWEEP_MS = 30_000;
/** The time that a sweep waits for one event. */
const ITEM_MS = 60_000;

/**
 * Creates the event of a direct upload that has received all its files: exactly one, even if several processes try. If no
 * event can ever be created, records the direct upload as failed, with the reason.
 *
 * @returns its new state; undefined if it does not exist
 * @throws {Error} if the failure may be temporary, such as a database outage
 */
export async function completeDirectUpload(
  parts: CompletionParts,
  id: string,
  request: RequestInfo,
): Promise<DirectUpload | undefined> {
  const { database } = parts;
  const direct = await findDirectUpload(database, id);
  if (!direct || !isOpen(direct) || !direct.files.every(({ offset, length }) => offset === length)) return direct;
  try {
    for (const { complete, uploadId } of direct.files) if (!complete) await completeUpload(parts, uploadId);
    await makeEvent(parts, direct, request).catch(async (error) => {
      if (isDatabaseOutage(error) || isTransient(error)) throw error;
      const failure = reasonOf(error, request);
      await inTransaction(database, async (trx) => {
        const now = await findDirectUpload(trx, id, { lock: true });
        // In place of a deleted file, another one can be uploaded.
        if (now?.files.every(({ complete }) => complete)) await recordOutcome(trx, id, { failure });
      });
    });
  } catch (error) {
    if (error instanceof UploadGone) await recordOutcome(database, id, { failure: GONE });
    // Another request writes to it and will complete it.
    else if (!(error instanceof UploadLost)) throw error;
  }
  return findDirectUpload(database, id);
}

/**
 * Creates the events of direct uploads that have received all files, but whose last request was killed before it could.
 *
 * @param graceSeconds the minimum time since the last byte
 * @returns the number of created events
 */
export async function sweepDirectUploads(
  parts: CompletionParts & { log: Logger },
  graceSeconds = GRACE_SECONDS,
): Promise<number> {
  const { database, log } = parts;
  const { rows } = await sql<{ id: string; requestId: string }>`
    SELECT id, request ->> 'requestId' AS "requestId" FROM drafts
    WHERE door = 'direct' AND event_id IS NULL AND failure IS NULL AND closes_at > now() AND NOT EXISTS (
      SELECT FROM draft_uploads AS file LEFT JOIN uploads ON uploads.id = file.upload_id
      WHERE file.draft_id = drafts.id AND (stored + rest_bytes = length
        AND uploads.changed_at <= now() - make_interval(secs => ${graceSeconds})) IS NOT TRUE)
    ORDER BY random() LIMIT ${SWEEP_ITEMS}`.execute(database);
  const until = performance.now() + SWEEP_MS;
  let made = 0;
  for (const { id, requestId } of rows) {
    if (performance.now() > until) break;
    const completion = completeDirectUpload(parts, id, { requestId, log: log.child({ requestId }) });
    try {
      const direct = await withTimeout(completion, ITEM_MS, `Creating the event took longer than ${ITEM_MS} ms.`);
      if (direct?.accepted) made += 1;
    } catch (err) {
      log.warn({ err, directUpload: id }, 'could not create the event of a direct upload; the next sweep tries again');
    }
  }
  return made;
}

async function makeEvent(
  parts: CompletionParts,
  { id, request }: DirectUpload,
  { requestId, log }: RequestInfo,
): Promise<void> {
  const principal = await principalOf(request.author, parts.directory);
  const target = await parseNewEvents(new Map(Object.entries(request.fields)), request.version, parts);
  await withScheduleConflicts(parts.database, principal, async (trx) => {
    const direct = await findDirectUpload(trx, id, { lock: true });
    // Another request has created the event, or has deleted a file.
    if (!direct || !isOpen(direct) || !direct.files.every(({ complete }) => complete)) return undefined;
    const uploads = direct.files.map(({ uploadId, flavor }) => ({ id: uploadId, flavor }));
    const intake = { principal, requestId, target, tracks: [], uploads, draft: directDraft(id) };
    const { ids } = await accept(trx, intake, parts);
    await keepFiles(trx, id);
    return { eventId: ids[0], directUpload: id, tracks: uploads.length };
  }).then((made) => made && log.info(made, 'event created'));
}

/** Returns the author with stored roles, or with the present roles of an account in the directory. */
async function principalOf(
  { roles, ...author }: Author,
  directory: Pick<Directory, 'findPrincipal'>,
): Promise<Principal> {
  if (roles) return new Principal({ ...author, roles: new Set(roles) });
  const known = await directory.findPrincipal(author.username);
  if (known) return known;
  throw new HttpError(409, `The account '${author.username}' that requested the upload no longer exists.`);
}

/** Completes an upload whose process was killed after the last byte. */
async function completeUpload(parts: CompletionParts, uploadId: string): Promise<void> {
  const stop = new AbortController();
  const onLost = () => stop.abort(new UploadLost('The lock on the upload was lost.'));
  await using _lock = await lockUpload(parts.locks, uploadId, { onWanted: () => undefined, onLost });
  await receive(parts, uploadId, { signal: stop.signal });
}

function reasonOf(error: unknown, { requestId, log }: RequestInfo): string {
  if (error instanceof HttpError && error.message !== '') return error.message;
  log.error({ err: error }, 'could not create the event of a direct upload');
  return INTERNAL_ERROR.sentence(requestId);
}
