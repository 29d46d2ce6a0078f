import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { z } from 'zod';
import { EVERY_ACCOUNT } from '#access/roles/api-roles.ts';
import { openEvent } from '#editing/editable-event.ts';
import { ownLock, parseLockId, takeLock } from '#editing/editor-locks.ts';
import { type EditingServices, saveEvent } from '#editing/save-event.ts';
import type { Segment } from '#editing/segments.ts';
import { Assets, browserModules } from '#platform/http/answer/asset.ts';
import type { WebAppFolder } from '#platform/http/answer/web-app-folder.ts';
import { defineEndpoint, type EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { badRequest, HttpError, notFound } from '#platform/http/errors/errors.ts';
import { rootFrom } from '../urls/relative-urls.ts';
import { settingsAnswer, webAppAnswer } from '../web-app/web-app-answer.ts';
import { parseClock } from './clock-times.ts';
import { EDITOR_PATH, editorApp, SETTINGS_PATH } from './editor-app.ts';
import { EDITOR_PAGE_HEADERS, type EnteredPart, editorPage, processingPage } from './editor-page.ts';

const SAVED = 'The cut is saved.';
const ASSETS = new Assets(browserModules(new URL('./browser/', import.meta.url)));

const query = z.object({
  id: z.string({ error: "The parameter 'id' must name an event." }).optional(),
  mediaPackageId: z.string().optional(),
  saved: z.string().optional(),
});
type Services = EditingServices & { editor: WebAppFolder | undefined };
type PageRequest = EndpointRequest<string, typeof query>;

/** Opens a recording in the configured editor, or in a form. */
export const editorPages = [EDITOR_PATH, `${EDITOR_PATH}/index.html`].map((path) =>
  defineEndpoint({ method: 'get', path, access: EVERY_ACCOUNT, query, handle: openEditor }),
);

function openEditor(request: PageRequest, services: Services): Response | Promise<Response> {
  const { editor } = services;
  return editor ? webAppAnswer(request.c, editorApp(editor)) : cutPage(request, services);
}

async function cutPage({ c, query }: PageRequest, { database, definitions }: Services): Promise<Response> {
  const { principal } = c.var;
  const { id, mediaPackageId, saved } = query();
  const eventId = id ?? mediaPackageId;
  if (!eventId) throw badRequest("The parameter 'id' must name an event.");
  const event = await openEvent(database, { principal, definitions }, eventId);
  const { username } = principal;
  const uuid = (await ownLock(database, eventId, username)) ?? randomUUID();
  if (!event.isProcessed) await takeLock(database, { eventId, uuid, username });
  const notice = saved === undefined ? undefined : SAVED;
  return c.html(editorPage({ event, lock: uuid, root: rootFrom(c), notice }), 200, EDITOR_PAGE_HEADERS);
}

/** Saves the form. */
export const saveCut = defineEndpoint({
  method: 'post',
  path: EDITOR_PATH,
  access: EVERY_ACCOUNT,
  form: {
    schema: z.object({
      id: z.string(),
      uuid: z.string(),
      from: z.string().describe('Once for each part, like `to`.'),
      to: z.string(),
      action: z.enum(['save', 'process']),
      workflow: z.string().optional(),
    }),
    example: { id: 'x', uuid: 'x', from: '0:00:01.000', to: '0:00:02.000', action: 'save' },
  },
  handle: async ({ c, fieldList, form }, services: Services) => {
    const { id: eventId, uuid: lock, action, workflow } = await form();
    const { principal, requestId } = c.var;
    const { database, definitions } = services;
    const event = await openEvent(database, { principal, definitions }, eventId);
    const held = { eventId, uuid: parseLockId(lock), username: principal.username };
    const parts = partsOf(await fieldList());
    const chosen = action === 'process' ? workflow : undefined;
    const unchanged = { hidden: new Map(), captions: [], pictures: [], metadata: undefined };
    try {
      const segments = segmentsOf(parts);
      await takeLock(database, held);
      await saveEvent(eventId, { ...unchanged, segments, workflow: chosen }, { principal, requestId }, services);
    } catch (error) {
      if (!(error instanceof HttpError) || error.status >= 500) throw error;
      // Going back would lose what was entered.
      const refused = { reason: error.message, parts };
      const page = editorPage({ event, lock: held.uuid, root: rootFrom(c), notice: undefined, refused });
      return c.html(page, error.status, EDITOR_PAGE_HEADERS);
    }
    if (chosen === undefined) return leadBack(c, eventId);
    return c.html(processingPage(event.title), 200, EDITOR_PAGE_HEADERS);
  },
});

/** Returns the parts of the form. */
function partsOf(fields: readonly (readonly [string, string])[]): EnteredPart[] {
  const valuesOf = (name: string) => fields.filter(([each]) => each === name).map(([, value]) => value.trim());
  const to = valuesOf('to');
  const parts = valuesOf('from').map((from, row) => ({ from, to: to[row] ?? '' }));
  return parts.filter(({ from, to }) => from !== '' || to !== '');
}

/** @throws {HttpError} 400 */
function segmentsOf(parts: readonly EnteredPart[]): Segment[] {
  if (parts.length === 0) throw badRequest('Enter at least one part to keep.');
  return parts.map(({ from, to }) => ({ start: parseClock(from), end: parseClock(to), deleted: false }));
}

function leadBack(c: Context, eventId: string): Response {
  const target = `${rootFrom(c)}editor-ui/index.html?id=${encodeURIComponent(eventId)}&saved=true`;
  return c.redirect(target, 303);
}

/** Serves the files of the configured editor, or those of the form. */
export const editorFile = defineEndpoint({
  method: 'get',
  path: `${EDITOR_PATH}/*`,
  access: EVERY_ACCOUNT,
  handle: ({ c }, { editor }: Pick<Services, 'editor'>) =>
    editor ? webAppAnswer(c, editorApp(editor)) : ASSETS.answer(c, c.req.path.replace(`${EDITOR_PATH}/`, '')),
});

/** Serves the settings of the editor where builds for Opencast look for them. */
export const editorSettings = defineEndpoint({
  method: 'get',
  path: SETTINGS_PATH,
  access: EVERY_ACCOUNT,
  handle: ({ c }, { editor }: Pick<Services, 'editor'>) => {
    if (!editor) throw notFound();
    return settingsAnswer(c, editorApp(editor));
  },
});
