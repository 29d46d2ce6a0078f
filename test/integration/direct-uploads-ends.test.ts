import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forgetDirectUploads, takeBack } from '../../src/ingest/direct/end.ts';
import { startOver } from '../../src/ingest/direct/outcome.ts';
import { expireUploads } from '../../src/ingest/uploads/expire.ts';
import { bytes } from '../support/bytes.ts';
import {
  asUpload,
  type DirectServer,
  type HandOut,
  handOut,
  handOutOne,
  patchAll,
  STREAM,
  sendAll,
  startDirect,
  told,
  tusRequest,
} from '../support/direct-uploads.ts';
import { eventually } from '../support/eventually.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';

let app: DirectServer;
beforeAll(async () => {
  app = await startDirect();
});
afterAll(() => app?.close());

const one = (...about: HandOut) => handOutOne(app, ...about);

describe('limits', () => {
  test('a file that is declared to be larger than allowed is refused, and nothing is kept of it', async () => {
    const { url } = await one({ maxBytes: '1000' });
    const sentence = 'An upload may have 1000 bytes; this one is to have more.';
    const begun = await tusRequest('POST', url, { 'Upload-Length': '1001' });
    expect([begun.status, await begun.text()]).toEqual([413, sentence]);
    const sent = await patchAll(url, bytes(1001));
    expect([sent.status, await sent.text()]).toEqual([413, sentence]);
    expect((await tusRequest('HEAD', url)).headers.get('Upload-Offset')).toBe('0');
    await expect(sendAll(bytes(1001), asUpload(url))).rejects.toThrow(sentence);
    expect(await sendAll(bytes(1000), asUpload(url))).toEqual(expect.any(String));
  });

  test('a file of which nobody says how long it is ends where it is too long', async () => {
    const { id, url } = await one({ maxBytes: '1000' });
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(bytes(600)),
    });
    const answer = await tusRequest('PATCH', url, { ...STREAM, 'Upload-Offset': '0' }, endless).catch(
      () => undefined,
    );
    if (answer) expect(answer.status).toBe(413);
    const { state, files } = await told(app, id);
    expect(state).not.toBe('finished');
    expect(files[0].offset).toBeLessThanOrEqual(1000);
  });

  test('an empty file is refused, and the address is still good', async () => {
    const { url } = await one();
    for (const method of ['POST', 'PATCH']) {
      const answer = await tusRequest(method, url, { ...STREAM, 'Upload-Offset': '0', 'Upload-Length': '0' });
      expect([answer.status, await answer.text()]).toEqual([
        400,
        'The file is empty; Upload-Length must be 1 at least.',
      ]);
    }
    expect((await patchAll(url, bytes(1))).status).toBe(204);
  });

  test.each(['guessed', 'A'.repeat(43), '%00', 'x'.repeat(5000), '..%2fuploads'])(
    'the address %j leads nowhere',
    async (token) => {
      const url = `${app.base}/direct-uploads/${token}`;
      for (const method of ['HEAD', 'POST', 'DELETE', 'OPTIONS']) {
        expect((await tusRequest(method, url, { 'Upload-Length': '1' })).status).toBe(404);
      }
      expect((await patchAll(url, bytes(1))).status).toBe(404);
    },
  );

  test('an address is of no use for another file of the same direct upload', async () => {
    const { id, urls } = await handOut(app, { files: 'presenter,presentation' });
    expect((await patchAll(urls[0] ?? '', bytes(7))).status).toBe(204);
    expect((await patchAll(urls[0] ?? '', bytes(7))).status).toBe(409);
    expect((await told(app, id)).files.map(({ offset }: { offset: number }) => offset)).toEqual([7, 0]);
  });
});

