import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Runtime } from '#cli/role.ts';
import { Client } from '../support/client.ts';
import { recording } from '../support/clips.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, file, type Part } from '../support/form.ts';
import { expectNoOrphans, expectNothingLeftOver } from '../support/leftovers.ts';
import { showLogsOnFailure, startServer, type TestServer } from '../support/server.ts';
import { available, SERVICES, type Services } from './services.ts';

/** Each uploads one recording after the other. */
const CLIENTS = 4;
const KILLS = 4;
const BETWEEN_KILLS_MS = 3_000;
const PROCESSED_MS = 200_000;
/** What a dead worker has staged is its own for a minute. */
const SWEPT_MS = 100_000;

/** A worker that is killed again and again must cost time and nothing else. */
export async function describeChaos(runtime: Runtime, services: Services): Promise<void> {
  const runs = await available(services);
  describe.skipIf(!runs)(`on ${runtime}, ${services}, with a worker that is killed every few seconds`, () => {
    let server: TestServer;
    let admin: Client;
    beforeAll(async () => {
      server = await startServer({ runtime, roles: ['api', 'worker'], ...SERVICES[services] });
      admin = new Client(server.url);
    });
    afterAll(() => server?.stop());
    beforeEach((test) => showLogsOnFailure(test, server));

    test('uploads end as they would have without', { timeout: 400_000 }, async () => {
      const parts = [
        ...eventFields(),
        file('presenter', 'a.mpg', await recording({ seconds: 4, container: 'mpg' })),
        // Published before the others are encoded.
        file('presentation', 'a.mp4', await recording({ seconds: 4 })),
        file('audio', 'a.mp3', await recording({ seconds: 4, container: 'mp3' })),
      ];
      const undisturbed = await admin.create(parts);
      expect((await admin.processed(undisturbed)).processing_state).toBe('SUCCEEDED');

      const [ids] = await Promise.all([uploadAll(admin, parts), killRepeatedly(server)]);

      const events = await Promise.all(ids.map((id) => admin.processed(id, PROCESSED_MS)));
      expect(events.map(({ processing_state }) => processing_state)).toEqual(ids.map(() => 'SUCCEEDED'));
      const expected = await results(server, undisturbed);
      expect(expected.filter((line) => line.startsWith('engage-player media'))).toEqual([
        'engage-player media presentation/delivery presentation.m3u8 application/x-mpegURL',
        'engage-player media presentation/delivery presentation.mp4 video/mp4',
        'engage-player media presenter-audio/delivery presenter-audio-64k.m4a audio/mp4',
        'engage-player media presenter-audio/delivery presenter-audio.m3u8 application/x-mpegURL',
        'engage-player media presenter-audio/delivery presenter-audio.m4a audio/mp4',
        'engage-player media presenter/delivery presenter.m3u8 application/x-mpegURL',
        'engage-player media presenter/delivery presenter.mp4 video/mp4',
      ]);
      for (const id of ids) expect(await results(server, id)).toEqual(expected);
      expect(await losses(server)).toBeGreaterThan(0);

      await expectNoOrphans(server, SWEPT_MS);
      await expectNothingLeftOver(server, { atOnce: true });
    });
  });
}

/** @returns the identifiers of the events */
async function uploadAll(admin: Client, parts: readonly Part[]): Promise<string[]> {
  const twice = async () => [await admin.create(parts), await admin.create(parts)];
  return (await Promise.all(Array.from({ length: CLIENTS }, twice))).flat();
}

/** Kills the worker every few seconds while it works on something, and starts another. */
async function killRepeatedly(server: TestServer): Promise<void> {
  const worker = server.process('worker');
  for (let kill = 0; kill < KILLS; kill += 1) {
    const said = worker.output.length;
    await pause(BETWEEN_KILLS_MS);
    await eventually(async () => expect(await isWorking(server)).toBe(true), 60_000);
    await worker.kill();
    worker.start();
    await eventually(() => expect(worker.output.slice(said)).toContain('the worker is ready'), 60_000);
  }
}

/** Whether an operation is in the hands of a worker that was alive a moment ago. */
async function isWorking({ database }: TestServer): Promise<boolean> {
  const running = await database
    .selectFrom('workflow_operations')
    .select('heartbeat_at')
    .where('state', '=', 'running')
    .execute();
  return running.some(({ heartbeat_at }) => Date.now() - Number(heartbeat_at) < BETWEEN_KILLS_MS);
}

/** What processing has made of an event, in lines that are the same for the same uploads. */
async function results({ database }: TestServer, eventId: string): Promise<string[]> {
  const rows = await database
    .selectFrom('publication_elements')
    .leftJoin('publications', 'publications.id', 'publication_id')
    .select(['channel', 'kind', 'flavor', 'filename', 'publication_elements.mediatype'])
    .where('publication_elements.event_id', '=', eventId)
    .execute();
  const tracks = await database
    .selectFrom('tracks')
    .select(['flavor', 'duration'])
    .where('event_id', '=', eventId)
    .execute();
  return [
    ...rows.map((row) => [row.channel, row.kind, row.flavor, row.filename, row.mediatype].join(' ')),
    ...tracks.map(({ flavor, duration }) => `track ${flavor} ${duration}`),
  ].sort();
}

/** How often a worker died with an operation in its hands. */
async function losses({ database }: TestServer): Promise<number> {
  const { total } = await database
    .selectFrom('workflow_operations')
    .select((eb) => eb.fn.sum<number>('losses').as('total'))
    .executeTakeFirstOrThrow();
  return total;
}
