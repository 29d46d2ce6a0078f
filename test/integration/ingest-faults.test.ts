import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type ObjectStorage, refused } from '../../src/storage/port.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { counts, post } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, file, form } from '../support/form.ts';
import { FOR_AGES } from '../support/watched.ts';

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
afterEach(() => {
  put = undefined;
});

/** Runs an upload that must change nothing. */
async function leavingNothing(upload: () => Promise<Response>): Promise<Response> {
  const before = await counts(app);
  const answer = await upload();
  expect(await counts(app)).toEqual(before);
  return answer;
}

/** Object storage that fails in its own way; each must be told from a fault of the client. */
const FAULTS: [string, Put, number, string][] = [
  [
    'refuses at once without reading',
    async () => {
      throw refused(new Error('AccessDenied'));
    },
    503,
    'The recording could not be stored. Try again later.',
  ],
  [
    'refuses after some bytes, and destroys its source',
    (_key, body) =>
      new Promise((_, reject) => {
        if (!(body instanceof Readable)) throw new TypeError('no stream');
        body.once('data', () => {
          body.destroy(new Error('ECONNRESET'));
          reject(refused(new Error('ECONNRESET')));
        });
      }),
    503,
    'The recording could not be stored. Try again later.',
  ],
  [
    'refuses after it has read everything',
    async (_key, body) => {
      for await (const _ of body);
      throw refused(new Error('InternalError'));
    },
    503,
    'The recording could not be stored. Try again later.',
  ],
  [
    'has no room left',
    async () => {
      throw refused(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
    },
    507,
    'There is no room left to store the recording.',
  ],
];

test.each(FAULTS)(
  'object storage that %s is answered with 503 or 507',
  async (_name, fault, status, sentence) => {
    put = fault;
    // More than fits into the buffers between the socket and the storage.
    const parts = [...eventFields(), file('presenter', 'a.mp4', bytes(8 * 2 ** 20)), ...eventFields()];
    const answer = await leavingNothing(() => post(app, parts));
    expect(answer.status).toBe(status);
    expect(await answer.text()).toBe(sentence);
  },
);

test('a second track that cannot be stored takes the first with it', async () => {
  const { storage } = app;
  let stored = 0;
  put = async (...args) => {
    stored += 1;
    if (stored > 1) throw refused(new Error('SlowDown'));
    await storage.put(...args);
  };
  const answer = await leavingNothing(() =>
    post(app, [
      file('presenter', 'a.mp4', bytes(100_000)),
      file('presentation', 'b.mp4', bytes(100_000)),
      ...eventFields(),
    ]),
  );
  expect(answer.status).toBe(503);
  expect(stored).toBe(2);
});

test('an upload that was taken for dead and swept is not committed', async () => {
  const { storage, database, context } = app;
  put = async (...args) => {
    await storage.put(...args);
    await database
      .updateTable('staging')
      .set({ expires_at: new Date(0) })
      .execute();
    await context.staging.sweep(FOR_AGES);
  };
  const before = await counts(app);
  const answer = await post(app, [...eventFields(), file('presenter', 'a.mp4', bytes(1000))]);
  expect(answer.status).toBe(503);
  expect(await answer.text()).toBe('The recording could not be stored. Try again later.');
  const { events, stored } = await counts(app);
  expect({ events, stored }).toEqual({ events: before.events, stored: before.stored });
});

test('an upload that was swept is ended at once, though its first file is stored and much is still to come', async () => {
  const { database, context } = app;
  const parts = [file('presenter', 'a.mp4', bytes(100_000)), file('presentation', 'b.mp4', bytes(2 ** 20))];
  const { type, body } = form([...eventFields(), ...parts]);
  const before = await counts(app);
  let cancelled = false;
  let sent = 0;
  const slow = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const chunk = sent < 200_000 ? body.subarray(0, 200_000) : body.subarray(sent, sent + 100);
      sent += chunk.length;
      if (sent > 200_000) await pause(20);
      controller.enqueue(chunk);
      if (sent >= body.length) controller.close();
    },
    cancel: () => {
      cancelled = true;
    },
  });
  const answering = app.request('/api/events', {
    method: 'POST',
    headers: { 'Content-Type': type },
    body: slow,
    duplex: 'half',
  } as RequestInit);
  const staged = () => database.selectFrom('staging').select('object_key').execute();
  await eventually(async () => expect(await staged()).toHaveLength(before.staged + 2));
  await database
    .updateTable('staging')
    .set({ expires_at: new Date(0) })
    .execute();
  await context.staging.sweep(FOR_AGES);
  await context.staging.renew();
  const answer = await answering;
  expect({ status: answer.status, retryAfter: answer.headers.get('Retry-After') }).toEqual({
    status: 503,
    retryAfter: '30',
  });
  expect(cancelled).toBe(true);
  expect(sent).toBeLessThan(body.length);
});
