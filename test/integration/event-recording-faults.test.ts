import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ObjectStorage, refused } from '../../src/storage/port.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { counts } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { traceOf } from '../support/event-writes.ts';
import { field, file } from '../support/form.ts';
import { insertScheduled } from '../support/scheduled-event.ts';
import { newAgent, update } from '../support/scheduling.ts';
import { catalogOf } from '../support/series.ts';
import { storageWithPut } from '../support/storage-with-put.ts';

let app: TestApp;
let put: ObjectStorage['put'] | undefined;
beforeAll(async () => {
  app = await createTestApp((storage) =>
    storageWithPut(storage, (...args) => (put ?? storage.put.bind(storage))(...args)),
  );
});
afterAll(() => app?.close());

const PARTS = [
  field('metadata', catalogOf({ title: 'After' }, 'dublincore/episode')),
  // More than fits into the buffers between the socket and the storage.
  file('presenter', 'a.mp4', bytes(8 * 2 ** 20)),
];

test.each<[string, ObjectStorage['put'], number]>([
  [
    'takes nothing',
    async () => {
      throw refused(new Error('AccessDenied'));
    },
    503,
  ],
  [
    'has no room left',
    async () => {
      throw refused(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
    },
    507,
  ],
])(
  'while object storage %s, nothing of an update is applied, and the recording can be sent again',
  async (_, fault, status) => {
    const id = await insertScheduled(app.database, {
      agent_id: newAgent(),
      start: '2030-01-07T09:00:00Z',
      end: '2030-01-07T10:00:00Z',
    });
    const before = [await traceOf(app, id), await counts(app)];
    put = fault;
    const answer = await update(app, id, PARTS);
    put = undefined;
    expect(answer.status).toBe(status);
    expect([await traceOf(app, id), await counts(app)]).toEqual(before);
    expect((await update(app, id, PARTS)).status).toBe(204);
  },
);

test('a recording that was taken for dead and swept while it came in is not committed', async () => {
  const id = await insertScheduled(app.database, {
    agent_id: newAgent(),
    start: '2030-01-07T09:00:00Z',
    end: '2030-01-07T10:00:00Z',
  });
  const trace = await traceOf(app, id);
  const { storage } = app;
  put = async (...args) => {
    await storage.put(...args);
    await app.database.deleteFrom('staging').execute();
  };
  const answer = await update(app, id, PARTS);
  put = undefined;
  expect(answer.status).toBe(503);
  expect(await traceOf(app, id)).toEqual(trace);
});
