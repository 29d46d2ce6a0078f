import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { discardUpload } from '#ingest/tus/tus-uploads.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { counts, created, post } from '../support/app-uploads.ts';
import { bytes, readAll, sha256 } from '../support/bytes.ts';
import { EventBench } from '../support/event-bench.ts';
import { eventFields, field, file, type Part } from '../support/form.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';
import { newAgent, scheduledFields, update } from '../support/scheduling.ts';
import { append, begin, stateOf, tus, uploadOf } from '../support/tus.ts';

const bench = EventBench.forThisFile();
const CAMERA = bytes(200_000);
const SLIDES = bytes(3_000, 2);

/** What a client writes into the part `uploads`. */
const uploads = (value: unknown) => field('uploads', typeof value === 'string' ? value : JSON.stringify(value));
const presenter = (id: string) => uploads([{ id, field: 'presenter' }]);
const metadata = (id: string, value: string) =>
  field('metadata', JSON.stringify([{ flavor: 'dublincore/episode', fields: [{ id, value }] }]));
const slides = () => file('presentation', 'slides.mp4', SLIDES);

const seen = async (answer: Response) => ({ status: answer.status, text: await answer.text() });
const create = async (parts: readonly Part[], headers: Record<string, string> = {}) =>
  seen(await post(bench.app, [...eventFields(), ...parts], headers));
const change = async (id: string, parts: readonly Part[], headers: Record<string, string> = {}) =>
  seen(await update(bench.app, id, parts, headers));
const make = (options: Parameters<typeof uploadOf>[2] = {}, content: Uint8Array = CAMERA) =>
  uploadOf(bench.app, content, options);
const tracks = (id: string) => bench.tracks(id);
const usedBy = async (id: string) => {
  const row = bench.app.database.selectFrom('uploads').select('event_id').where('id', '=', id);
  return (await row.executeTakeFirst())?.event_id;
};
const schedule = async () => {
  const scheduling = { agent_id: newAgent(), start: '2024-05-06T08:00:00Z', duration: 1000 };
  return created(await post(bench.app, scheduledFields(scheduling)));
};

/** After a refusal a proper request can have the upload. */
async function expectUsable(id: string, headers: Record<string, string> = {}): Promise<void> {
  const answer = await create([presenter(id)], headers);
  expect(answer.status, answer.text).toBe(201);
}

/** Expects that a new event is refused for its uploads, and that nothing of it stays. */
async function expectRefused(parts: readonly Part[], status: number, text: unknown): Promise<void> {
  const before = await counts(bench.app);
  expect(await create(parts)).toEqual({ status, text });
  expect(await counts(bench.app)).toEqual(before);
}

beforeEach(async () => {
  const { database, context } = bench.app;
  // What the test before has left.
  for (const { id } of await database.selectFrom('uploads').select('id').execute())
    await inTransaction(database, (trx) => discardUpload(trx, id));
  await context.staging.sweep(undefined);
});

