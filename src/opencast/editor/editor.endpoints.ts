import type { Context } from 'hono';
import { z } from 'zod';
import { EVERY_ACCOUNT } from '#access/roles/api-roles.ts';
import { EVENT_ID } from '#catalogue/events/event-examples.ts';
import { findEvent } from '#catalogue/events/event-json.ts';
import type { MetadataEdit } from '#catalogue/events/update/event-edits.ts';
import { updateEvent } from '#catalogue/events/update/update-event.ts';
import { openEvent, requireEditor } from '#editing/editable-event.ts';
import {
  BEING_PROCESSED,
  EVENT_GONE,
  INVALID_CAPTIONS,
  INVALID_CUT,
  INVALID_LOCK,
  INVALID_PICTURE,
  LOCKED,
  NO_STREAM_LEFT,
  NOT_WRITABLE,
  NOTHING_TO_PREVIEW,
  UNKNOWN_TRACK,
  UNKNOWN_WORKFLOW,
  UNPARSABLE,
} from '#editing/editing-refusals.ts';
import { parseLockId, releaseLock, requireNoOtherLock, takeLock } from '#editing/editor-locks.ts';
import { type EditingServices, saveEvent } from '#editing/save-event.ts';
import type { Catalogs } from '#metadata/catalogs.ts';
import { CatalogJson, CatalogsRequest } from '#metadata/metadata.schemas.ts';
import { UNPARSABLE_METADATA } from '#metadata/metadata-refusals.ts';
import { parseCatalogs } from '#metadata/parse-metadata.ts';
import type { Database } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { createdHeaders, EXAMPLE_URL, pathParameter } from '#platform/http/endpoint/endpoint-schemas.ts';
import { notFound } from '#platform/http/errors/errors.ts';
import { readBody } from '#platform/http/form/form.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { findEditorFile } from '#publications/editor-files.ts';
import { RANGE_NOT_SATISFIABLE, STORAGE_UNAVAILABLE, serveFile } from '#publications/serve-file.ts';
import { EditJson, editJson } from './edit-json.ts';
import { EditRequest, parseEditRequest } from './edit-request.ts';
import { EDIT_JSON_EXAMPLE, EDIT_REQUEST_EXAMPLE, METADATA_EXAMPLE } from './editor-examples.ts';
import { editorMetadata } from './editor-metadata.ts';

/** Room for captions and a few pictures. */
const MAX_EDIT_BYTES = 16 * 2 ** 20;
const MAX_METADATA_BYTES = 2 ** 20;
const LOCK_ID = '0b1d9c3e-6f1a-4c70-9a52-3f0e5d7c8a11';

const access = EVERY_ACCOUNT;
const params = { event_id: pathParameter('Identifier of the event.', EVENT_ID) };
const CLOSED = [EVENT_GONE, NOT_WRITABLE];

type Services = EditingServices & { config: { publicUrl: string }; catalogs: Pick<Catalogs, 'event' | 'lists'> };

