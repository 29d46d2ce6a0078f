import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ObjectStorage } from '../../src/storage/port.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bytes, sha256 } from '../support/bytes.ts';
import { recording } from '../support/clips.ts';
import { eventFields, file, form, type Part } from '../support/form.ts';

type Put = ObjectStorage['put'];

let app: TestApp;
/** What the object storage does with an upload; the real one unless a test says otherwise. */
let put: Put | undefined;
beforeAll(async () => {
  app = await createTestApp((storage) =>
    Object.create(storage, {
      put: { value: (...args: Parameters<Put>) => (put ?? storage.put.bind(storage))(...args) },
      // Private members are found on the real one only.
      ...Object.fromEntries(
        (['get', 'size', 'remove', 'list', 'unfinished', 'localPath', 'check', 'close'] as const).map(
          (name) => [name, { value: storage[name].bind(storage) }],
        ),
      ),
    }),
  );
});
afterAll(() => app?.close());

function post(parts: readonly Part[], headers: Record<string, string> = {}): Promise<Response> {
  const { type, body } = form(parts);
  return app.request('/api/events', { method: 'POST', headers: { 'Content-Type': type, ...headers }, body });
}

async function created(answer: Response): Promise<string> {
  const text = await answer.text();
  expect(answer.status, text).toBe(201);
  return (JSON.parse(text) as { identifier: string }).identifier;
}

async function leftovers() {
  const [events, staged, stored] = await Promise.all([
    app.database.selectFrom('events').select('id').execute(),
    app.database.selectFrom('staging').select('object_key').execute(),
    Array.fromAsync(app.storage.list('')),
  ]);
  return { events: events.length, staged: staged.length, stored: stored.length };
}

/** Runs an upload that must change nothing. */
async function leavingNothing(upload: () => Promise<Response>): Promise<Response> {
  const before = await leftovers();
  const answer = await upload();
  expect(await leftovers()).toEqual(before);
  return answer;
}

test('an event, its ACL, its track and its workflow are written together, and nothing stays staged', async () => {
  const clip = await recording({ seconds: 1 });
  const acl = [
    { role: 'ROLE_A', action: 'read' },
    { role: 'ROLE_A', action: 'read', allow: true },
    { role: 'ROLE_A', action: 'write', allow: true },
  ];
  const answer = await post(
    [
      ...eventFields({ acl, metadata: { creator: ['Ada'] }, configuration: { flagForReview: 'true' } }),
      file('presenter', 'lecture.txt', clip),
    ],
    { 'X-Request-Id': 'request-1' },
  );
  const id = await created(answer);
  expect(answer.headers.get('Location')).toBe(`http://inlet.test/api/events/${id}`);

  const { database } = app;
  const event = database.selectFrom('events').selectAll().where('id', '=', id);
  expect(await event.executeTakeFirstOrThrow()).toMatchObject({
    title: 'Lecture',
    presenters: ['Ada'],
    creator: 'Administrator',
    processing_state: 'INSTANTIATED',
  });
  const entries = database.selectFrom('event_acl').select(['role', 'action', 'allow']);
  expect(await entries.where('event_id', '=', id).orderBy('position').execute()).toEqual([
    { role: 'ROLE_A', action: 'read', allow: true },
    { role: 'ROLE_A', action: 'write', allow: true },
  ]);
  const tracks = await database.selectFrom('tracks').selectAll().where('event_id', '=', id).execute();
  expect(tracks).toMatchObject([
    // The bytes say what it is, not its name.
    {
      mediatype: 'video/mp4',
      filename: 'lecture.txt',
      size: clip.length,
      sha256: sha256(clip),
      duration: null,
    },
  ]);
  expect(await app.storage.size(tracks[0]?.object_key ?? '')).toBe(clip.length);
  const operations = await database
    .selectFrom('workflow_operations')
    .innerJoin('workflows', 'workflows.id', 'workflow_id')
    .select(['operation', 'workflow_operations.state', 'request_id'])
    .where('event_id', '=', id)
    .orderBy('position')
    .execute();
  expect(operations.map(({ operation, state }) => `${operation} ${state}`)).toEqual([
    'inspect ready',
    'encode waiting',
    'preview waiting',
    'pause waiting',
    'publish waiting',
  ]);
  expect(operations[0]?.request_id).toBe('request-1');
  expect((await leftovers()).staged).toBe(0);
});

