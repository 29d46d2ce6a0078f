import { describe, expect, test } from 'vitest';
import { EventBench } from '../support/event-bench.ts';
import { traceOf } from '../support/event-writes.ts';
import { FULL_EVENT } from '../support/full-event.ts';
import { createSeries, send } from '../support/series.ts';

const LICENSE = 'license/episode';
const bench = EventBench.forThisFile();

describe('PUT /api/events/{id}/metadata?type=', () => {
  test('204; fields that are not listed stay as they are', async () => {
    const id = await bench.event(FULL_EVENT);
    const before = await bench.values(id);
    expect(
      await bench.putMetadata(id, [
        { id: 'title', value: 'Renamed' },
        { id: 'creator', value: [] },
      ]),
    ).toMatchObject({ status: 204, text: '' });
    expect(await bench.values(id)).toEqual({ ...before, title: 'Renamed', creator: [] });
    expect(await bench.version(id)).toBe(1);
  });

  test('every field can be changed', async () => {
    const series = await createSeries(bench.app, {}, []);
    const id = await bench.event(FULL_EVENT);
    const wanted = {
      title: 'T',
      subjects: ['a', 'b'],
      description: 'D',
      language: 'eng',
      rightsHolder: 'R',
      license: 'CC0',
      isPartOf: series,
      creator: ['C'],
      contributor: ['D'],
      startDate: '2027-01-31',
      startTime: '22:22',
      duration: '00:00:07',
      location: 'L',
      source: 'S',
    };
    const sent = Object.entries({ ...wanted, startTime: '22:22:00Z' }).map(([id, value]) => ({ id, value }));
    expect((await bench.putMetadata(id, sent)).status).toBe(204);
    expect(await bench.values(id)).toMatchObject(wanted);
    const shown = JSON.parse((await send(bench.app, 'GET', `/api/events/${id}`)).text);
    expect(shown).toMatchObject({
      start: '2027-01-31T22:22:00Z',
      created: '2027-01-31T22:22:00Z',
      duration: 7000,
      is_part_of: series,
      series: 'Mathematics',
    });
  });

  test('an event counts as created when it starts, from the time its start is changed', async () => {
    const created = new Date('2020-01-01T00:00:00Z');
    const id = await bench.event({ ...FULL_EVENT, created });
    const shown = async () => (await bench.read(`/api/events/${id}`)).created;
    await bench.putMetadata(id, [{ id: 'title', value: 'Renamed' }]);
    expect(await shown()).toBe('2020-01-01T00:00:00Z');
    await bench.putMetadata(id, [{ id: 'startDate', value: '2027-02-28' }]);
    expect(await shown()).toBe('2027-02-28T08:15:42Z');
  });

  test.each([
    [[{ id: 'startTime', value: '22:22:00Z' }], '2026-04-13T22:22:00.000Z'],
    [[{ id: 'startTime', value: '08:15' }], '2026-04-13T08:15:42.123Z'],
    [[{ id: 'startTime', value: '08:15:00' }], '2026-04-13T08:15:00.000Z'],
    [[{ id: 'startDate', value: '2027-02-28' }], '2027-02-28T08:15:42.123Z'],
    [[{ id: 'startDate', value: '2027-02-28T10:11:12.130Z' }], '2027-02-28T10:11:12.130Z'],
    [
      [
        { id: 'startDate', value: '2027-02-28' },
        { id: 'startTime', value: '10:00' },
      ],
      '2027-02-28T10:00:00.000Z',
    ],
    [
      [
        { id: 'startDate', value: '' },
        { id: 'startTime', value: '' },
      ],
      '2026-04-13T08:15:42.123Z',
    ],
    [
      [
        { id: 'startDate', value: '2026-02-30' },
        { id: 'startTime', value: 'noon' },
      ],
      '2026-04-13T08:15:42.123Z',
    ],
  ])('%j makes the start %s', async (sent, start) => {
    const id = await bench.event(FULL_EVENT);
    expect((await bench.putMetadata(id, sent)).status).toBe(204);
    const row = bench.app.database.selectFrom('events').select('start_date').where('id', '=', id);
    expect((await row.executeTakeFirstOrThrow()).start_date.toISOString()).toBe(start);
  });

  test('the complete list of GET can be written back, read-only fields included, and changes nothing', async () => {
    const series_id = await createSeries(bench.app);
    for (const id of [
      await bench.event({ ...FULL_EVENT, series_id }),
      await bench.event({ ...FULL_EVENT, duration: null, series_id: 'gone' }),
    ]) {
      const before = await traceOf(bench.app, id);
      expect(await bench.putMetadata(id, await bench.fields(id))).toMatchObject({ status: 204 });
      const shown = JSON.parse((await send(bench.app, 'GET', `/api/events/${id}?withmetadata=true`)).text);
      expect(await bench.putMetadata(id, shown.metadata.at(-1).fields)).toMatchObject({ status: 204 });
      expect(await traceOf(bench.app, id)).toEqual(before);
    }
  });

  test('read-only fields are ignored', async () => {
    const id = await bench.event(FULL_EVENT);
    const before = await traceOf(bench.app, id);
    const sent = ['created', 'publisher', 'identifier'].map((id) => ({ id, value: 'other' }));
    expect((await bench.putMetadata(id, sent)).status).toBe(204);
    expect(await traceOf(bench.app, id)).toEqual(before);
  });

  test('subject is a string with commas, subjects an array', async () => {
    const id = await bench.event(FULL_EVENT);
    expect((await bench.putMetadata(id, [{ id: 'subject', value: 'a, b' }])).status).toBe(204);
    expect((await bench.values(id)).subjects).toEqual(['a', 'b']);
  });

  test('a catalog of the configuration keeps the fields that are not listed', async () => {
    const id = await bench.event(FULL_EVENT);
    expect((await bench.putMetadata(id, [{ id: 'licensor', value: 'Ada' }], 'LICENSE/episode')).status).toBe(
      204,
    );
    expect((await bench.putMetadata(id, [{ id: 'permits', value: ['copy', 'mix'] }], LICENSE)).status).toBe(
      204,
    );
    expect(await bench.values(id, LICENSE)).toEqual({ licensor: 'Ada', permits: ['copy', 'mix'] });
    expect(await bench.version(id)).toBe(2);
    expect((await bench.putMetadata(id, await bench.fields(id, LICENSE), LICENSE)).status).toBe(204);
    expect(await bench.version(id)).toBe(2);
  });

  test('204 while a workflow runs', async () => {
    const id = await bench.event({ ...FULL_EVENT, processing_state: 'RUNNING' });
    expect((await bench.putMetadata(id, [{ id: 'title', value: 'Renamed' }])).status).toBe(204);
    expect((await bench.values(id)).title).toBe('Renamed');
  });

  test('user names among the presenters become the names of the people', async () => {
    await bench.app.database
      .insertInto('accounts')
      .values({ username: 'grace', name: 'Grace H.', password_hash: '' })
      .execute();
    const id = await bench.event(FULL_EVENT);
    expect((await bench.putMetadata(id, [{ id: 'creator', value: ['grace', 'somebody'] }])).status).toBe(204);
    expect((await bench.values(id)).creator).toEqual(['Grace H.', 'somebody']);
  });
});