describe('uploads of POST /api/events', () => {
  test('become tracks after those in parts with files, each as its field or flavor says', async () => {
    const first = await make({ metadata: { filename: 'Vorlesung ü.mp4' }, chunk: 70_000 });
    const second = await make({ metadata: { filename: 'board.mkv', flavor: 'presenter/source' } }, SLIDES);
    const named = [
      { id: second, flavor: 'blackboard/source' },
      { id: first, field: 'presenter' },
    ];
    const id = await created(await post(bench.app, [uploads(named), ...eventFields(), slides()]));
    const [board, camera] = [
      { flavor: 'blackboard/source', filename: 'board.mkv', sha256: sha256(SLIDES) },
      { flavor: 'presenter/source', filename: 'Vorlesung ü.mp4', sha256: sha256(CAMERA) },
    ];
    expect(await tracks(id)).toMatchObject([
      { position: 0, flavor: 'presentation/source', filename: 'slides.mp4', sha256: sha256(SLIDES) },
      { position: 1, ...board },
      { position: 2, ...camera, size: CAMERA.length },
    ]);
    const object = await bench.app.storage.get((await tracks(id))[2]?.object_key ?? '');
    expect(sha256(await readAll(object))).toBe(sha256(CAMERA));
    expect(await bench.read(`/api/events/${id}`)).toMatchObject({ processing_state: 'INSTANTIATED' });
    expect(await usedBy(first)).toBe(id);
    expect((await counts(bench.app)).staged).toBe(0);
    await expectNothingLeftOver(bench.app);
  });

  test('have the flavor that was said when they were begun, unless the form says another', async () => {
    const begun = () => make({ metadata: { flavor: 'presentation/source' } }, SLIDES);
    const named = [
      { id: await begun() },
      { id: await begun(), field: 'audio' },
      { id: await begun(), flavor: 'presenter/backup' },
    ];
    const id = await created(await post(bench.app, [...eventFields(), uploads(named)]));
    const flavors = ['presentation/source', 'presenter-audio/source', 'presenter/backup'];
    expect((await tracks(id)).map(({ flavor }) => flavor)).toEqual(flavors);
  });

  test('without any flavor are refused', async () => {
    const id = await make();
    await expectRefused([uploads([{ id }])], 400, expect.stringMatching(/'field' .* or a 'flavor'/));
    await expectUsable(id);
  });

  test('may be the recording of an event that is scheduled by the same request', async () => {
    const id = await make();
    const scheduling = { agent_id: newAgent(), start: '2024-05-06T08:00:00Z', duration: 1000 };
    const event = await created(await post(bench.app, [...scheduledFields(scheduling), presenter(id)]));
    expect(await bench.read(`/api/events/${event}`)).toMatchObject({ processing_state: 'INSTANTIATED' });
  });

  test('for several events by a rule are refused like files', async () => {
    const id = await make();
    const period = { start: '2030-01-07T09:00:00Z', end: '2030-01-14T09:00:00Z', duration: 1000 };
    const rrule = 'FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0';
    const fields = scheduledFields({ agent_id: newAgent(), ...period, rrule });
    const answer = await seen(await post(bench.app, [...fields, presenter(id)]));
    expect(answer.status).toBe(400);
    expect(await seen(await post(bench.app, [...fields, slides()]))).toEqual(answer);
    await expectUsable(id);
  });

  test('are none in an empty part, and refused by name in one that is none', async () => {
    expect((await create([uploads('')])).status).toBe(201);
    const sentence = expect.stringMatching(/^The part 'uploads' cannot be read: .{10,200}\.$/);
    await expectRefused([uploads('[{"id":'), slides()], 400, sentence);
    const event = await bench.scheduled();
    expect(await change(event, [uploads('[{"id":')])).toEqual({ status: 400, text: sentence });
  });

  test('made as another user belong to that one', async () => {
    await bench.app.account('teacher', 'ROLE_API_EVENTS_CREATE');
    const asTeacher = { 'X-RUN-AS-USER': 'teacher' };
    const id = await make({ headers: asTeacher });
    const owners = bench.app.database.selectFrom('uploads').select(['id', 'owner']);
    expect(await owners.execute()).toEqual([{ id, owner: 'teacher' }]);
    await expectUsable(id, asTeacher);
  });
});

