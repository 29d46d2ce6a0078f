import { type Context, Hono } from 'hono';
import { requireAccess } from '../access/acl.queries.ts';
import type { Config } from '../config.ts';
import type { Database } from '../database/kysely.ts';
import type { UpdateParts } from '../events/apply-parts.ts';
import { parseEventParts } from '../events/event-parts.ts';
import { badRequest, HttpError, notFound } from '../http/errors.ts';
import { type FormLimits, isMultipart, recordingForm } from '../http/multipart.ts';
import type { ApiVersion } from '../http/version.ts';
import type { CatalogSet } from '../metadata/catalogs.ts';
import { UnknownField } from '../metadata/refusals.ts';
import { answerConflicts } from '../recordings/answer-conflicts.ts';
import { parseSchedulingChange } from '../recordings/schedules/parse.ts';
import type { ObjectStorage } from '../storage/port.ts';
import type { StagingLedger } from '../storage/staging.ts';
import type { WorkflowDefinitions } from '../workflows/definitions.ts';
import { answerUpload, finishUpload } from './answer-upload.ts';
import { receiveTracks } from './receive-tracks.ts';
import { refuseSecondRecording } from './start-recorded.ts';
import { updateEvent } from './update-event.ts';

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
  const limits = recordingForm(deps.config);
  return new Hono({ strict: false }).post('/api/events/:id', (c) =>
    answerUpload(c, () => answerConflicts(c, () => update(c, c.req.param('id'), limits, deps))),
  );
}

async function update(
  c: Context,
  id: string,
  limits: FormLimits,
  deps: UpdateDependencies,
): Promise<Response> {
  try {
    // Before the body is read: a refusal then costs the client nothing.
    await requireAccess(deps.database, 'events', c.var.principal, id, 'write');
    if (!isMultipart(c.req.header('Content-Type') ?? '')) throw badRequest('No multipart content');
    await receiveUpdate(c, id, limits, deps);
  } catch (error) {
    if (error instanceof UnknownField) throw notFound(`Cannot find an event with id '${id}'.`);
    if (error instanceof HttpError && error.status === 401) throw new HttpError(401, '');
    throw error;
  }
  return c.body(null, 204);
}

async function receiveUpdate(
  c: Context,
  id: string,
  limits: FormLimits,
  deps: UpdateDependencies,
): Promise<void> {
  const { database, storage, staging, catalogs, definitions } = deps;
  const { principal, requestId, version, log } = c.var;
  let awaited: Promise<boolean> | undefined;
  const isAwaited = async () => (await refuseSecondRecording(database, id)) === 'awaited';
  const { fields, tracks } = await receiveTracks(c.req.raw, limits, {
    storage,
    staging,
    // Asked at the first file, for all of them.
    admits: () => (awaited ??= isAwaited()),
  });
  await finishUpload(
    async () => {
      const parts = parseUpdate(fields, { catalogs, version });
      const gapMs = deps.config.scheduling.minGapMs;
      const options = { database, staging, catalogs, definitions, principal, requestId, gapMs };
      await updateEvent({ id, parts, tracks }, options);
    },
    () => staging.discard(tracks.map(({ objectKey }) => objectKey)),
  );
  if (tracks.length === 0) return;
  const bytes = tracks.reduce((sum, { size }) => sum + size, 0);
  log.info({ eventId: id, tracks: tracks.length, bytes }, 'the recording of a scheduled event came in');
}

function parseUpdate(
  fields: ReadonlyMap<string, string>,
  options: { catalogs: CatalogSet; version: ApiVersion },
): UpdateParts {
  const { scheduling, ...parts } = parseEventParts(fields, { ...options, purpose: 'update' });
  return {
    ...parts,
    scheduling:
      scheduling === undefined
        ? undefined
        : parseSchedulingChange(scheduling, { unreadable: 'Unable to parse scheduling information' }),
  };
}
