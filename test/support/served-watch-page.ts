import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Hono } from 'hono';
import type { Browser } from 'playwright-core';
import { serve } from '../../src/http/server/serve.ts';
import { forPlayersElsewhere, publishedFile } from '../../src/publications/files.endpoints.ts';
import { watchPage } from '../../src/publications/watch.endpoints.ts';
import { captions } from '../../workers/operations/captions.ts';
import { encode } from '../../workers/operations/encode.ts';
import { preview } from '../../workers/operations/preview.ts';
import { publish } from '../../workers/operations/publish.ts';
import { connectBrowser } from './chromium.ts';
import { type ClipOptions, clip, clipFolder } from './clips.ts';
import { endpointApp } from './endpoint-app.ts';
import { createOperationBench, type OperationBench } from './operation-context.ts';

/** Watch pages of real recordings, served to a real browser. */
export interface WatchPages {
  bench: OperationBench;
  browser: Browser;
  app: Hono;
  origin: string;
  /**
   * Takes clips through the real operations.
   *
   * @param clips by flavor
   * @param texts captions, WebVTT or SubRip, by language
   * @returns the path of the watch page
   */
  publish(clips: Record<string, ClipOptions>, texts?: Record<string, string>): Promise<string>;
  close(): Promise<void>;
}

export async function createWatchPages(): Promise<WatchPages> {
  const bench = await createOperationBench();
  const { database, storage } = bench;
  const addresses = { publicUrl: 'http://inlet.test' };
  const areas = [{ path: '/publications', layers: [forPlayersElsewhere()] }];
  const app = new Hono().route(
    '/',
    endpointApp([watchPage, publishedFile], { database, storage, addresses }, { areas }),
  );
  const server = await serve((request, env) => app.fetch(request, env), { host: '127.0.0.1', port: 0 });
  const browser = await connectBrowser();

  const addCaptions = async (eventId: string, position: number, language: string, text: string) => {
    const path = join(clipFolder(), `${eventId}-${language}.txt`);
    await writeFile(path, text);
    await bench.addTrack(eventId, position, 'captions/source', path);
    const track = database.updateTable('tracks').set({ tags: [`lang:${language}`] });
    await track.where('event_id', '=', eventId).where('position', '=', position).execute();
  };

  return {
    bench,
    browser,
    app,
    origin: `http://127.0.0.1:${server.port}`,
    async publish(clips, texts = {}) {
      const tracks: Record<string, string> = {};
      for (const [flavor, options] of Object.entries(clips)) tracks[flavor] = await clip(options);
      const eventId = await bench.addEvent(tracks);
      const first = Object.keys(tracks).length;
      for (const [i, [language, text]] of Object.entries(texts).entries()) {
        await addCaptions(eventId, first + i, language, text);
      }
      for (const operation of [encode, preview, captions, publish]) await bench.perform(operation, eventId);
      const { id } = await database
        .selectFrom('publications')
        .select('id')
        .where('event_id', '=', eventId)
        .executeTakeFirstOrThrow();
      return `/watch/${id}`;
    },
    async close() {
      await browser.close();
      server.destroy();
      await bench.close();
    },
  };
}
