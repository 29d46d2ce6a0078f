import { Hono } from 'hono';
import { requireAccess } from '../access/acl.queries.ts';
import type { Config } from '../config.ts';
import type { Database } from '../database/kysely.ts';
import { badRequest, HttpError, notFound } from '../http/errors.ts';
import { type FilePart, isMultipart, readForm, recordingForm } from '../http/multipart.ts';
import type { CatalogSet } from '../metadata/catalogs.ts';
import { UnknownField } from '../metadata/refusals.ts';
import { parseEventParts } from './event-parts.ts';
import { updateEvent } from './update-event.ts';

export interface UpdateDependencies {
  config: Pick<Config, 'maxUploadBytes' | 'uploadIdleMs'>;
  database: Database;
  catalogs: CatalogSet;
}

/** `POST /api/events/{id}`: metadata and ACL of an event, in one multipart form. Files in it are read and dropped. */
export function eventUpdateRoutes({ config, database, catalogs }: UpdateDependencies): Hono {
  const limits = recordingForm(config);
  return new Hono({ strict: false }).post('/api/events/:id', async (c) => {
    const { principal, version } = c.var;
    const id = c.req.param('id');
    try {
      // Before the body is read: a refusal then costs the client nothing.
      await requireAccess(database, 'events', principal, id, 'write');
      if (!isMultipart(c.req.header('Content-Type') ?? '')) throw badRequest('No multipart content');
      const fields = await readForm(c.req.raw, limits, drop);
      const parts = parseEventParts(fields, { catalogs, version, purpose: 'update' });
      await updateEvent(id, parts, { database, catalogs, principal });
    } catch (error) {
      if (error instanceof UnknownField) throw notFound(`Cannot find an event with id '${id}'.`);
      if (error instanceof HttpError && error.status === 401) throw new HttpError(401, '');
      throw error;
    }
    return c.body(null, 204);
  });
}

async function drop({ stream }: FilePart): Promise<void> {
  for await (const _ of stream);
}
