import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { inTransaction } from '../../src/database/retry.ts';
import { expireUploads } from '../../src/ingest/uploads/expire.ts';
import { discardUpload } from '../../src/ingest/uploads/uploads.ts';
import { counts, created, post } from '../support/app-uploads.ts';
import { bytes, readAll, sha256 } from '../support/bytes.ts';
import { EventBench } from '../support/event-bench.ts';
import { eventFields, field, file, type Part } from '../support/form.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';
import { newAgent, scheduledFields, update } from '../support/scheduling.ts';
import { append, begin, stateOf, tus, uploadOf } from '../support/tus.ts';

const bench = EventBench.forThisFile();
const TITLE = '[{"flavor":"dublincore/episode","fields":[{"id":"title","value":"changed"}]}]';
const CAMERA = bytes(200_000);
const SLIDES = bytes(3_000, 2);

/** What a client writes into the part `uploads`. */
const uploads = (value: unknown) =>
  field('uploads', typeof value === 'string' ? value : JSON.stringify(value));
const presenter = (id: string) => uploads([{ id, field: 'presenter' }]);

const create = async (parts: readonly Part[], headers: Record<string, string> = {}) => {
  const answer = await post(bench.app, [...eventFields(), ...parts], headers);
  return { status: answer.status, text: await answer.text() };
};
const change = async (id: string, parts: readonly Part[], headers: Record<string, string> = {}) => {
  const answer = await update(bench.app, id, parts, headers);
  return { status: answer.status, text: await answer.text() };
};
const make = (options: Parameters<typeof uploadOf>[2] = {}, content: Uint8Array = CAMERA) =>
  uploadOf(bench.app, content, options);
const tracks = (id: string) => bench.tracks(id);
const usedBy = async (id: string) =>
  (await bench.app.database.selectFrom('uploads').select('event_id').where('id', '=', id).executeTakeFirst())
    ?.event_id;
const expire = (id: string) =>
  bench.app.database
    .updateTable('uploads')
    .set({ expires_at: new Date(0) })
    .where('id', '=', id)
    .execute();

/** Whatever was refused, a proper request can have the upload afterwards. */
async function expectUsable(id: string, headers: Record<string, string> = {}): Promise<void> {
  const answer = await create([presenter(id)], headers);
  expect(answer.status, answer.text).toBe(201);
}

beforeEach(async () => {
  const { database, context } = bench.app;
  // What the test before has left.
  for (const { id } of await database.selectFrom('uploads').select('id').execute()) {
    await inTransaction(database, (trx) => discardUpload(trx, id));
  }
  await context.staging.sweep(undefined);
});

