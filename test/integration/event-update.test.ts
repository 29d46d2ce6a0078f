import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { counts } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { BENCH_ACL, EventBench } from '../support/event-bench.ts';
import { sendForm, traceOf } from '../support/event-writes.ts';
import { field, file, form, type Part } from '../support/form.ts';
import { insertPublication } from '../support/publication.ts';
import { ace, catalogOf, createSeries, send } from '../support/series.ts';

const bench = EventBench.forThisFile();

const event = (values: Parameters<EventBench['event']>[0] = {}) =>
  bench.event({
    title: 'Before',
    description: 'Stays',
    start_date: new Date('2026-04-13T08:15:42Z'),
    processing_state: 'SUCCEEDED',
    ...values,
  });
const update = (id: string, parts: readonly Part[], headers: Record<string, string> = {}) =>
  sendForm(bench.app, `/api/events/${id}`, parts, headers);
const metadata = (values: Record<string, unknown>, flavor = 'dublincore/episode') =>
  field('metadata', catalogOf(values, flavor));
const acl = (...entries: unknown[]) => field('acl', JSON.stringify(entries));

describe('POST /api/events/{id}', () => {
  test('204 without a body; only the given fields of the catalog change', async () => {
    const id = await event();
    const before = await bench.read(`/api/events/${id}?withacl=true`);
    expect(await update(id, [metadata({ title: 'After', creator: ['Ada'] })])).toMatchObject({
      status: 204,
      text: '',
    });
    expect(await bench.read(`/api/events/${id}?withacl=true`)).toEqual({
      ...before,
      title: 'After',
      presenter: ['Ada'],
      archive_version: 1,
    });
  });

  test('an empty ACL opens the event to nobody, whatever its series grants', async () => {
    const series_id = await createSeries(bench.app, {}, [ace('ROLE_READER')]);
    const id = await event({ series_id });
    expect((await update(id, [acl()])).status).toBe(204);
    const { status } = await send(bench.app, 'GET', `/api/events/${id}`, undefined, bench.reader);
    expect(status).toBe(404);
    expect(await update(id, [field('acl', 'null')])).toMatchObject({
      status: 400,
      text: 'Unable to parse acl',
    });
  });

  test('metadata, further catalogs and the ACL change together, as one version', async () => {
    const id = await event();
    const catalogs = [
      ...JSON.parse(catalogOf({ title: 'After' }, 'dublincore/episode')),
      ...JSON.parse(catalogOf({ licensor: 'Ada' }, 'License/Episode')),
    ];
    const parts = [
      field('metadata', JSON.stringify(catalogs)),
      acl({ role: 'ROLE_A', action: 'read', allow: false }),
    ];
    expect((await update(id, parts)).status).toBe(204);
    expect(await bench.read(`/api/events/${id}?withacl=true`)).toMatchObject({
      title: 'After',
      acl: [ace('ROLE_A')],
      archive_version: 1,
    });
    const { text } = await send(bench.app, 'GET', `/api/events/${id}/metadata?type=license/episode`);
    expect(JSON.parse(text)[0]).toMatchObject({ id: 'licensor', value: 'Ada' });
  });

  test('all catalogs may be written back as they are shown, also one that was never stored', async () => {
    const id = await event();
    const { text } = await send(bench.app, 'GET', `/api/events/${id}/metadata`);
    expect(text).toContain('license/episode');
    expect(await update(id, [field('metadata', text)])).toMatchObject({ status: 204 });
    expect((await bench.read(`/api/events/${id}`)).archive_version).toBe(0);
  });

  test('the start stays when it is not sent', async () => {
    const id = await event();
    await update(id, [metadata({ title: 'After' })]);
    expect((await bench.read(`/api/events/${id}?withacl=true`)).start).toBe('2026-04-13T08:15:42Z');
    await update(id, [metadata({ startDate: '2026-05-01' })]);
    expect((await bench.read(`/api/events/${id}?withacl=true`)).start).toBe('2026-05-01T08:15:42Z');
  });

  test.each([
    ['nothing', []],
    ['an ACL under the wrong name', [field('acls', '[]')]],
    ['empty parts', ['acl', 'metadata', 'processing', 'scheduling'].map((name) => field(name, ''))],
    ['JSON sent as a file', [file('acl', 'acl.json', Buffer.from('[]'))]],
    ['what the event holds already', [metadata({ title: 'Before' }), acl(...BENCH_ACL)]],
  ])('204 for %s, which changes nothing', async (_name, parts) => {
    const id = await event();
    const before = await traceOf(bench.app, id);
    expect((await update(id, parts)).status).toBe(204);
    expect(await traceOf(bench.app, id)).toEqual(before);
  });

  test('files are ignored and never stored', async () => {
    const id = await event();
    const before = await counts(bench.app);
    const parts = [
      file('presenter', 'a.mp4', bytes(3_000_000)),
      metadata({ title: 'After' }),
      file('attachment', 'b.pdf', bytes(1000)),
    ];
    expect((await update(id, parts)).status).toBe(204);
    expect(await bench.read(`/api/events/${id}?withacl=true`)).toMatchObject({
      title: 'After',
      processing_state: 'SUCCEEDED',
    });
    expect(await counts(bench.app)).toEqual(before);
  });

  test('metadata may change while a workflow runs', async () => {
    const id = await event({ processing_state: 'RUNNING' });
    expect((await update(id, [metadata({ title: 'After' })])).status).toBe(204);
    expect((await bench.read(`/api/events/${id}?withacl=true`)).title).toBe('After');
  });

  test('what is published stays as it is', async () => {
    const id = await event();
    const publication = await insertPublication(bench.app.database, id);
    await update(id, [metadata({ title: 'After' })]);
    const rows = bench.app.database.selectFrom('publications').select('id').where('event_id', '=', id);
    expect(await rows.execute()).toEqual([{ id: publication }]);
    const workflows = bench.app.database.selectFrom('workflows').select('id').where('event_id', '=', id);
    expect(await workflows.execute()).toEqual([]);
  });

  test('404 for an event that is not there or must not be seen, whatever is sent', async () => {
    for (const id of ['nowhere', await event()]) {
      const text = `Cannot find an event with id '${id}'.`;
      expect(await update(id, [field('acl', '[')], bench.stranger)).toMatchObject({ status: 404, text });
      expect(await send(bench.app, 'POST', `/api/events/${id}`, {}, bench.stranger)).toMatchObject({
        status: 404,
        text,
      });
    }
  });

  test('404 for a metadata field that its catalog does not have', async () => {
    const id = await event();
    expect(await update(id, [metadata({ colour: 'red' })])).toMatchObject({
      status: 404,
      text: `Cannot find an event with id '${id}'.`,
    });
  });

  test('an empty 401 for somebody who may only read', async () => {
    const id = await event();
    expect(await update(id, [metadata({ title: 'After' })], bench.reader)).toMatchObject({
      status: 401,
      text: '',
    });
    expect((await bench.read(`/api/events/${id}?withacl=true`)).title).toBe('Before');
  });

  test.each(['application/x-www-form-urlencoded', 'application/json', 'text/plain'])(
    '400 for a body of the type %s',
    async (type) => {
      const answer = await bench.app.request(`/api/events/${await event()}`, {
        method: 'POST',
        headers: { 'Content-Type': type },
        body: 'acl=[]',
      });
      expect(answer.status).toBe(400);
      expect(await answer.text()).toBe('No multipart content');
    },
  );

  test('400 without a body', async () => {
    const answer = await bench.app.request(`/api/events/${await event()}`, { method: 'POST' });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toBe('No multipart content');
  });

  test('a form that breaks off is refused and changes nothing', async () => {
    const id = await event();
    const before = await traceOf(bench.app, id);
    const { type, body } = form([metadata({ title: 'After' }), file('presenter', 'a.mp4', bytes(5000))]);
    const answer = await bench.app.request(`/api/events/${id}`, {
      method: 'POST',
      headers: { 'Content-Type': type },
      body: body.subarray(0, body.length - 1000),
    });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toMatch(/^The multipart form is broken or was cut short/);
    expect(await traceOf(bench.app, id)).toEqual(before);
  });

  test('a client that goes away in the middle leaves nothing behind', async () => {
    const id = await event();
    const before = await traceOf(bench.app, id);
    const { type, body } = form([metadata({ title: 'After' })]);
    const answer = await bench.app.request(`/api/events/${id}`, {
      method: 'POST',
      headers: { 'Content-Type': type },
      body: Readable.toWeb(
        Readable.from(
          (function* () {
            yield body.subarray(0, 100);
            throw new Error('gone');
          })(),
        ),
      ) as ReadableStream,
      duplex: 'half',
    } as RequestInit);
    expect(answer.status).toBe(400);
    expect(await traceOf(bench.app, id)).toEqual(before);
  });
});
