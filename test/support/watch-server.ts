import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Hono } from 'hono';
import { countViewOfRecording } from '#pages/watch/count-view.endpoint.ts';
import { embedPage } from '#pages/watch/embed.endpoint.ts';
import { watchAsset, watchPage } from '#pages/watch/watch.endpoints.ts';
import { serve } from '#platform/http/server/serve.ts';
import { publicationCors, publishedFile } from '#publications/files.endpoints.ts';
import { captions } from '#workers/operations/captions.ts';
import { encode } from '#workers/operations/encode.ts';
import { preview } from '#workers/operations/preview.ts';
import { publish } from '#workers/operations/publish.ts';
import { type ClipOptions, clip, clipFolder } from './clips.ts';
import { endpointApp } from './endpoint-app.ts';
import { createOperationBench } from './operation-context.ts';

/** A server of watch pages, and the operations that fill it. */
export async function startWatchServer() {
  const bench = await createOperationBench();
  const services = {
    ...bench,
    config: { statistics: { isEnabled: true, timeZone: 'UTC' } },
    addresses: { publicUrl: 'http://inlet.test', access: 'link' } as const,
  };
  const app = new Hono().route(
    '/',
    endpointApp([watchPage, watchAsset, embedPage, countViewOfRecording, publishedFile], services, {
      areas: [{ path: '/publications', layers: [publicationCors()] }],
    }),
  );
  const server = await serve((request, env) => app.fetch(request, env), { host: '127.0.0.1', port: 0 });
  return {
    bench,
    services,
    app,
    origin: `http://127.0.0.1:${server.port}`,
    /**
     * Takes clips through the real operations.
     *
     * @param clips by flavor
     * @param texts WebVTT or SubRip: captions by language, other files by flavor
     * @returns the path of the watch page
     */
    async published(clips: Record<string, ClipOptions>, texts: Record<string, string> = {}): Promise<string> {
      const tracks: Record<string, string> = {};
      for (const [flavor, options] of Object.entries(clips)) tracks[flavor] = await clip(options);
      const eventId = await bench.addEvent(tracks);
      let position = Object.keys(tracks).length;
      for (const [name, text] of Object.entries(texts)) {
        const path = join(clipFolder(), `${eventId}-${position}.txt`);
        await writeFile(path, text);
        const isFlavor = name.includes('/');
        await bench.addTrack(eventId, position, isFlavor ? name : 'captions/source', path);
        const track = bench.database.updateTable('tracks').set({ tags: isFlavor ? [] : [`lang:${name}`] });
        await track.where('event_id', '=', eventId).where('position', '=', position).execute();
        position += 1;
      }
      for (const operation of [encode, preview, captions, publish]) await bench.perform(operation, eventId);
      const publication = bench.database.selectFrom('publications').select('id');
      return `/watch/${(await publication.where('event_id', '=', eventId).executeTakeFirstOrThrow()).id}`;
    },
    async close() {
      server.destroy();
      await bench.close();
    },
  };
}
