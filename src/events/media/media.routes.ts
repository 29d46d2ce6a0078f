import { Hono } from 'hono';
import { requireAccess } from '../../access/acl.queries.ts';
import type { Database } from '../../database/kysely.ts';
import { isUuid } from '../../database/uuid.ts';
import { notFound } from '../../http/errors.ts';
import { versionedJson } from '../../http/version.ts';
import { serveFile } from '../../publications/index.ts';
import type { ObjectStorage } from '../../storage/port.ts';
import { trackJson } from './json.ts';

/** `/api/events/{id}/media`: the tracks clients sent, and the bytes of each. */
export function eventMediaRoutes({
  publicUrl,
  database,
  storage,
}: {
  publicUrl: string;
  database: Database;
  storage: ObjectStorage;
}): Hono {
  const app = new Hono({ strict: false });

  app.get('/api/events/:id/media', async (c) => {
    const { principal, version } = c.var;
    const id = c.req.param('id');
    await requireAccess(database, 'events', principal, id, 'read');
    const tracks = await database
      .selectFrom('tracks')
      .selectAll()
      .where('event_id', '=', id)
      .orderBy('position')
      .execute();
    return versionedJson(
      c,
      tracks.map((track) => trackJson(track, { publicUrl, version })),
    );
  });

  app.get('/api/events/:id/media/:trackId', async (c) => {
    const { id, trackId } = c.req.param();
    await requireAccess(database, 'events', c.var.principal, id, 'read');
    const missing = notFound(`Unable to find track with id '${trackId}' in event with id '${id}'`);
    if (!isUuid(trackId)) throw missing;
    const track = await database
      .selectFrom('tracks')
      .select(['object_key', 'filename', 'mediatype', 'size', 'sha256'])
      .where('id', '=', trackId)
      .where('event_id', '=', id)
      .executeTakeFirst();
    const served =
      track &&
      (await serveFile(c, storage, track, {
        'Content-Disposition': attachment(track.filename),
        'Cache-Control': 'private, no-cache',
        Vary: 'Authorization',
      }));
    if (!served) throw missing;
    return served;
  });

  return app;
}

/** For saving under the name that the client gave the file, whatever characters it has. */
function attachment(filename: string): string {
  const encoded = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename*=UTF-8''${encoded}`;
}
