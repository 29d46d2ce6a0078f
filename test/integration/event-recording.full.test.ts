import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { markMissedRecordings } from '#capture/reports/missed-recordings.ts';
import { ownApp, type TestApp, workerApp } from '../support/app.ts';
import { created, post } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { recording } from '../support/clips.ts';
import { sendForm } from '../support/event-writes.ts';
import { field, file } from '../support/form.ts';
import { processEvent } from '../support/process-event.ts';
import { insertScheduled } from '../support/scheduled-event.ts';
import { newAgent, putScheduling, scheduledFields, update } from '../support/scheduling.ts';
import { catalogOf } from '../support/series.ts';
import { FOR_AGES } from '../support/watched.ts';

const HOUR_MS = 3_600_000;

const track = (app: TestApp, id: string, flavor: string, content: Uint8Array) =>
  sendForm(app, `/api/events/${id}/track`, [field('flavor', flavor), file('track', 'file', content)]);

describe('the recording of a scheduled event, with real tools', async () => {
  const app = await workerApp();
  const PAST = { start: '2024-05-06T08:00:00Z', duration: 5_400_000 };
  const STATUS = 'EVENTS.EVENTS.STATUS.';
  const scheduled = async () => created(await post(app, scheduledFields({ agent_id: newAgent(), ...PAST })));
  const get = async (path: string) => (await app.request(`/api/events/${path}`)).json();
  const event = async (id: string) => (await get(id)) as Record<string, unknown> & { duration: number };
  const send = async (id: string, ...parts: Parameters<typeof update>[2]) => (await update(app, id, parts)).status;

  test('ends SUCCEEDED with the duration of the media, also when it is uploaded after it was missed', async () => {
    const id = await scheduled();
    expect(await event(id)).toMatchObject({ processing_state: '', duration: 5_400_000 });
    await markMissedRecordings(app.database, 0);
    expect(await event(id)).toMatchObject({ status: `${STATUS}RECORDING_FAILURE` });
    const parts = [
      file('presenter', 'camera.mp4', await recording({ seconds: 2 })),
      file('presentation', 'slides.mp4', await recording({ seconds: 3, audio: false })),
    ];
    expect(await send(id, ...parts)).toBe(204);
    expect(await event(id)).toMatchObject({ processing_state: 'INSTANTIATED', duration: 5_400_000 });
    await processEvent(app, id);
    await markMissedRecordings(app.database, 0);
    const processed = await event(id);
    expect(processed).toMatchObject({
      processing_state: 'SUCCEEDED',
      status: `${STATUS}PROCESSED`,
      start: PAST.start,
      publication_status: ['engage-player'],
    });
    expect(processed.duration).toBeGreaterThan(2_900);
    expect(processed.duration).toBeLessThan(3_200);
    // The schedule stays, and may be written back.
    const scheduling = await get(`${id}/scheduling`);
    expect(scheduling).toMatchObject({ start: PAST.start, end: '2024-05-06T09:30:00Z' });
    expect((await putScheduling(app, id, scheduling)).status).toBe(204);
    expect((await event(id)).duration).toBe(processed.duration);
  });

  test('ends SUCCEEDED when it comes as a track, with the captions that were there before', async () => {
    const id = await scheduled();
    const captions = Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n');
    await track(app, id, 'captions/source', captions);
    const answer = await track(app, id, 'presenter/source', await recording({ seconds: 2 }));
    expect(answer.status).toBe(200);
    await processEvent(app, id);
    const processed = await event(id);
    expect(processed).toMatchObject({ processing_state: 'SUCCEEDED', publication_status: ['engage-player'] });
    expect(processed.duration).toBeGreaterThan(1_900);
    expect(processed.duration).toBeLessThan(2_300);
    expect(await get(`${id}/publications`)).toMatchObject([
      {
        media: [
          { flavor: 'presenter/delivery', mediatype: 'video/mp4' },
          { flavor: 'presenter/delivery', mediatype: 'application/x-mpegURL' },
          { flavor: 'captions/delivery', mediatype: 'text/vtt' },
        ],
      },
    ]);
  });

  test('ends FAILED when it is none, and may be replaced by another, which is processed', async () => {
    const id = await scheduled();
    expect(await send(id, file('presenter', 'a.mp4', Buffer.from('no recording')))).toBe(204);
    await processEvent(app, id).catch(() => undefined);
    expect(await event(id)).toMatchObject({
      processing_state: 'FAILED',
      status: `${STATUS}PROCESSING_FAILURE`,
    });
    const clip = await recording();
    expect(await send(id, file('presenter', 'b.mp4', clip))).toBe(204);
    await processEvent(app, id);
    expect(await event(id)).toMatchObject({ processing_state: 'SUCCEEDED' });
    expect(await send(id, file('presenter', 'c.mp4', clip))).toBe(409);
  });
});

