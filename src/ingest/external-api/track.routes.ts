import { randomUUID } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { requireAccess } from '../../access/acl.queries.ts';
import type { Principal } from '../../access/principal.ts';
import type { Config } from '../../config.ts';
import type { Database, Queryable } from '../../database/kysely.ts';
import { inTransaction } from '../../database/retry.ts';
import type { NewTrack } from '../../events/tracks.ts';
import type { Refusals } from '../../events/update/refusals.ts';
import { conflict, HttpError, notFound } from '../../http/errors.ts';
import { detectTrackType } from '../../media/signature.ts';
import type { ObjectStorage } from '../../storage/port.ts';
import type { StagingLedger } from '../../storage/staging.ts';
import type { WorkflowDefinitions } from '../../workflows/definitions.ts';
import { isActive } from '../../workflows/states.ts';
import { accept } from '../accept.ts';
import type { ExistingTarget } from '../intake.ts';
import { type FormOptions, type ReceivedFile, receiveForm } from '../receive-form.ts';
import { answerFailure } from './answer-failure.ts';
import { cannotAdd, parseTrackRequest, type TrackRequest } from './track-form.ts';

export interface TrackDependencies {
  config: Pick<Config, 'maxUploadBytes' | 'uploadIdleMs'>;
  database: Database;
  storage: ObjectStorage;
  staging: StagingLedger;
  definitions: WorkflowDefinitions;
}

const REFUSALS = {
  missing: (id) => notFound(`Unable to find event with id '${id}'`),
  processing: (id) => conflict(`Cannot update while a workflow is running on event '${id}'`),
} satisfies Partial<Refusals>;

const FORM: FormOptions = { wanted: ['track'], detect: detectTrackType, reword };

/**
 * `POST /api/events/{id}/track`: captions and other tracks for an event that is there already, also the recording of a
 * scheduled one. A workflow that starts meanwhile waits, and then works with the new tracks.
 */
export function trackRoutes(deps: TrackDependencies): Hono {
  return new Hono({ strict: false }).post('/api/events/:id/track', (c) =>
    addTrack(c, c.req.param('id'), deps).catch((error) => answerFailure(c, error)),
  );
}

async function addTrack(c: Context, id: string, deps: TrackDependencies): Promise<Response> {
  const { principal, requestId, log } = c.var;
  // Before the body is read: a refusal then costs the client nothing.
  await requireIdleEvent(deps.database, principal, id);
  return receiveForm(c.req.raw, FORM, deps, async ({ fields, files }) => {
    const request = parseTrackRequest(fields);
    const tracks = tracksOf(files, request);
    const replaced = request.overwriteExisting ? request : undefined;
    const target: ExistingTarget = {
      kind: 'existing',
      id,
      edits: {},
      takes: { kind: 'tracks', replaced },
      refusals: REFUSALS,
    };
    const { removed } = await inTransaction(deps.database, (trx) =>
      accept(trx, { principal, requestId, target, tracks }, deps),
    );
    log.info({ eventId: id, tracks: files.length, removed, bytes: files[0]?.size ?? 0 }, 'tracks changed');
    return c.body(null, 200);
  });
}

/** Refuses an event whose tracks may not be changed now; all of that may change while the file comes in. */
async function requireIdleEvent(db: Queryable, principal: Principal, id: string): Promise<void> {
  await requireAccess(db, 'events', principal, id, 'write', REFUSALS.missing(id).message);
  const event = await db
    .selectFrom('events')
    .select('processing_state')
    .where('id', '=', id)
    .executeTakeFirst();
  if (event && isActive(event.processing_state)) throw REFUSALS.processing(id);
}

/** The one file of the form; without one, tracks can only go. @throws {HttpError} 400 */
function tracksOf(
  files: readonly ReceivedFile[],
  { flavor, tags, overwriteExisting }: TrackRequest,
): NewTrack[] {
  if (files.length > 1) throw cannotAdd('the form holds more than one file in the part track.');
  if (files.length === 0 && !overwriteExisting) throw cannotAdd('the form holds no file in the part track.');
  return files.map(({ field, ...file }) => ({ ...file, id: randomUUID(), flavor, tags }));
}

/** What a form of another kind is, and a broken one. */
function reword(refusal: HttpError): HttpError {
  if (![400, 415].includes(refusal.status)) return refusal;
  return new HttpError(400, cannotAdd(refusal.message).message, refusal.headers);
}
