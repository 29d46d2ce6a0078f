import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { finishDirectUpload } from '../../src/ingest/direct/finish.ts';
import { finishDirectUploads } from '../../src/ingest/direct/sweep.ts';
import type { Ingest } from '../../src/ingest/ingest.ts';
import { startReconciler } from '../../workers/reconciler.ts';
import { bytes } from '../support/bytes.ts';
import {
  type Addresses,
  type DirectServer,
  type HandOut,
  handOut,
  handOutOne,
  patchAll,
  STREAM,
  startDirect,
  told,
  tusRequest,
} from '../support/direct-uploads.ts';
import { sendForm } from '../support/event-writes.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, field } from '../support/form.ts';

let app: DirectServer;
beforeAll(async () => {
  app = await startDirect();
});
afterAll(() => app?.close());

const events = () => app.database.selectFrom('events').select('id').execute();
const occasion = () => ({ requestId: 'test', log: app.context.log });
const finish = (id: string) => finishDirectUpload(app.context, id, occasion());
const sweep = () => finishDirectUploads({ ...app.context }, 0);

const one = (...about: HandOut) => handOutOne(app, ...about);

/** All bytes are there, and whoever brought the last one was killed before the event was made. */
async function killed(direct: Addresses, { noted = true } = {}): Promise<void> {
  // Unnoticed as long as one more file is awaited.
  await app.database
    .insertInto('direct_upload_files')
    .values({
      direct_upload_id: direct.id,
      position: 99,
      token_sha256: '0'.repeat(64),
      flavor: 'never/comes',
      upload_id: 'never-comes-at-all',
    })
    .execute();
  for (const url of direct.urls) expect((await patchAll(url, bytes(100))).status).toBe(204);
  await app.database.deleteFrom('direct_upload_files').where('position', '=', 99).execute();
  if (noted) return;
  const ids = app.database
    .selectFrom('direct_upload_files')
    .select('upload_id')
    .where('direct_upload_id', '=', direct.id);
  const files = await ids.execute();
  // As a folder is after the object was made and before that was noted.
  await app.database
    .updateTable('uploads')
    .set({ completed_at: null, mediatype: null, sha256: null })
    .where(
      'id',
      'in',
      files.map(({ upload_id }) => upload_id),
    )
    .execute();
}

describe('killed between the last byte and the event, the event is made once', () => {
  const ways = {
    'whoever asks an address': (direct: Addresses) => tusRequest('HEAD', direct.urls[0] ?? ''),
    'the last request, sent again': ({ urls }: Addresses) =>
      tusRequest('PATCH', urls[0] ?? '', { ...STREAM, 'Upload-Offset': '100' }, new Uint8Array()),
    'the workers': sweep,
  };

  test.each(Object.entries(ways))('by %s', async (_who, way) => {
    const direct = await handOut(app, { files: 'presenter,presentation' });
    await killed(direct);
    const before = await events();
    for (let i = 0; i < 2; i += 1) await way(direct);
    expect(await events()).toHaveLength(before.length + 1);
    expect(await told(app, direct.id)).toMatchObject({ state: 'finished' });
  });

  test('and whoever asks the account’s address before that changes nothing, whatever the storage does', async () => {
    const direct = await handOut(app);
    await killed(direct, { noted: false });
    const before = await events();
    expect(await told(app, direct.id)).toMatchObject({ status: 200, state: 'uploading' });
    expect(await events()).toHaveLength(before.length);
    expect(await sweep()).toBe(1);
  });

  test('also when it was not noted that the object is whole', async () => {
    const direct = await handOut(app);
    await killed(direct, { noted: false });
    expect(await sweep()).toBe(1);
    expect(await told(app, direct.id)).toMatchObject({ state: 'finished' });
  });

  test('by the loop of a worker', async () => {
    const direct = await handOut(app);
    await killed(direct);
    await app.database
      .updateTable('uploads')
      .set({ changed_at: new Date(0) })
      .execute();
    const { database, context } = app;
    const workDir = join(context.config.dataDir, 'work');
    const options = { ...context, database, workDir, recordingGraceMs: 0, changesDays: 14, direct: context };
    const reconciler = startReconciler(options);
    await eventually(async () => {
      const row = database.selectFrom('direct_uploads').select('event_id').where('id', '=', direct.id);
      expect((await row.executeTakeFirstOrThrow()).event_id).not.toBeNull();
    });
    await reconciler.close();
    await rm(workDir, { recursive: true, force: true });
  });

  test('however many make it at the same moment', async () => {
    const direct = await handOut(app, { files: 'presenter,presentation' });
    await killed(direct);
    const before = await events();
    const results = await Promise.all(Array.from({ length: 8 }, () => finish(direct.id)));
    expect(new Set(results.map((result) => result?.eventId)).size).toBe(1);
    expect(results[0]?.failure).toBeUndefined();
    expect(await events()).toHaveLength(before.length + 1);
  });
});