describe('many concurrent requests', async () => {
  const app = await ownApp();
  const AGENTS = [newAgent(), newAgent()];
  const EVENTS = 6;
  const ROUNDS = 12;
  const hour = (n: number) => new Date(Date.UTC(2024, 0, 7, n)).toISOString();
  const agent = (n: number) => AGENTS[n % AGENTS.length] ?? '';

  /** Every request and job that can change a scheduled event, in an order that differs with the turn. */
  function changes(id: string, turn: number): (() => Promise<{ status: number }>)[] {
    const place = { agent_id: agent(turn), start: hour(turn % 5), duration: HOUR_MS };
    const all = [
      () => putScheduling(app, id, place),
      () => putScheduling(app, id, { ...place, agent_id: agent(turn + 1) }, { allowConflict: 'true' }),
      () =>
        update(app, id, [
          field('metadata', catalogOf({ title: `Turn ${turn}` }, 'dublincore/episode')),
          field('processing', `{"workflow":"publish","configuration":{"turn":"${turn}"}}`),
          field('scheduling', JSON.stringify({ ...place, start: hour((turn + 2) % 5) })),
        ]),
      () => app.request(`/api/events/${id}/scheduling`),
      async () => {
        await markMissedRecordings(app.database, 0);
        return { status: 204 };
      },
      ...(turn === ROUNDS - 4
        ? [
            () => update(app, id, [file('presenter', 'a.mp4', bytes(1000))]),
            () => track(app, id, 'presenter/source', bytes(1000)),
          ]
        : []),
      ...(turn === ROUNDS - 1 && id.endsWith('1')
        ? [() => app.request(`/api/events/${id}`, { method: 'DELETE' })]
        : []),
    ];
    return [...all.slice(turn % all.length), ...all.slice(0, turn % all.length)];
  }

  test('to scheduled events never fail, and each event is recorded once', async () => {
    const ids = Array.from({ length: EVENTS }, (_, i) => `storm-${i}`);
    for (const [i, id] of ids.entries()) {
      const schedule = { agent_id: agent(i), start: hour(i + 10), end: hour(i + 11) };
      await insertScheduled(app.database, schedule, { id });
    }
    for (let turn = 0; turn < ROUNDS; turn += 1) {
      const answers = await Promise.all(ids.flatMap((id) => changes(id, turn).map((change) => change())));
      expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([]);
    }
    const { rows } = await sql<{ id: string; tracks: number; workflows: number }>`
      SELECT id, (SELECT count(*)::int FROM tracks WHERE event_id = events.id) AS tracks,
        (SELECT count(*)::int FROM workflows WHERE event_id = events.id) AS workflows
      FROM events ORDER BY id`.execute(app.database);
    const kept = ids.filter((id) => !id.endsWith('1'));
    expect(rows).toEqual(kept.map((id) => ({ id, tracks: 1, workflows: 1 })));
    const wrong = await sql`
      SELECT id FROM events JOIN schedules ON event_id = id
      WHERE (events.agent_id, technical_start, technical_end, events.recording_state) IS DISTINCT FROM
        (schedules.agent_id, schedules.start_date, schedules.end_date, schedules.recording_state)`.execute(
      app.database,
    );
    expect(wrong.rows).toEqual([]);
    await app.context.staging.sweep(FOR_AGES);
    expect(await Array.fromAsync(app.storage.list(''))).toHaveLength(kept.length);
  });
});
