import { type Context, Hono } from 'hono';
import { requireAccess } from '../../access/acl.queries.ts';
import type { Config } from '../../config.ts';
import type { Database } from '../../database/kysely.ts';
import { refuseSecondRecording } from '../../events/update/tracks.ts';
import type { EventEdits } from '../../events/update/update-event.ts';
import { badRequest, HttpError, notFound } from '../../http/errors.ts';
import { isMultipart } from '../../http/multipart.ts';
import type { CatalogSet } from '../../metadata/catalogs.ts';
import { UnknownField } from '../../metadata/refusals.ts';
import { explainingConflicts } from '../../recordings/conflicts.ts';
import { parseSchedulingChange } from '../../recordings/schedules/parse.ts';
import type { ObjectStorage } from '../../storage/port.ts';
import type { StagingLedger } from '../../storage/staging.ts';
import type { WorkflowDefinitions } from '../../workflows/definitions.ts';
import { accept } from '../accept.ts';
import type { Intake } from '../intake.ts';
import { type FormOptions, receiveForm } from '../receive-form.ts';
import { answerFailure } from './answer-failure.ts';
import { FLAVORS, type PartOptions, parseEventParts, tracksOf } from './event-form.ts';

export interface UpdateDependencies {
  config: Pick<Config, 'maxUploadBytes' | 'uploadIdleMs' | 'scheduling'>;
  database: Database;
  storage: ObjectStorage;
  staging: StagingLedger;
  definitions: WorkflowDefinitions;
  catalogs: CatalogSet;
}

/**
 * `POST /api/events/{id}`: metadata, ACL, processing, scheduling and the recording of an event, in one multipart form.
 * Only a scheduled event takes files, once; of all others they are read and dropped.
 */
export function eventUpdateRoutes(deps: UpdateDependencies): Hono {
  return new Hono({ strict: false }).post('/api/events/:id', (c) =>
    update(c, c.req.param('id'), deps).catch((error) => answerFailure(c, ownWords(error, c.req.param('id')))),
  );
}

async function update(c: Context, id: string, deps: UpdateDependencies): Promise<Response> {
  const { principal, requestId, version, log } = c.var;
  const { config, database, catalogs } = deps;
  // Before the body is read: a refusal then costs the client nothing.
  await requireAccess(database, 'events', principal, id, 'write');
  if (!isMultipart(c.req.header('Content-Type') ?? '')) throw badRequest('No multipart content');
  return receiveForm(c.req.raw, formOf(database, id), deps, async ({ fields, files }) => {
    const tracks = tracksOf(files);
    const gapMs = config.scheduling.minGapMs;
    const edits = parseEdits(fields, { catalogs, version, gapMs });
    const target: Intake['target'] = { kind: 'existing', id, edits, takes: { kind: 'recording' } };
    await explainingConflicts(database, principal, (trx) =>
      accept(trx, { principal, requestId, target, tracks }, deps),
    );
    if (tracks.length > 0) {
      const bytes = tracks.reduce((sum, { size }) => sum + size, 0);
      log.info({ eventId: id, tracks: tracks.length, bytes }, 'the recording of a scheduled event came in');
    }
    return c.body(null, 204);
  });
}

/** A recording is taken for an event that awaits one; asked at the first file, for all of them. */
function formOf(database: Database, id: string): FormOptions {
  let awaited: Promise<boolean> | undefined;
  const isAwaited = async () => (await refuseSecondRecording(database, id)) === 'awaited';
  return { wanted: Object.keys(FLAVORS), admits: () => (awaited ??= isAwaited()) };
}

function parseEdits(
  fields: ReadonlyMap<string, string>,
  { gapMs, ...options }: PartOptions & { gapMs: number },
): EventEdits {
  const { catalogs } = options;
  const parts = parseEventParts(fields, { ...options, purpose: 'update' });
  const change =
    parts.scheduling === undefined
      ? undefined
      : parseSchedulingChange(parts.scheduling, { unreadable: 'Unable to parse scheduling information' });
  return {
    metadata: parts.catalogs && { kind: 'written back', given: parts.catalogs, catalogs },
    acl: parts.acl && { kind: 'replace', entries: parts.acl },
    scheduling: change && { change, gapMs, allowConflict: false },
    processing: parts.processing,
  };
}

/** What this endpoint says of some faults in words of its own. */
function ownWords(error: unknown, id: string): unknown {
  if (error instanceof UnknownField) return notFound(`Cannot find an event with id '${id}'.`);
  if (error instanceof HttpError && error.status === 401) return new HttpError(401, '');
  return error;
}