describe('uploads of POST /api/events', () => {
  test('become tracks after those in parts with files, each as its field or flavor says', async () => {
    const first = await make({ metadata: { filename: 'Vorlesung ü.mp4' }, chunk: 70_000 });
    const second = await make({ metadata: { filename: 'board.mkv', flavor: 'presenter/source' } }, SLIDES);
    const answer = await post(bench.app, [
      uploads([
        { id: second, flavor: 'blackboard/source' },
        { id: first, field: 'presenter' },
      ]),
      ...eventFields(),
      file('presentation', 'slides.mp4', SLIDES),
    ]);
    const id = await created(answer);
    expect(await tracks(id)).toMatchObject([
      { position: 0, flavor: 'presentation/source', filename: 'slides.mp4', sha256: sha256(SLIDES) },
      { position: 1, flavor: 'blackboard/source', filename: 'board.mkv', sha256: sha256(SLIDES) },
      {
        position: 2,
        flavor: 'presenter/source',
        filename: 'Vorlesung ü.mp4',
        size: CAMERA.length,
        sha256: sha256(CAMERA),
      },
    ]);
    const [, , camera] = await tracks(id);
    const object = await bench.app.storage.get(camera?.object_key ?? '');
    expect(sha256(await readAll(object))).toBe(sha256(CAMERA));
    expect(await bench.read(`/api/events/${id}`)).toMatchObject({ processing_state: 'INSTANTIATED' });
    expect(await usedBy(first)).toBe(id);
    expect((await counts(bench.app)).staged).toBe(0);
    await expectNothingLeftOver(bench.app);
  });

  test('have the flavor that was said when they were begun, unless the form says another', async () => {
    const metadata = { flavor: 'presentation/source' };
    const [plain, field, flavor] = [
      await make({ metadata }),
      await make({ metadata }),
      await make({ metadata }),
    ];
    const sent = [{ id: plain }, { id: field, field: 'audio' }, { id: flavor, flavor: 'presenter/backup' }];
    const id = await created(await post(bench.app, [...eventFields(), uploads(sent)]));
    expect((await tracks(id)).map((track) => track.flavor)).toEqual([
      'presentation/source',
      'presenter-audio/source',
      'presenter/backup',
    ]);
  });

  test('without any flavor are refused', async () => {
    const id = await make();
    const answer = await create([uploads([{ id }])]);
    expect(answer.status).toBe(400);
    expect(answer.text).toMatch(/'field' .* or a 'flavor'/);
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
    const scheduling = {
      agent_id: newAgent(),
      start: '2030-01-07T09:00:00Z',
      end: '2030-01-14T09:00:00Z',
      duration: 1000,
      rrule: 'FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0',
    };
    const parts = (bytes: Part) => [...scheduledFields(scheduling), bytes];
    const answer = await post(bench.app, parts(presenter(id)));
    const likewise = await post(bench.app, parts(file('presenter', 'a.mp4', SLIDES)));
    expect([answer.status, await answer.text()]).toEqual([400, await likewise.text()]);
    await expectUsable(id);
  });

  test.each([
    ['an empty part', ''],
    ['a blank part', '  '],
    ['an empty list', '[]'],
  ])('are none in %s', async (_, text) => {
    expect((await create([uploads(text)])).status).toBe(201);
  });
});

test('an upload made as somebody else is theirs', async () => {
  await bench.app.account('teacher', 'ROLE_API_EVENTS_CREATE');
  const asTeacher = { 'X-RUN-AS-USER': 'teacher' };
  const id = await make({ headers: asTeacher });
  expect(await bench.app.database.selectFrom('uploads').select(['id', 'owner']).execute()).toEqual([
    { id, owner: 'teacher' },
  ]);
  await expectUsable(id, asTeacher);
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
    const before = await counts(bench.app);
    const answer = await create([presenter(id), file('presentation', 'a.mp4', SLIDES)]);
    expect(answer).toEqual({
      status: 400,
      text: `The upload '${id}' is not finished: 50000 of 200000 bytes have come.`,
    });
    expect(await counts(bench.app)).toEqual(before);
    expect((await append(bench.app, id, 50_000, CAMERA.subarray(50_000))).status).toBe(204);
    await expectUsable(id);
  });

  test('of a length that nobody knows yet are unfinished, too', async () => {
    const id = await begin(bench.app, undefined, { headers: { 'Upload-Defer-Length': '1' } });
    expect((await append(bench.app, id, 0, SLIDES)).status).toBe(204);
    expect(await create([presenter(id)])).toMatchObject({
      status: 400,
      text: expect.stringContaining('unknown number'),
    });
  });

  test('without a byte are refused', async () => {
    const id = await begin(bench.app, 0);
    expect(await create([presenter(id)])).toEqual({ status: 400, text: `The upload '${id}' is empty.` });
  });

  test('that have expired are gone', async () => {
    const id = await make();
    await expire(id);
    expect((await create([presenter(id)])).status).toBe(404);
    expect((await stateOf(bench.app, id)).status).toBe(404);
  });

  test('that an event has are not had by another', async () => {
    const [used, free] = [await make(), await make()];
    await expectUsable(used);
    const before = await counts(bench.app);
    const both = [
      { id: free, field: 'presenter' },
      { id: used, field: 'presentation' },
    ];
    expect(await create([uploads(both)])).toEqual({
      status: 409,
      text: `The upload '${used}' is part of an event already.`,
    });
    expect(await counts(bench.app)).toEqual(before);
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
    const parts = [
      ...eventFields({ metadata: { isPartOf: 'no-such-series' } }),
      presenter(id),
      file('presentation', 'a.mp4', SLIDES),
    ];
    expect((await post(bench.app, parts)).status).toBe(400);
    const taken = randomUUID();
    const named = eventFields({ metadata: { identifier: taken } });
    expect((await post(bench.app, named)).status).toBe(201);
    expect((await post(bench.app, [...named, presenter(id)])).status).toBe(409);
    await expectUsable(id);
  });
});