describe('uploads that cannot be had', () => {
  test('of another account are unknown to everybody but administrators', async () => {
    const id = await make({ headers: bench.writer });
    const other = await create([presenter(id)], bench.stranger);
    const unknown = 'x'.repeat(32);
    const none = await create([presenter(unknown)], bench.stranger);
    expect(other).toEqual({ status: 404, text: none.text.replace(unknown, id) });
    expect(none.status).toBe(404);
    expect(await usedBy(id)).toBeNull();
    await expectUsable(id, bench.writer);
    await expectUsable(await make({ headers: bench.writer }));
  });

  test('that are unfinished say how far they are, and can be finished and used then', async () => {
    const id = await make({ until: 50_000 });
    const text = `The upload '${id}' is not finished: 50000 of 200000 bytes were received.`;
    await expectRefused([presenter(id), slides()], 400, text);
    expect((await append(bench.app, id, 50_000, CAMERA.subarray(50_000))).status).toBe(204);
    await expectUsable(id);
  });

  test('of a length that nobody knows yet are unfinished, too', async () => {
    const id = await begin(bench.app, undefined, { headers: { 'Upload-Defer-Length': '1' } });
    expect((await append(bench.app, id, 0, SLIDES)).status).toBe(204);
    await expectRefused([presenter(id)], 400, expect.stringContaining('unknown number'));
  });

  test('without a byte are refused', async () => {
    const id = await begin(bench.app, 0);
    await expectRefused([presenter(id)], 400, `The upload '${id}' is empty.`);
  });

  test('that have expired are gone', async () => {
    const id = await make();
    const expired = bench.app.database.updateTable('uploads').set({ expires_at: new Date(0) });
    await expired.where('id', '=', id).execute();
    expect((await create([presenter(id)])).status).toBe(404);
    expect((await stateOf(bench.app, id)).status).toBe(404);
  });

  test('that an event has are not had by another', async () => {
    const [used, free] = [await make(), await make()];
    await expectUsable(used);
    const both = [free, used].map((id) => ({ id, field: 'presenter' }));
    await expectRefused([uploads(both)], 409, `The upload '${used}' is already part of an event.`);
    await expectUsable(free);
  });

  test('are had by exactly one of several requests at the same moment', async () => {
    const ids = [await make(), await make(), await make()];
    const parts = (turn: number) => {
      const order = [...ids.slice(turn), ...ids.slice(0, turn)];
      return [uploads(order.map((id) => ({ id, field: 'presenter' })))];
    };
    const answers = await Promise.all([0, 1, 2, 0, 1, 2].map((turn) => create(parts(turn))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    await expectNothingLeftOver(bench.app);
  });

  test('stay usable when the event is refused for something else', async () => {
    const id = await make();
    const nowhere = eventFields({ metadata: { isPartOf: 'no-such-series' } });
    expect((await post(bench.app, [...nowhere, presenter(id), slides()])).status).toBe(400);
    const named = eventFields({ metadata: { identifier: randomUUID() } });
    expect((await post(bench.app, named)).status).toBe(201);
    expect((await post(bench.app, [...named, presenter(id)])).status).toBe(409);
    await expectUsable(id);
  });
});

describe('uploads of POST /api/events/{id}', () => {
  test('are the recording that an event awaits, and start the workflow stored with it', async () => {
    const event = await schedule();
    const first = await make();
    const second = await make({ metadata: { flavor: 'presentation/source' } }, SLIDES);
    const sent = uploads([{ id: first, field: 'presenter' }, { id: second }]);
    const answer = await change(event, [sent, file('audio', 'voice.mp3', SLIDES)]);
    expect(answer).toEqual({ status: 204, text: '' });
    expect((await tracks(event)).map(({ flavor, size }) => [flavor, size])).toEqual([
      ['presenter-audio/source', SLIDES.length],
      ['presenter/source', CAMERA.length],
      ['presentation/source', SLIDES.length],
    ]);
    expect(await bench.read(`/api/events/${event}`)).toMatchObject({ processing_state: 'INSTANTIATED' });
    expect([await usedBy(first), await usedBy(second)]).toEqual([event, event]);
    await expectNothingLeftOver(bench.app);
  });

  test.each([
    ['was never scheduled', false, 'awaits no recording; the uploads were not used'],
    ['has its recording', true, 'has already arrived'],
  ])('for an event that %s are refused', async (_, scheduled, reason) => {
    const event = scheduled ? await bench.scheduled() : await bench.event();
    if (scheduled) expect((await change(event, [slides()])).status).toBe(204);
    const id = await make();
    const before = await tracks(event);
    const answer = await change(event, [metadata('title', 'changed'), presenter(id)]);
    expect(answer).toMatchObject({ status: 409, text: expect.stringContaining(reason) });
    expect(await bench.read(`/api/events/${event}`)).not.toMatchObject({ title: 'changed' });
    expect(await tracks(event)).toEqual(before);
    expect(await usedBy(id)).toBeNull();
    await expectUsable(id);
  });

  test('for an event that one may not write, or that does not exist, get the answer that files get', async () => {
    const event = await bench.scheduled();
    for (const [target, account, status] of [
      [event, bench.reader, 401],
      [event, bench.stranger, 404],
      [randomUUID(), bench.writer, 404],
    ] as const) {
      const id = await make({ headers: account });
      const likewise = await change(target, [slides()], account);
      expect(await change(target, [presenter(id)], account)).toEqual(likewise);
      expect(likewise.status).toBe(status);
      await expectUsable(id, account);
    }
    expect(await tracks(event)).toEqual([]);
  });

  const bothOf = (...ids: string[]) => uploads(ids.map((id) => ({ id, flavor: 'a/b' })));
  test.each<[string, (id: string) => Part[]]>([
    ['an upload that does not exist', (id) => [bothOf(id, 'none')]],
    ['a series that does not exist', (id) => [presenter(id), metadata('isPartOf', 'none')]],
    ['an empty file beside it', (id) => [presenter(id), file('audio', 'a.mp3', Buffer.alloc(0))]],
  ])('refused for %s leave the event waiting and the upload usable', async (_, parts) => {
    const event = await bench.scheduled();
    const id = await make();
    expect([400, 404]).toContain((await change(event, parts(id))).status);
    expect(await tracks(event)).toEqual([]);
    expect((await change(event, [presenter(id)])).status).toBe(204);
  });

  test('of two requests at the same moment, for one event or for two, are taken once', async () => {
    const [one, ...two] = [await bench.scheduled(), await bench.scheduled(), await bench.scheduled()];
    for (const events of [[one, one], two]) {
      const id = await make();
      const answers = await Promise.all(events.map((event = '') => change(event, [presenter(id)])));
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 409]);
      const all = await Promise.all([...new Set(events)].map((event = '') => tracks(event)));
      expect(all.flat()).toHaveLength(1);
    }
    await expectNothingLeftOver(bench.app);
  });
});

