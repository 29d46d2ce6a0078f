import type { Directory } from '#access/accounts/directory.ts';
import { Principal } from '#access/principal.ts';
import { explainingConflicts } from '#capture/schedules/conflicts.ts';
import type { Catalogs } from '#metadata/catalogs.ts';
import type { Config } from '#platform/config/config.ts';
import type { Locks } from '#platform/database/locks.ts';
import { isDatabaseOutage } from '#platform/database/outage.ts';
import { inTransaction, mayPass } from '#platform/database/retry.ts';
import { FAULT } from '#platform/http/app/error-handler.ts';
import { HttpError } from '#platform/http/errors/errors.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import type { WorkflowDefinitions } from '#processing/definitions.ts';
import { accept } from '../accept.ts';
import type { Intake } from '../intake.ts';
import { parseNewEvents } from '../new-events.ts';
import { beginWriting, lockUpload } from '../tus/progress.ts';
import { receive, UploadGone } from '../tus/receive.ts';
import { UploadLost, type UploadParts } from '../tus/uploads.ts';
import { type Author, type DirectFile, type DirectUpload, findDirectUpload } from './direct-uploads.ts';
import { DirectUploadOver, noteEvent, noteFailure } from './outcome.ts';

/** What making events of direct uploads works with. */
export interface FinishParts extends UploadParts {
  config: Pick<Config, 'scheduling'>;
  locks: Locks;
  definitions: WorkflowDefinitions;
  directory: Pick<Directory, 'find'>;
  catalogs: Pick<Catalogs, 'event'>;
}

/** For whom an event is made. */
export interface Occasion {
  requestId: string;
  log: Logger;
}

const GONE = 'What came is not there any more.';

/**
 * Makes the event of a direct upload whose files are all there; exactly one, whoever asks for it and how often. What can
 * never become an event is noted as failed, with the reason.
 *
 * @returns the direct upload as it is then; undefined when there is none
 * @throws what may pass: the database or the storage is away, or others hold it up
 */
export async function finishDirectUpload(
  parts: FinishParts,
  id: string,
  occasion: Occasion,
): Promise<DirectUpload | undefined> {
  const { database } = parts;
  const direct = await findDirectUpload(database, id);
  if (!direct || direct.expired || direct.eventId !== undefined || direct.failure !== undefined)
    return direct;
  if (!direct.files.every((file) => file.complete || hasAllBytes(file))) return direct;
  try {
    for (const file of direct.files) if (!file.complete) await completeUpload(parts, direct, file);
  } catch (error) {
    if (error instanceof UploadGone) await noteFailure(database, id, GONE);
    // Else somebody else is at it.
    else if (!(error instanceof UploadLost)) throw error;
    return findDirectUpload(database, id);
  }
  try {
    await makeEvent(parts, direct, occasion);
  } catch (error) {
    if (isDatabaseOutage(error) || mayPass(error)) throw error;
    // Somebody else was faster, or gave a file up: another may come in its place.
    const now = await findDirectUpload(database, id);
    if (error instanceof DirectUploadOver || !now?.files.every(({ complete }) => complete)) return now;
    await noteFailure(database, id, reasonOf(error, occasion));
  }
  return findDirectUpload(database, id);
}

async function makeEvent(
  parts: FinishParts,
  direct: DirectUpload,
  { requestId, log }: Occasion,
): Promise<void> {
  const { database, directory, catalogs, config } = parts;
  const { id, fields, version, author, files } = direct;
  const principal = await principalOf(author, directory);
  const { maxOccurrences, minGapMs: gapMs } = config.scheduling;
  const options = { catalogs: catalogs.event, version, database, maxOccurrences };
  const events = await parseNewEvents(new Map(Object.entries(fields)), options);
  const intake: Intake = {
    principal,
    requestId,
    target: { kind: 'new', events, gapMs },
    tracks: [],
    uploads: files.map(({ uploadId, flavor }) => ({ id: uploadId, flavor })),
  };
  const eventId = await explainingConflicts(database, principal, async (trx) => {
    const { ids } = await accept(trx, intake, parts);
    const [eventId = ''] = ids;
    await noteEvent(trx, id, eventId);
    return eventId;
  });
  log.info({ eventId, directUpload: id, tracks: files.length }, 'event created');
}

/** Whoever the directory knows has the roles of now; others have those that they had. */
async function principalOf(
  { roles, ...author }: Author,
  directory: Pick<Directory, 'find'>,
): Promise<Principal> {
  if (roles) return new Principal({ ...author, roles: new Set(roles) });
  const known = await directory.find(author.username);
  if (known) return known.principal;
  throw new HttpError(409, `The account '${author.username}' that it was asked for by is gone.`);
}

/** Of an upload whose process was killed after its last byte. */
async function completeUpload(parts: FinishParts, { maxBytes }: DirectUpload, { uploadId }: DirectFile) {
  const stop = new AbortController();
  const onLost = () => stop.abort(new UploadLost('The lock on the upload is lost.'));
  const held = await lockUpload(parts.locks, uploadId, { onWanted: () => undefined, onLost });
  if (!held) throw new UploadLost('Somebody else writes to the upload.');
  try {
    const upload = await inTransaction(parts.database, (trx) =>
      beginWriting(trx, uploadId, parts.lifetimeMs),
    );
    const nothing = { read: async () => undefined, verify: undefined, maxBytes, signal: stop.signal };
    await receive(parts, upload, nothing);
  } finally {
    await held.release();
  }
}

function hasAllBytes({ begun, offset, length }: DirectFile): boolean {
  return begun && offset === length;
}

function reasonOf(error: unknown, { requestId, log }: Occasion): string {
  if (error instanceof HttpError && error.message !== '') return error.message;
  log.error({ err: error }, 'no event could be made of a direct upload');
  return FAULT.sentence(requestId);
}