test('given up while the event is being made, a file may come anew', async () => {
  const direct = await handOut(app);
  const [url = ''] = direct.urls;
  await killed(direct);
  const { ingest } = app.context;
  const accept: Ingest['accept'] = async (...intake) => {
    expect((await tusRequest('DELETE', url)).status).toBe(204);
    return ingest.accept(...intake);
  };
  const interrupted = Object.assign(Object.create(ingest), { accept });
  const now = await finishDirectUpload({ ...app.context, ingest: interrupted }, direct.id, occasion());
  expect(now).toMatchObject({ failure: undefined, eventId: undefined });
  expect((await patchAll(url, bytes(30))).headers.get('Inlet-Event-Id')).toEqual(expect.any(String));
});

test('two last files that end at the same moment make one event, and one of them at least is told', async () => {
  for (let i = 0; i < 5; i += 1) {
    const before = await events();
    const { id, urls } = await handOut(app, { files: 'presenter,presentation' });
    const answers = await Promise.all(urls.map((url) => patchAll(url, bytes(1000))));
    expect(answers.map(({ status }) => status)).toEqual([204, 204]);
    const ids = answers.map(({ headers }) => headers.get('Inlet-Event-Id')).filter((each) => each !== null);
    expect(new Set(ids).size).toBe(1);
    expect(await told(app, id)).toMatchObject({ state: 'finished', event_identifier: ids[0] });
    expect(await events()).toHaveLength(before.length + 1);
  }
});

test('two that send the last bytes of one file make one event', async () => {
  const { id, url } = await one();
  const before = await events();
  const answers = await Promise.all([patchAll(url, bytes(5000)), patchAll(url, bytes(5000))]);
  expect(answers.map(({ status }) => status).sort()[0]).toBe(204);
  expect(await told(app, id)).toMatchObject({ state: 'finished', files: [{ offset: 5000 }] });
  expect(await events()).toHaveLength(before.length + 1);
});

describe('what can become no event', () => {
  const NONE =
    'All files have come, but no event could be made of them. Whoever handed out the address is told why.';

  async function failed(id: string, url: string, reason: RegExp) {
    const answer = await patchAll(url, bytes(20));
    expect([answer.status, await answer.text()]).toEqual([422, NONE]);
    for (const method of ['HEAD', 'POST', 'PATCH'])
      expect((await tusRequest(method, url, { 'Upload-Length': '20', ...STREAM })).status).toBe(422);
    const state = await told(app, id);
    expect(state).toMatchObject({ state: 'failed', reason: expect.stringMatching(reason) });
    expect(await sweep()).toBe(0);
    return state.files[0].upload_identifier as string;
  }

  test('since its series has been deleted is told, and what has come can still be used', async () => {
    const metadata = [{ flavor: 'dublincore/series', fields: [{ id: 'title', value: 'Short-lived' }] }];
    const made = await sendForm(app, '/api/series', [
      field('metadata', JSON.stringify(metadata)),
      field('acl', '[]'),
    ]);
    const { identifier } = JSON.parse(made.text) as { identifier: string };
    const { id, url } = await one({}, { parts: eventFields({ metadata: { isPartOf: identifier } }) });
    expect((await app.request(`/api/series/${identifier}`, { method: 'DELETE' })).status).toBe(204);
    const upload = await failed(id, url, new RegExp(identifier));
    const uploads = JSON.stringify([{ id: upload, field: 'presenter' }]);
    const saved = await sendForm(app, '/api/events', [...eventFields(), field('uploads', uploads)]);
    expect(saved.status, saved.text).toBe(201);
  });

  test('since the account is gone is told', async () => {
    const Authorization = await app.account('leaves', 'ROLE_API_EVENTS_CREATE');
    const { id, url } = await one({}, { headers: { Authorization } });
    await app.database.deleteFrom('accounts').where('username', '=', 'leaves').execute();
    await failed(id, url, /The account 'leaves' .* is gone\./);
    expect((await app.request(`/api/uploads/${id}`, { method: 'DELETE' })).status).toBe(204);
  });

  test('since the account may not see the series any more is told', async () => {
    const Authorization = await app.account('loses', 'ROLE_API_EVENTS_CREATE', 'ROLE_COURSE');
    const metadata = [{ flavor: 'dublincore/series', fields: [{ id: 'title', value: 'Of a course' }] }];
    const made = await sendForm(app, '/api/series', [
      field('metadata', JSON.stringify(metadata)),
      field('acl', JSON.stringify([{ role: 'ROLE_COURSE', action: 'read', allow: true }])),
    ]);
    const { identifier } = JSON.parse(made.text) as { identifier: string };
    const parts = eventFields({ metadata: { isPartOf: identifier } });
    const { id, url } = await one({}, { parts, headers: { Authorization } });
    await app.database
      .updateTable('accounts')
      .set({ roles: ['ROLE_API_EVENTS_CREATE'] })
      .where('username', '=', 'loses')
      .execute();
    await failed(id, url, new RegExp(identifier));
  });

  test('since the identifier was taken meanwhile is told', async () => {
    const parts = eventFields({ metadata: { identifier: 'wanted-by-two' } });
    const [first, second] = [await one({}, { parts }), await one({}, { parts })];
    expect((await patchAll(first.url, bytes(20))).headers.get('Inlet-Event-Id')).toBe('wanted-by-two');
    await failed(second.id, second.url, /wanted-by-two/);
  });
});
