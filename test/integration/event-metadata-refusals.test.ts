import { describe, expect, test } from 'vitest';
import { EventBench, metadataPath } from '../support/event-bench.ts';
import { traceOf } from '../support/event-writes.ts';
import { FULL_EVENT } from '../support/full-event.ts';
import { ace, createSeries, send } from '../support/series.ts';

const EPISODE = 'dublincore/episode';
const LICENSE = 'license/episode';
const bench = EventBench.forThisFile();

describe('PUT /api/events/{id}/metadata?type=', () => {
  test.each([
    ['no JSON', '{', "Unable to parse metadata fields as json from '{'"],
    [
      'an empty list',
      '[]',
      "Unable to parse metadata fields as json from '[]' because there were no fields to update.",
    ],
    [
      'a field without an id',
      '[{"value":"x"}]',
      "One of the metadata fields is missing an id or value. The id was '' and the value was 'x'.",
    ],
    [
      'an entry that itself says it is required',
      '[{"id":"title","value":"","required":true}]',
      "One of the metadata fields is missing an id or value. The id was 'title' and the value was ''.",
    ],
  ])('400 for %s, before the event is looked for', async (_name, metadata, text) => {
    expect(await bench.putMetadata('nowhere', metadata)).toMatchObject({ status: 400, text });
  });

  test('400 without the form parameter', async () => {
    expect(
      await send(bench.app, 'PUT', metadataPath(await bench.event(FULL_EVENT), EPISODE), {}),
    ).toMatchObject({ status: 400 });
  });

  test.each([undefined, '', 'episode'])('400 for the type %s', async (type) => {
    const id = await bench.event(FULL_EVENT);
    expect(
      await send(bench.app, 'PUT', metadataPath(id, type), { metadata: '[{"id":"title","value":"x"}]' }),
    ).toMatchObject({
      status: 400,
      text: `Unable to parse type '${type ?? ''}' as a flavor so unable to find the matching catalog.`,
    });
  });

  test('400 for a required field that is empty', async () => {
    const id = await bench.event(FULL_EVENT);
    expect(await bench.putMetadata(id, [{ id: 'title', value: ' ' }])).toMatchObject({
      status: 400,
      text: "The event metadata field with id 'title' and the metadata type 'dublincore/episode' is required and can not be empty!.",
    });
    expect(await bench.putMetadata(id, [{ id: 'licensor', value: '' }], LICENSE)).toMatchObject({
      status: 400,
      text: "The event metadata field with id 'licensor' and the metadata type 'license/episode' is required and can not be empty!.",
    });
  });

  test('404 for a field the catalog does not have, and nothing of the others is written', async () => {
    const id = await bench.event(FULL_EVENT);
    const before = await traceOf(bench.app, id);
    const sent = [
      { id: 'title', value: 'Renamed' },
      { id: 'colour', value: 'red' },
    ];
    expect(await bench.putMetadata(id, sent)).toMatchObject({
      status: 404,
      text: `Cannot find a metadata field with id 'colour' from event with id '${id}' and the metadata type 'dublincore/episode'.`,
    });
    expect(await traceOf(bench.app, id)).toEqual(before);
  });

  test('404 for a catalog that is not configured', async () => {
    const id = await bench.event(FULL_EVENT);
    expect(await bench.putMetadata(id, [{ id: 'title', value: 'x' }], 'a/b')).toMatchObject({
      status: 404,
      text: `Cannot find a catalog with type 'a/b' for event with id '${id}'.`,
    });
  });

  test('a series that must not be seen is answered like one that does not exist', async () => {
    const id = await bench.event(FULL_EVENT);
    const hidden = await createSeries(bench.app, {}, [ace('ROLE_OTHER')]);
    const open = await createSeries(bench.app, {}, [ace('ROLE_WRITER')]);
    for (const series of [hidden, 'nowhere']) {
      expect(
        await bench.putMetadata(id, [{ id: 'isPartOf', value: series }], EPISODE, bench.writer),
      ).toMatchObject({
        status: 400,
        text: `Unable to retrieve series dublincore catalog for the series ${series}`,
      });
    }
    expect(
      (await bench.putMetadata(id, [{ id: 'isPartOf', value: open }], EPISODE, bench.writer)).status,
    ).toBe(204);
    expect((await bench.putMetadata(id, [{ id: 'isPartOf', value: '' }], EPISODE, bench.writer)).status).toBe(
      204,
    );
    expect((await bench.values(id)).isPartOf).toBe('');
  });

  test.each([
    ['title', 'a\0b'],
    ['title', 'x'.repeat(2001)],
    ['creator', 'Ada'],
    ['creator', Array.from({ length: 10_000 }, (_, i) => `Presenter ${i}`)],
    ['duration', '-1'],
    ['duration', { hours: 1 }],
  ])('400 for the impossible value of %s', async (field, value) => {
    const id = await bench.event(FULL_EVENT);
    const before = await traceOf(bench.app, id);
    expect((await bench.putMetadata(id, [{ id: field, value }])).status).toBe(400);
    expect(await traceOf(bench.app, id)).toEqual(before);
  });
});