describe('a part uploads that is none', () => {
  const id = 'x'.repeat(32);
  const many = Array.from({ length: 11 }, (_, i) => ({ id: `upload-${i}`, field: 'presenter' }));
  test.each<[string, unknown]>([
    ['text', 'presenter'],
    ['broken JSON', '[{"id":'],
    ['null', null],
    ['a number', 1],
    ['an object', { id, field: 'presenter' }],
    ['a list of names', [id]],
    ['a list with nothing', [null]],
    ['no id', [{ field: 'presenter' }]],
    ['an id that is a number', [{ id: 7, field: 'presenter' }]],
    ['an empty id', [{ id: '', field: 'presenter' }]],
    ['an address in place of the id', [{ id: `http://inlet.test/uploads/${id}`, field: 'presenter' }]],
    ['an id with a NUL', [{ id: 'a\0b', field: 'presenter' }]],
    ['an id with half a surrogate pair', '[{"id":"\\ud800","field":"presenter"}]'],
    ['an id of a megabyte', [{ id: 'x'.repeat(1_000_000), field: 'presenter' }]],
    ['an unknown field', [{ id, field: 'track' }]],
    ['a field that every object has', [{ id, field: 'constructor' }]],
    ['a field that is no text', [{ id, field: ['presenter'] }]],
    ['a flavor without a slash', [{ id, flavor: 'presenter' }]],
    ['a flavor with a NUL', [{ id, flavor: 'presenter/a\0b' }]],
    ['a flavor that is too long', [{ id, flavor: `${'x'.repeat(200)}/source` }]],
    ['a field and a flavor', [{ id, field: 'presenter', flavor: 'a/b' }]],
    ['one upload twice', [id, id].map((same) => ({ id: same, field: 'presenter' }))],
    ['too many uploads', many],
    ['something very deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ])('is refused by name: %s', async (_, value) => {
    const before = await counts(bench.app);
    const answer = await create([uploads(value), file('presenter', 'a.mp4', SLIDES)]);
    expect(answer.status).toBe(400);
    expect(answer.text).toMatch(/^The part 'uploads' cannot be read: .{10,200}\.$/);
    const event = await bench.scheduled();
    expect(await change(event, [uploads(value)])).toEqual(answer);
    expect(await counts(bench.app)).toEqual({ ...before, events: before.events + 1 });
  });
});

describe('uploads of POST /api/events/{id}', () => {
  test('are the recording that an event awaits, and start the workflow stored with it', async () => {
    const scheduling = { agent_id: newAgent(), start: '2024-05-06T08:00:00Z', duration: 1000 };
    const event = await created(await post(bench.app, scheduledFields(scheduling)));
    const [first, second] = [
      await make(),
      await make({ metadata: { flavor: 'presentation/source' } }, SLIDES),
    ];
    const sent = uploads([{ id: first, field: 'presenter' }, { id: second }]);
    expect(await change(event, [sent, file('audio', 'voice.mp3', SLIDES)])).toEqual({
      status: 204,
      text: '',
    });
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
    ['was never scheduled', () => bench.event(), 'awaits no recording; its uploads are left as they are'],
    [
      'has its recording',
      async () => {
        const event = await bench.scheduled();
        expect((await change(event, [file('presenter', 'a.mp4', CAMERA)])).status).toBe(204);
        return event;
      },
      'has come already',
    ],
  ])('for an event that %s are refused', async (_, open, reason) => {
    const id = await make();
    const event = await open();
    const before = await tracks(event);
    const refused = await change(event, [field('metadata', TITLE), presenter(id)]);
    expect(refused).toMatchObject({ status: 409, text: expect.stringContaining(reason) });
    expect(await bench.read(`/api/events/${event}`)).not.toMatchObject({ title: 'changed' });
    expect(await tracks(event)).toEqual(before);
    expect(await usedBy(id)).toBeNull();
    await expectUsable(id);
  });

  test('for an event that one may not write, or that is not there, get what files get', async () => {
    const event = await bench.scheduled();
    for (const [target, account, status] of [
      [event, bench.reader, 401],
      [event, bench.stranger, 404],
      [randomUUID(), bench.writer, 404],
    ] as const) {
      const id = await make({ headers: account });
      const likewise = await change(target, [file('presenter', 'b.mp4', SLIDES)], account);
      expect(await change(target, [presenter(id)], account)).toEqual(likewise);
      expect(likewise.status).toBe(status);
      await expectUsable(id, account);
    }
    expect(await tracks(event)).toEqual([]);
  });

  test.each<[string, (id: string) => Part[]]>([
    [
      'an upload that is not there',
      (id) => [
        uploads([
          { id, field: 'presenter' },
          { id: 'none', field: 'audio' },
        ]),
      ],
    ],
    [
      'a series that is not there',
      (id) => [
        presenter(id),
        field('metadata', '[{"flavor":"dublincore/episode","fields":[{"id":"isPartOf","value":"none"}]}]'),
      ],
    ],
    ['an empty file beside it', (id) => [presenter(id), file('audio', 'a.mp3', Buffer.alloc(0))]],
  ])('refused for %s leave the event waiting and the upload usable', async (_, parts) => {
    const event = await bench.scheduled();
    const id = await make();
    expect([400, 404]).toContain((await change(event, parts(id))).status);
    expect(await tracks(event)).toEqual([]);
    expect((await change(event, [presenter(id)])).status).toBe(204);
  });

  test('of two requests at the same moment, for one event or for two, are taken once', async () => {
    for (const events of [[await bench.scheduled()], [await bench.scheduled(), await bench.scheduled()]]) {
      const id = await make();
      const answers = await Promise.all(
        [0, 1].map((i) => change(events[i] ?? events[0] ?? '', [presenter(id)])),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 409]);
      const all = await Promise.all(events.map(tracks));
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
    for (const parts of [[presenter(other)], [uploads([{ id, field: 'audio' }])], []]) {
      expect((await create(parts, key)).status).toBe(422);
    }
    await expectUsable(other);
  });

  test('is free again after a refusal, and takes the corrected request', async () => {
    const id = await make({ until: 100 });
    const key = { 'Idempotency-Key': randomUUID() };
    expect((await create([presenter(id)], key)).status).toBe(400);
    await append(bench.app, id, 100, CAMERA.subarray(100));
    expect((await create([presenter(id)], key)).status).toBe(201);
  });

  test('of requests at the same moment makes one event', async () => {
    const id = await make();
    const key = { 'Idempotency-Key': randomUUID() };
    const answers = await Promise.all([1, 2, 3].map(() => create([presenter(id)], key)));
    const made = new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text));
    expect(made.size).toBe(1);
    for (const { status, text } of answers) {
      if (status !== 201) expect(text).toMatch(/still being carried out/);
    }
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

  test('tells how far it is while it is remembered', async () => {
    const whole = { status: 200, offset: CAMERA.length, length: CAMERA.length };
    expect(await stateOf(bench.app, id)).toEqual(whole);
    await expire(id);
    expect((await stateOf(bench.app, id)).status).toBe(404);
    await expectWhole();
  });

  test('takes no more bytes', async () => {
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

  test('goes with its time, and the event keeps the recording', async () => {
    await expire(id);
    expect(await expireUploads(bench.app.database)).toBe(1);
    await expectWhole();
  });

  test('does not come back when the event is deleted', async () => {
    const answer = await bench.app.request(`/api/events/${event}`, { method: 'DELETE' });
    expect([202, 204]).toContain(answer.status);
    expect((await create([presenter(id)])).status).toBe(409);
  });
});