describe('an idempotency key', () => {
  test('gets the first answer again although the upload is used', async () => {
    const id = await make();
    const key = { 'Idempotency-Key': randomUUID() };
    const first = await create([presenter(id)], key);
    expect(first.status).toBe(201);
    const before = await counts(bench.app);
    expect(await create([presenter(id)], key)).toEqual(first);
    expect(await counts(bench.app)).toEqual(before);
    expect((await create([presenter(id)], { 'Idempotency-Key': randomUUID() })).status).toBe(409);
  });

  test('belongs to these uploads and no others', async () => {
    const [id, other] = [await make(), await make()];
    const key = { 'Idempotency-Key': randomUUID() };
    expect((await create([presenter(id)], key)).status).toBe(201);
    for (const parts of [[presenter(other)], [uploads([{ id, field: 'audio' }])], []])
      expect((await create(parts, key)).status).toBe(422);
    await expectUsable(other);
  });
});

describe('an upload that an event has', () => {
  let id: string;
  let event: string;
  beforeEach(async () => {
    id = await make();
    event = await created(await post(bench.app, [...eventFields(), presenter(id)]));
  });

  /** The event's recording is all there. */
  async function expectWhole(): Promise<void> {
    await bench.app.context.staging.sweep(undefined);
    const [track] = await tracks(event);
    expect(sha256(await readAll(await bench.app.storage.get(track?.object_key ?? '')))).toBe(sha256(CAMERA));
    await expectNothingLeftOver(bench.app);
  }

  test('can be asked how far it is, and takes no more bytes', async () => {
    const whole = { status: 200, offset: CAMERA.length, length: CAMERA.length };
    expect(await stateOf(bench.app, id)).toEqual(whole);
    expect((await append(bench.app, id, CAMERA.length, SLIDES)).status).toBe(413);
    expect((await append(bench.app, id, 0, SLIDES)).status).toBe(409);
    expect((await append(bench.app, id, CAMERA.length, Buffer.alloc(0))).status).toBe(204);
    await expectWhole();
  });

  test('can be given up, and the event keeps the recording', async () => {
    expect((await tus(bench.app, 'DELETE', `/uploads/${id}`)).status).toBe(204);
    expect((await stateOf(bench.app, id)).status).toBe(404);
    expect((await create([presenter(id)])).status).toBe(404);
    await expectWhole();
  });

  test('does not come back when the event is deleted', async () => {
    const answer = await bench.app.request(`/api/events/${event}`, { method: 'DELETE' });
    expect([202, 204]).toContain(answer.status);
    expect((await create([presenter(id)])).status).toBe(409);
  });
});
