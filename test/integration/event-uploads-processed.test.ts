import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { createContext } from '../../src/context.ts';
import { silentLogger } from '../../src/telemetry/log.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { created, post } from '../support/app-uploads.ts';
import { sha256 } from '../support/bytes.ts';
import { recording } from '../support/clips.ts';
import { eventFields, field } from '../support/form.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';
import { processEvent } from '../support/process-event.ts';
import { newAgent, scheduledFields, update } from '../support/scheduling.ts';
import { append, begin, uploadOf } from '../support/tus.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

const json = async (path: string) => (await app.request(path)).json();
const media = async (id: string) =>
  (await json(`/api/events/${id}/media`)) as { identifier: string; checksum?: string; size: number }[];
const uploads = (...ids: string[]) =>
  field('uploads', JSON.stringify(ids.map((id) => ({ id, field: 'presenter' }))));

/** Half of it comes to this process and half to another one, so that nobody knows its digest. */
async function uploadInTwoProcesses(content: Uint8Array): Promise<string> {
  const half = Math.floor(content.length / 2);
  const id = await begin(app, content.length);
  expect((await append(app, id, 0, content.subarray(0, half))).status).toBe(204);
  const context = await createContext(app.context.config, 'api', { log: silentLogger });
  try {
    const other = createApp(context);
    const there: TestApp = { ...app, request: async (path, init) => other.request(path, init) };
    const headers = { Authorization: `Basic ${btoa('admin:opencast')}` };
    expect((await append(there, id, half, content.subarray(half), headers)).status).toBe(204);
  } finally {
    await context.close();
  }
  return id;
}

test('an event of uploads ends SUCCEEDED, its checksum known at once or found by inspection', async () => {
  const clip = await recording({ seconds: 2 });
  const [known, unknown] = [await uploadOf(app, clip), await uploadInTwoProcesses(clip)];
  const id = await created(await post(app, [...eventFields(), uploads(known, unknown)]));
  const checksum = `${sha256(clip)} (sha256)`;
  const before = await media(id);
  expect(before.map((track) => track.checksum)).toEqual([checksum, undefined]);
  const path = `/api/events/${id}/media/${before[1]?.identifier}`;
  const download = await app.request(path);
  expect(download.headers.get('ETag')).toMatch(/^"[^"]+"$/);
  expect(sha256(Buffer.from(await download.arrayBuffer()))).toBe(sha256(clip));

  await processEvent(app, id);
  expect(await json(`/api/events/${id}?withpublications=true`)).toMatchObject({
    processing_state: 'SUCCEEDED',
    publication_status: ['engage-player'],
  });
  expect((await media(id)).map((track) => track.checksum)).toEqual([checksum, checksum]);
  expect((await app.request(path)).headers.get('ETag')).toContain(sha256(clip));
  await app.context.staging.sweep(undefined);
  await expectNothingLeftOver(app);
});

test('a scheduled event whose recording is an upload ends SUCCEEDED', async () => {
  const clip = await recording({ seconds: 2 });
  const upload = await uploadOf(app, clip, { chunk: 20_000 });
  const scheduling = { agent_id: newAgent(), start: '2024-05-06T08:00:00Z', duration: 5_400_000 };
  const id = await created(await post(app, scheduledFields(scheduling)));
  expect((await update(app, id, [uploads(upload)])).status).toBe(204);
  await processEvent(app, id);
  expect(await json(`/api/events/${id}`)).toMatchObject({ processing_state: 'SUCCEEDED' });
  await app.context.staging.sweep(undefined);
  await expectNothingLeftOver(app);
});