test('of two uploads with the same identifier one wins, and nothing of the other stays', async () => {
  const parts = [
    ...eventFields({ metadata: { identifier: 'chosen' } }),
    file('presenter', 'a.mp4', bytes(100_000)),
  ];
  const before = await leftovers();
  const answers = await Promise.all([post(parts), post(parts)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
  const refused = answers.find(({ status }) => status === 409);
  expect(await refused?.text()).toBe("An event with the identifier 'chosen' exists already.");
  expect(await leftovers()).toEqual({ events: before.events + 1, staged: 0, stored: before.stored + 1 });
});

test('a series gives the event its title in answers', async () => {
  await app.database.insertInto('series').values({ id: 'course', title: 'Course 1' }).execute();
  const id = await created(await post(eventFields({ metadata: { isPartOf: 'course' } })));
  const event = await (await app.request(`/api/events/${id}`)).json();
  expect(event).toMatchObject({ is_part_of: 'course', series: 'Course 1' });
});

test('the body may come in pieces of any size', async () => {
  const content = bytes(5000);
  const { type, body } = form([...eventFields(), file('presenter', 'a.mp4', content)]);
  for (const size of [1, 7, 1000]) {
    const pieces = Array.from({ length: Math.ceil(body.length / size) }, (_, i) =>
      body.subarray(i * size, (i + 1) * size),
    );
    const answer = await app.request('/api/events', {
      method: 'POST',
      headers: { 'Content-Type': type },
      body: Readable.toWeb(Readable.from(pieces)) as ReadableStream,
      duplex: 'half',
    } as RequestInit);
    const id = await created(answer);
    const track = app.database.selectFrom('tracks').select('sha256').where('event_id', '=', id);
    expect(await track.executeTakeFirst()).toEqual({ sha256: sha256(content) });
  }
});

/** Object storage that fails in its own way; each must be told from a fault of the client. */
const FAULTS: [string, Put, number, string][] = [
  [
    'refuses at once without reading',
    async () => {
      throw new Error('AccessDenied');
    },
    503,
    'The recording could not be stored. Try again later.',
  ],
  [
    'refuses after some bytes, and destroys its source',
    (_key, body) =>
      new Promise((_, reject) => {
        body.once('data', () => {
          body.destroy(new Error('ECONNRESET'));
          reject(new Error('ECONNRESET'));
        });
      }),
    503,
    'The recording could not be stored. Try again later.',
  ],
  [
    'refuses after it has read everything',
    async (_key, body) => {
      for await (const _ of body);
      throw new Error('InternalError');
    },
    503,
    'The recording could not be stored. Try again later.',
  ],
  [
    'has no room left',
    async () => {
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    },
    507,
    'There is no room left to store the recording.',
  ],
];

test.each(FAULTS)(
  'object storage that %s is answered with 503 or 507',
  async (_name, fault, status, sentence) => {
    put = fault;
    try {
      // More than fits into the buffers between the socket and the storage.
      const parts = [...eventFields(), file('presenter', 'a.mp4', bytes(8 * 2 ** 20)), ...eventFields()];
      const answer = await leavingNothing(() => post(parts));
      expect(answer.status).toBe(status);
      expect(await answer.text()).toBe(sentence);
    } finally {
      put = undefined;
    }
  },
);

test('a second track that cannot be stored takes the first with it', async () => {
  const { storage } = app;
  let stored = 0;
  put = async (...args) => {
    stored += 1;
    if (stored > 1) throw new Error('SlowDown');
    await storage.put(...args);
  };
  try {
    const answer = await leavingNothing(() =>
      post([
        file('presenter', 'a.mp4', bytes(100_000)),
        file('presentation', 'b.mp4', bytes(100_000)),
        ...eventFields(),
      ]),
    );
    expect(answer.status).toBe(503);
    expect(stored).toBe(2);
  } finally {
    put = undefined;
  }
});

test('an upload that was taken for dead and swept is not committed', async () => {
  const { storage, database, context } = app;
  put = async (...args) => {
    await storage.put(...args);
    await database
      .updateTable('staging')
      .set({ expires_at: new Date(0) })
      .execute();
    await context.staging.sweep();
  };
  try {
    const before = await leftovers();
    const answer = await post([...eventFields(), file('presenter', 'a.mp4', bytes(1000))]);
    expect(answer.status).toBe(503);
    expect(await answer.text()).toBe('The recording could not be stored. Try again later.');
    const { events, stored } = await leftovers();
    expect({ events, stored }).toEqual({ events: before.events, stored: before.stored });
  } finally {
    put = undefined;
  }
});