/** The protocol of video editors in browsers. */
export const EDITOR_ENDPOINTS = [
  defineEndpoint({
    method: 'get',
    path: '/editor/{event_id}/edit.json',
    access,
    operationId: 'getEditorData',
    summary: 'Open an event in an editor',
    description:
      'Needs write access to the event. `workflow_active` is true while a workflow runs, and nothing can be saved.',
    params,
    answers: { 200: { description: 'The event.', plain: true, body: EditJson, example: EDIT_JSON_EXAMPLE } },
    refusals: [...CLOSED, NOTHING_TO_PREVIEW, BEING_PROCESSED],
    handle: async ({ c, params }, { database, definitions, storage, config }: Services) => {
      const { principal } = c.var;
      const event = await openEvent(database, { principal, definitions }, params.event_id);
      const json = await editJson(event, { principal, storage, publicUrl: config.publicUrl });
      return c.json(json, 200, { 'Cache-Control': 'no-store' });
    },
  }),
  defineEndpoint({
    method: 'post',
    path: '/editor/{event_id}/edit.json',
    access,
    operationId: 'postEditorData',
    summary: 'Save what an editor changed',
    description:
      'Needs write access to the event. With `workflows`, starts that workflow, or resumes it if it waits for a cut. Unknown members are ignored.',
    params,
    form: {
      schema: z.object({}),
      example: {},
      bodies: { 'application/json': { schema: EditRequest, example: EDIT_REQUEST_EXAMPLE } },
    },
    answers: { 200: { description: 'Everything is saved.' } },
    refusals: [
      UNPARSABLE,
      INVALID_CUT,
      NO_STREAM_LEFT,
      UNKNOWN_TRACK,
      INVALID_CAPTIONS,
      INVALID_PICTURE,
      UNKNOWN_WORKFLOW,
      UNPARSABLE_METADATA,
      ...CLOSED,
      NOTHING_TO_PREVIEW,
      LOCKED,
      BEING_PROCESSED,
    ],
    handle: async ({ c, params }, services: Services) => {
      const { principal, requestId, log } = c.var;
      const id = params.event_id;
      await requireEditor(services.database, principal, id);
      const { metadataJson, ...editing } = parseEditRequest(await readText(c, MAX_EDIT_BYTES));
      const metadata = metadataJson === undefined ? undefined : metadataEdit(metadataJson, services);
      await saveEvent(id, { ...editing, metadata }, { principal, requestId }, services);
      log.info({ eventId: id, workflow: editing.workflow }, 'edits saved');
      return c.body(null, 200);
    },
  }),
  defineEndpoint({
    method: 'get',
    path: '/editor/{event_id}/metadata.json',
    access,
    operationId: 'getEditorMetadata',
    summary: 'Read the metadata of an event in an editor',
    description:
      'Needs write access to the event. `collection` has the suggested values by their labels. Subjects are the field `subject`.',
    params,
    answers: {
      200: { description: 'The catalogs.', plain: true, body: z.array(CatalogJson), example: METADATA_EXAMPLE },
    },
    refusals: CLOSED,
    handle: async ({ c, params }, { database, catalogs }: Services) => {
      const id = params.event_id;
      const { principal } = c.var;
      await requireEditor(database, principal, id);
      const event = await findEvent(database, id, principal);
      if (!event) throw EVENT_GONE(id);
      const json = await editorMetadata(database, event, { catalogs, principal });
      return c.json(json, 200, { 'Cache-Control': 'no-store' });
    },
  }),
  defineEndpoint({
    method: 'post',
    path: '/editor/{event_id}/metadata.json',
    access,
    operationId: 'postEditorMetadata',
    summary: 'Change the metadata of an event in an editor',
    description:
      'Needs write access to the event. The rules of fields are those of `PUT /api/events/{event_id}/metadata`.',
    params,
    form: {
      schema: z.object({}),
      example: {},
      bodies: { 'application/json': { schema: CatalogsRequest, example: METADATA_EXAMPLE } },
    },
    answers: { 200: { description: 'The metadata is saved.' } },
    refusals: [UNPARSABLE_METADATA, ...CLOSED, LOCKED],
    handle: async ({ c, params }, services: Services) => {
      const { database } = services;
      const { principal } = c.var;
      const id = params.event_id;
      await requireEditor(database, principal, id);
      const metadata = metadataEdit(await readText(c, MAX_METADATA_BYTES), services);
      const by = { principal, refusals: { missing: EVENT_GONE, denied: NOT_WRITABLE } };
      await inTransaction(database, async (trx) => {
        await updateEvent(trx, id, { metadata }, by);
        await requireNoOtherLock(trx, id, principal.username);
      });
      return c.body(null, 200);
    },
  }),
  defineEndpoint({
    method: 'post',
    path: '/editor/{event_id}/lock',
    access,
    operationId: 'postEditorLock',
    summary: 'Take or refresh the lock of an editor',
    description: 'Needs write access to the event. The lock expires five minutes after its last refresh.',
    params,
    form: {
      schema: z.object({
        user: z.string().optional().describe('Ignored: the account holds the lock.'),
        uuid: z.string().optional().describe('The identifier of the lock, which the editor chooses. Required.'),
      }),
      example: { user: 'ada', uuid: LOCK_ID },
    },
    answers: {
      201: {
        description: 'The editor holds the lock.',
        headers: createdHeaders(`${EXAMPLE_URL}/editor/${EVENT_ID}/lock/${LOCK_ID}`),
      },
    },
    refusals: [INVALID_LOCK, ...CLOSED, LOCKED],
    handle: async ({ c, params, fields }, { database, config }: Services) => {
      const { principal } = c.var;
      const eventId = params.event_id;
      await requireEditor(database, principal, eventId);
      const uuid = parseLockId((await fields()).get('uuid'));
      await takeLock(database, { eventId, uuid, username: principal.username });
      const Location = `${config.publicUrl}/editor/${encodeURIComponent(eventId)}/lock/${uuid}`;
      return c.body(null, 201, { Location });
    },
  }),
  defineEndpoint({
    method: 'delete',
    path: '/editor/{event_id}/lock/{lock_id}',
    access,
    operationId: 'deleteEditorLock',
    summary: 'Release the lock of an editor',
    description: 'Needs write access to the event.',
    params: { ...params, lock_id: pathParameter('Identifier of the lock.', LOCK_ID) },
    answers: { 200: { description: 'The editor does not hold the lock.' } },
    refusals: [INVALID_LOCK, ...CLOSED, LOCKED],
    handle: async ({ c, params }, { database }: Services) => {
      const { principal } = c.var;
      const eventId = params.event_id;
      await requireEditor(database, principal, eventId);
      await releaseLock(database, { eventId, uuid: parseLockId(params.lock_id), username: principal.username });
      return c.body(null, 200);
    },
  }),
  defineEndpoint({
    method: 'get',
    path: '/editor/{event_id}/files/{file_id}/{filename}',
    access,
    operationId: 'getEditorFile',
    summary: 'Load a file for an editor',
    description: 'Needs write access to the event. With `Range`, a part of the file.',
    params: {
      ...params,
      file_id: pathParameter('Identifier of the file.', LOCK_ID),
      filename: pathParameter('Name of the file.', 'presenter-preview.mp4'),
    },
    answers: {
      200: { description: 'The file.', binary: true },
      206: { description: 'The requested part of the file.', binary: true },
      304: { description: 'The file still has this `ETag`.' },
    },
    refusals: [...CLOSED, RANGE_NOT_SATISFIABLE, STORAGE_UNAVAILABLE],
    handle: async ({ c, params }, { database, storage }: { database: Database; storage: ObjectStorage }) => {
      const { event_id: eventId, file_id: fileId, filename } = params;
      await requireEditor(database, c.var.principal, eventId);
      const file = await findEditorFile(database, { eventId, fileId, filename });
      const headers = { 'Cache-Control': 'private, no-cache', Vary: 'Authorization, Cookie' };
      const served = file && (await serveFile(c, storage, file, headers));
      if (!served) throw notFound();
      return served;
    },
  }),
];

/** Reads a body of any type. @throws {HttpError} 400 for bytes that are not UTF-8, 413 for a long body */
async function readText(c: Context, maxBytes: number): Promise<string> {
  const bytes = await readBody(c.req.raw, maxBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw UNPARSABLE();
  }
}

/** @throws {HttpError} 400 */
function metadataEdit(json: string, { catalogs }: Pick<Services, 'catalogs'>): MetadataEdit {
  return { kind: 'written back', given: parseCatalogs(json, catalogs.event, 'update'), catalogs: catalogs.event };
}
