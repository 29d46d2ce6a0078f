import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { created, post } from '../support/app-uploads.ts';
import { recording } from '../support/clips.ts';
import { sendForm } from '../support/event-writes.ts';
import { field, file } from '../support/form.ts';
import { processEvent } from '../support/process-event.ts';
import { newAgent, putScheduling, scheduledFields, update } from '../support/scheduling.ts';

const PAST = { start: '2024-05-06T08:00:00Z', duration: 5_400_000 };

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

const event = async (id: string) =>
  (await (await app.request(`/api/events/${id}`)).json()) as Record<string, unknown> & { duration: number };

test('a recording that is uploaded late ends SUCCEEDED with the duration of the media', async () => {
  const id = await created(await post(app, scheduledFields({ agent_id: newAgent(), ...PAST })));
  expect(await event(id)).toMatchObject({ processing_state: '', duration: 5_400_000 });
  const parts = [
    file('presenter', 'camera.mp4', await recording({ seconds: 2 })),
    file('presentation', 'slides.mp4', await recording({ seconds: 3, audio: false })),
  ];
  expect((await update(app, id, parts)).status).toBe(204);
  expect(await event(id)).toMatchObject({ processing_state: 'INSTANTIATED', duration: 5_400_000 });
  await processEvent(app, id);
  const processed = await event(id);
  expect(processed).toMatchObject({
    processing_state: 'SUCCEEDED',
    status: 'EVENTS.EVENTS.STATUS.PROCESSED',
    start: PAST.start,
    publication_status: ['engage-player'],
  });
  expect(processed.duration).toBeGreaterThan(2_900);
  expect(processed.duration).toBeLessThan(3_200);
  // When it was scheduled is remembered, and may be written back.
  const scheduling = await (await app.request(`/api/events/${id}/scheduling`)).json();
  expect(scheduling).toMatchObject({ start: PAST.start, end: '2024-05-06T09:30:00Z' });
  expect((await putScheduling(app, id, scheduling)).status).toBe(204);
  expect((await event(id)).duration).toBe(processed.duration);
});

test('a recording that comes as a track ends SUCCEEDED, too, with the captions that were there before', async () => {
  const id = await created(await post(app, scheduledFields({ agent_id: newAgent(), ...PAST })));
  const track = (flavor: string, content: Uint8Array) =>
    sendForm(app, `/api/events/${id}/track`, [field('flavor', flavor), file('track', 'file', content)]);
  await track('captions/source', Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n'));
  expect((await track('presenter/source', await recording({ seconds: 2 }))).status).toBe(200);
  await processEvent(app, id);
  const processed = await event(id);
  expect(processed).toMatchObject({ processing_state: 'SUCCEEDED', publication_status: ['engage-player'] });
  expect(processed.duration).toBeGreaterThan(1_900);
  expect(processed.duration).toBeLessThan(2_300);
  const publications = await (await app.request(`/api/events/${id}/publications`)).json();
  expect(publications).toMatchObject([
    { media: [{ flavor: 'presenter/delivery' }, { flavor: 'captions/delivery', mediatype: 'text/vtt' }] },
  ]);
});

test('a recording that is none ends FAILED, and may be replaced by another, which is processed', async () => {
  const id = await created(await post(app, scheduledFields({ agent_id: newAgent(), ...PAST })));
  expect((await update(app, id, [file('presenter', 'a.mp4', Buffer.from('no recording'))])).status).toBe(204);
  await processEvent(app, id).catch(() => undefined);
  expect(await event(id)).toMatchObject({
    processing_state: 'FAILED',
    status: 'EVENTS.EVENTS.STATUS.PROCESSING_FAILURE',
  });
  expect((await update(app, id, [file('presenter', 'b.mp4', await recording())])).status).toBe(204);
  await processEvent(app, id);
  expect(await event(id)).toMatchObject({ processing_state: 'SUCCEEDED' });
  expect((await update(app, id, [file('presenter', 'c.mp4', await recording())])).status).toBe(409);
});