describe('DELETE /api/events/{id}/metadata?type=', () => {
  const removeCatalog = (id: string, type?: string, headers = {}) =>
    send(bench.app, 'DELETE', metadataPath(id, type), undefined, headers);

  test('204; all fields and values of the catalog go', async () => {
    const id = await bench.event(FULL_EVENT);
    await bench.putMetadata(id, [{ id: 'licensor', value: 'Ada' }], LICENSE);
    expect(await removeCatalog(id, 'License/Episode')).toMatchObject({ status: 204, text: '' });
    expect(await bench.values(id, LICENSE)).toEqual({ licensor: '', permits: [] });
    expect(await bench.version(id)).toBe(2);
  });

  test.each([LICENSE, 'a/b'])('404 for %s, which the event does not have', async (type) => {
    const id = await bench.event(FULL_EVENT);
    expect(await removeCatalog(id, type)).toMatchObject({
      status: 404,
      text: `Cannot find a catalog with flavor '${type}' for event with id '${id}'.`,
    });
    expect(await bench.version(id)).toBe(0);
  });

  test.each([EPISODE, 'DublinCore/Episode'])('403 for %s', async (type) => {
    const id = await bench.event(FULL_EVENT);
    expect(await removeCatalog(id, type)).toMatchObject({
      status: 403,
      text: `Unable to delete mandatory metadata catalog with type '${type}' for event '${id}'`,
    });
  });

  test.each([undefined, 'episode'])('400 for the type %s', async (type) => {
    expect(await removeCatalog(await bench.event(FULL_EVENT), type)).toMatchObject({
      status: 400,
      text: `Unable to parse type '${type ?? ''}' as a flavor so unable to find the matching catalog.`,
    });
  });
});

test.each([
  ['GET', undefined, undefined],
  ['GET', 'no flavor', undefined],
  ['PUT', 'no flavor', { metadata: '[{"id":"colour","value":"x"}]' }],
  ['DELETE', 'no flavor', undefined],
  ['DELETE', EPISODE, undefined],
])('%s of type %s is 404 for an event that is not there or must not be seen', async (method, type, body) => {
  for (const id of ['nowhere', await bench.event(FULL_EVENT)]) {
    expect(await send(bench.app, method, metadataPath(id, type), body, bench.stranger)).toMatchObject({
      status: 404,
      text: `Cannot find an event with id '${id}'.`,
    });
  }
});

test('who may only read changes nothing: 401', async () => {
  const id = await bench.event(FULL_EVENT);
  await bench.putMetadata(id, [{ id: 'licensor', value: 'Ada' }], LICENSE);
  expect(await bench.putMetadata(id, [{ id: 'title', value: 'x' }], EPISODE, bench.reader)).toMatchObject({
    status: 401,
    text: 'unauthorized',
  });
  expect(await send(bench.app, 'DELETE', metadataPath(id, LICENSE), undefined, bench.reader)).toMatchObject({
    status: 401,
  });
  expect(await bench.values(id, LICENSE)).toMatchObject({ licensor: 'Ada' });
});