describe('an end', () => {
  test('after it has expired an address is 410, and what has come is gone', async () => {
    const { id, urls } = await handOut(app, { files: 'presenter,presentation' });
    const [url = ''] = urls;
    expect((await patchAll(url, bytes(9))).status).toBe(204);
    const { expires_at } = await app.database
      .selectFrom('uploads')
      .innerJoin('direct_upload_files', 'upload_id', 'uploads.id')
      .innerJoin('direct_uploads', 'direct_uploads.id', 'direct_upload_id')
      .select('direct_uploads.expires_at')
      .where('direct_upload_id', '=', id)
      .whereRef('uploads.expires_at', '=', 'direct_uploads.expires_at')
      .executeTakeFirstOrThrow();
    expect(expires_at).toBeInstanceOf(Date);
    await expire(id, 1);
    for (const method of ['HEAD', 'POST', 'DELETE']) {
      expect((await tusRequest(method, url, { 'Upload-Length': '9' })).status).toBe(410);
    }
    expect((await patchAll(url, bytes(9))).status).toBe(410);
    expect(await told(app, id)).toMatchObject({ state: 'expired', files: [{ offset: 0 }, { offset: 0 }] });
    expect(await forgetDirectUploads(app.database)).toBe(0);
    await expire(id, 8 * 86_400);
    expect(await forgetDirectUploads(app.database)).toBe(1);
    expect((await told(app, id)).status).toBe(404);
  });

  test('more bytes do not carry an upload beyond the time its address has', async () => {
    const { id, url } = await one({ expires: '60' });
    const part = { ...STREAM, 'Upload-Offset': '0' };
    expect((await tusRequest('PATCH', url, part, bytes(3))).status).toBe(204);
    const { expires } = await told(app, id);
    const row = await uploadOf(id);
    expect(Math.abs(row.expires_at.getTime() - Date.parse(expires))).toBeLessThan(1000);
  });

  test('taken back, its addresses lead nowhere and nothing is kept', async () => {
    const { id, urls } = await handOut(app, { files: 'presenter,presentation' });
    const [url = ''] = urls;
    expect((await patchAll(url, bytes(9))).status).toBe(204);
    expect((await app.request(`/api/uploads/${id}`, { method: 'DELETE' })).status).toBe(204);
    for (const method of ['HEAD', 'POST', 'DELETE']) {
      expect((await tusRequest(method, url, { 'Upload-Length': '9' })).status).toBe(404);
    }
    expect((await patchAll(url, bytes(9))).status).toBe(404);
    expect((await told(app, id)).status).toBe(404);
    expect((await app.request(`/api/uploads/${id}`, { method: 'DELETE' })).status).toBe(404);
  });

  test('taken back twice at once, it is there for one of the two', async () => {
    const { id } = await one();
    const remove = () => app.request(`/api/uploads/${id}`, { method: 'DELETE' });
    const statuses = (await Promise.all([remove(), remove(), remove()])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([204, 404, 404]);
  });

  test('what comes to an address after something was given up there is another upload', async () => {
    const { id, url } = await one();
    const part = { ...STREAM, 'Upload-Offset': '0' };
    expect((await tusRequest('PATCH', url, part, bytes(3))).status).toBe(204);
    const before = await uploadOf(id);
    expect((await tusRequest('DELETE', url)).status).toBe(204);
    expect((await tusRequest('HEAD', url)).headers.get('Upload-Offset')).toBe('0');
    expect((await tusRequest('PATCH', url, part, bytes(5, 7))).status).toBe(204);
    const after = await uploadOf(id);
    expect(after.id).not.toBe(before.id);
    expect((await tusRequest('HEAD', url)).headers.get('Upload-Offset')).toBe('5');
  });

  test('a file is not given up of which an event has been made just now', async () => {
    const { id, url } = await one();
    const part = { ...STREAM, 'Upload-Offset': '0' };
    expect((await tusRequest('PATCH', url, part, bytes(10))).status).toBe(204);
    const { id: uploadId } = await uploadOf(id);
    let removing: Promise<Response> | undefined;
    await app.database.transaction().execute(async (trx) => {
      await sql`SELECT FROM uploads WHERE id = ${uploadId} FOR UPDATE`.execute(trx);
      removing = tusRequest('DELETE', url);
      await eventually(async () => {
        const { rows } = await sql`SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(app.database);
        expect(rows).toHaveLength(1);
      });
      await sql`UPDATE direct_uploads SET event_id = 'made-of-it' WHERE id = ${id}`.execute(trx);
    });
    const answer = await removing;
    expect([answer?.status, await answer?.text()]).toEqual([
      409,
      "The event 'made-of-it' has been made of the direct upload; it stays.",
    ]);
  });

  test('taken back while a file is given up and begun anew, nothing of it stays', async () => {
    const { id, url } = await one();
    const part = { ...STREAM, 'Upload-Offset': '0' };
    expect((await tusRequest('PATCH', url, part, bytes(10))).status).toBe(204);
    const { id: given } = await uploadOf(id);
    let taking = Promise.resolve();
    await app.database.transaction().execute(async (trx) => {
      await startOver(trx, id, given);
      taking = takeBack(app.database, id);
      // It knows the files by now, and waits for what is given up.
      await eventually(async () => {
        const { rows } = await sql`SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(app.database);
        expect(rows).toHaveLength(1);
      });
      await sql`INSERT INTO uploads (id, owner, filename, object_key, handle, expires_at)
        SELECT upload_id, 'admin', 'anew', 'track/anew', '', now() + interval '1 hour'
        FROM direct_upload_files WHERE direct_upload_id = ${id}`.execute(trx);
    });
    await taking;
    expect(await strays()).toEqual([]);
  });

  test('that comes before the last byte does is told to whoever sends it', async () => {
    const { id, url } = await one();
    const { answered, go } = sendHalf(url, 45);
    await eventually(async () => expect((await uploadOf(id)).id).toBeDefined());
    const past = new Date(Date.now() - 1000);
    await app.database.updateTable('direct_uploads').set({ expires_at: past }).where('id', '=', id).execute();
    go();
    const answer = await answered;
    expect([answer.status, await answer.text()]).toEqual([410, 'The address has expired.']);
  });

  test('of what has come leaves the address good for requests that were under way', async () => {
    for (let i = 0; i < 5; i += 1) {
      const { url } = await one();
      const part = { ...STREAM, 'Upload-Offset': '0' };
      const answers = await Promise.all([
        tusRequest('DELETE', url),
        ...[1, 2, 3, 4].map(() => tusRequest('PATCH', url, part, bytes(10))),
      ]);
      for (const { status } of answers) expect([204, 409, 423]).toContain(status);
    }
    expect(await strays()).toEqual([]);
  });

  test('taken back in the middle of a request, nothing of it stays', async () => {
    const { id, url } = await one();
    const { answered, go } = sendHalf(url, 50);
    await eventually(async () => expect((await uploadOf(id)).id).toBeDefined());
    expect((await app.request(`/api/uploads/${id}`, { method: 'DELETE' })).status).toBe(204);
    go();
    expect([404, 410, 423]).toContain((await answered).status);
    expect((await tusRequest('HEAD', url)).status).toBe(404);
    expect(await app.database.selectFrom('uploads').select('id').where('length', '=', 100).execute()).toEqual(
      [],
    );
  });
});

test('nothing is left when all of it has expired', async () => {
  const { id, urls } = await handOut(app, { files: 'presenter,presentation' });
  expect((await patchAll(urls[0] ?? '', bytes(100))).status).toBe(204);
  const deferred = { ...STREAM, 'Upload-Offset': '0' };
  expect((await tusRequest('PATCH', urls[1] ?? '', deferred, bytes(100))).status).toBe(204);
  for (const { id } of await app.database.selectFrom('direct_uploads').select('id').execute()) {
    await expire(id, 1);
  }
  const entries = app.database.updateTable('staging').set({ expires_at: new Date(0) });
  await entries.where('owner', 'like', 'upload %').execute();
  expect(await expireUploads(app.database)).toBeGreaterThan(1);
  await app.context.staging.sweep(app.context.watch.seen);
  await expectNothingLeftOver(app);
  expect(await told(app, id)).toMatchObject({ state: 'expired' });
});

/** Uploads that live on although no direct upload has them. */
async function strays() {
  const { rows } = await sql`SELECT id FROM uploads
    WHERE expires_at > now() AND id NOT IN (SELECT upload_id FROM direct_upload_files)`.execute(app.database);
  return rows;
}

async function expire(id: string, secondsAgo: number): Promise<void> {
  const expires_at = new Date(Date.now() - secondsAgo * 1000);
  await app.database.updateTable('direct_uploads').set({ expires_at }).where('id', '=', id).execute();
  const files = app.database
    .selectFrom('direct_upload_files')
    .select('upload_id')
    .where('direct_upload_id', '=', id);
  await app.database.updateTable('uploads').set({ expires_at }).where('id', 'in', files).execute();
}

function uploadOf(directId: string) {
  return app.database
    .selectFrom('uploads')
    .innerJoin('direct_upload_files', 'upload_id', 'uploads.id')
    .select(['uploads.id', 'uploads.expires_at'])
    .where('direct_upload_id', '=', directId)
    .executeTakeFirstOrThrow();
}

/** Sends so many bytes, and as many once more when `go` is called. */
function sendHalf(url: string, size: number): { answered: Promise<Response>; go: () => void } {
  const { promise, resolve: go } = Promise.withResolvers<void>();
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(bytes(size)),
    pull: async (controller) => {
      await promise;
      controller.enqueue(bytes(size));
      controller.close();
    },
  });
  const headers = { ...STREAM, 'Upload-Offset': '0', 'Upload-Length': String(2 * size) };
  return { answered: tusRequest('PATCH', url, headers, body), go };
}
