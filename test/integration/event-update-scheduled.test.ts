import { describe, expect, test } from 'vitest';
import { EventBench } from '../support/event-bench.ts';
import { traceOf } from '../support/event-writes.ts';
import { field, type Part } from '../support/form.ts';
import type { ScheduleValues } from '../support/scheduled-event.ts';
import { newAgent, type SchedulingJson, update } from '../support/scheduling.ts';
import { ace, catalogOf, createSeries } from '../support/series.ts';

const bench = EventBench.forThisFile();

const START = '2030-01-07T09:00:00Z';
const END = '2030-01-07T10:00:00Z';
const HOUR_MS = 3_600_000;

const scheduled = bench.scheduled.bind(bench);

const send = async (id: string, parts: readonly Part[], headers: Record<string, string> = {}) => {
  const answer = await update(bench.app, id, parts, headers);
  return { status: answer.status, text: await answer.text() };
};
const scheduling = (change: SchedulingJson | string) =>
  field('scheduling', typeof change === 'string' ? change : JSON.stringify(change));
const metadata = (values: Record<string, unknown>) =>
  field('metadata', catalogOf(values, 'dublincore/episode'));
const processing = (workflow: string, configuration: Record<string, string> = {}) =>
  field('processing', JSON.stringify({ workflow, configuration }));
const read = (id: string) => bench.read<SchedulingJson>(`/api/events/${id}/scheduling`);
const event = (id: string) => bench.read(`/api/events/${id}?withacl=true&withmetadata=true`);

/** Everything of a scheduled event, its schedule as it is stored included. */
async function everything(id: string): Promise<unknown> {
  const schedule = bench.app.database.selectFrom('schedules').selectAll().where('event_id', '=', id);
  return [await traceOf(bench.app, id), await schedule.execute()];
}

const stored = async (id: string) => {
  const schedule = bench.app.database
    .selectFrom('schedules')
    .select(['workflow', 'configuration'])
    .where('event_id', '=', id);
  return schedule.executeTakeFirstOrThrow();
};

describe('POST /api/events/{id} for an event whose recording is still to come', () => {
  test('metadata, ACL, processing and scheduling change together, as one version', async () => {
    const id = await scheduled();
    const agent_id = newAgent();
    const parts = [
      metadata({ title: 'After', creator: ['Ada'] }),
      field('acl', JSON.stringify([ace('ROLE_NEW')])),
      processing('publish', { flagForCutting: 'true' }),
      scheduling({ agent_id, start: '2030-01-08T09:00:00Z', duration: 2 * HOUR_MS, inputs: ['camera'] }),
    ];
    expect(await send(id, parts)).toEqual({ status: 204, text: '' });
    expect(await event(id)).toMatchObject({
      title: 'After',
      presenter: ['Ada'],
      acl: [ace('ROLE_NEW')],
      start: '2030-01-08T09:00:00Z',
      created: '2030-01-08T09:00:00Z',
      duration: 2 * HOUR_MS,
      location: agent_id,
      processing_state: '',
      status: 'EVENTS.EVENTS.STATUS.SCHEDULED',
      archive_version: 1,
    });
    expect(await read(id)).toEqual({
      agent_id,
      start: '2030-01-08T09:00:00Z',
      end: '2030-01-08T11:00:00Z',
      inputs: ['camera'],
    });
    expect(await stored(id)).toEqual({ workflow: 'publish', configuration: { flagForCutting: 'true' } });
  });

  test('the parts may come in any order: the schedule has the last word about the start', async () => {
    for (const turn of [(parts: Part[]) => parts, (parts: Part[]) => parts.reverse()]) {
      const id = await scheduled();
      const parts = [
        metadata({ startDate: '2029-05-01' }),
        scheduling({ start: '2030-01-09T09:00:00Z', duration: HOUR_MS }),
      ];
      expect((await send(id, turn(parts))).status).toBe(204);
      expect((await event(id)).start).toBe('2030-01-09T09:00:00Z');
    }
  });

  test('the bibliographic start may be another than the technical one', async () => {
    const id = await scheduled();
    expect((await send(id, [metadata({ startDate: '2029-05-01', startTime: '08:00:00Z' })])).status).toBe(
      204,
    );
    expect((await event(id)).start).toBe('2029-05-01T08:00:00Z');
    expect(await read(id)).toMatchObject({ start: START, end: END });
  });

  test('it may join a series and be moved with one request', async () => {
    const series = await createSeries(bench.app, { title: 'Analysis' }, [ace('ROLE_WRITER')]);
    const id = await scheduled();
    const parts = [metadata({ isPartOf: series }), scheduling({ duration: 2 * HOUR_MS })];
    expect((await send(id, parts, bench.writer)).status).toBe(204);
    expect(await event(id)).toMatchObject({ is_part_of: series, duration: 2 * HOUR_MS });
  });

  test.each<[string, (id: string) => Promise<Part[]>]>([
    ['the scheduling that a GET returned', async (id) => [scheduling(await read(id))]],
    ['the processing it has', async () => [processing('schedule-and-upload')]],
    ['an empty scheduling', async () => [field('scheduling', '')]],
  ])('204 for %s, which changes nothing', async (_, parts) => {
    const id = await scheduled({ inputs: ['camera'] });
    const before = await everything(id);
    expect((await send(id, await parts(id))).status).toBe(204);
    expect(await everything(id)).toEqual(before);
  });

  test.each([
    ['text that is no JSON', '{', 'Unable to parse scheduling information'],
    ['a list', '[]', 'Unable to parse scheduling information'],
    ['neither end nor duration', `{"start":"${START}"}`, "Either 'end' or 'duration' must be specified"],
    ['both of them', `{"end":"${END}","duration":1000}`, /end.*duration/],
    ['a date that is none', '{"end":"tomorrow"}', /^Unparsable date in scheduling information/],
    ['an end before the start', '{"end":"2030-01-07T08:00:00Z"}', /end/],
    [
      'an unknown agent with a slash',
      `{"agent_id":"a/b","end":"${END}"}`,
      /^Unable to parse device: .*agent_id/,
    ],
  ])('400 for scheduling with %s, and the good parts beside it change nothing', async (_, bad, sentence) => {
    const id = await scheduled();
    const before = await everything(id);
    const parts = [metadata({ title: 'After' }), processing('publish'), scheduling(bad)];
    expect(await send(id, parts)).toEqual({
      status: 400,
      text: typeof sentence === 'string' ? sentence : expect.stringMatching(sentence),
    });
    expect(await everything(id)).toEqual(before);
  });

  test('400 for processing without a workflow', async () => {
    const id = await scheduled();
    const before = await everything(id);
    expect(await send(id, [metadata({ title: 'After' }), field('processing', '{}')])).toEqual({
      status: 400,
      text: 'No workflow template in metadata',
    });
    expect(await everything(id)).toEqual(before);
  });

  test('409 with what is in the way, and nothing of the other parts is applied', async () => {
    const agent_id = newAgent();
    await scheduled({ agent_id, start: END, end: '2030-01-07T11:00:00Z' }, { title: 'Next' });
    const id = await scheduled({ agent_id });
    const before = await everything(id);
    const parts = [
      metadata({ title: 'After' }),
      field('acl', '[]'),
      processing('publish'),
      scheduling({ duration: HOUR_MS + 1 }),
    ];
    const { status, text } = await send(id, parts);
    expect([status, JSON.parse(text)]).toEqual([
      409,
      [{ start: END, end: '2030-01-07T11:00:00Z', title: 'Next' }],
    ]);
    expect(await everything(id)).toEqual(before);
  });

  test('allowConflict has no effect here', async () => {
    const agent_id = newAgent();
    await scheduled({ agent_id, start: END, end: '2030-01-07T11:00:00Z' });
    const id = await scheduled({ agent_id });
    const parts = [scheduling({ duration: 2 * HOUR_MS }), field('allowConflict', 'true')];
    expect((await send(id, parts)).status).toBe(409);
  });

  test('an empty 401 for somebody who may only read', async () => {
    const id = await scheduled();
    const before = await everything(id);
    expect(await send(id, [scheduling({ duration: 1000 })], bench.reader)).toEqual({ status: 401, text: '' });
    expect(await everything(id)).toEqual(before);
  });

  test('version 1.0.0 does not know the part scheduling and ignores it', async () => {
    const id = await scheduled();
    const parts = [scheduling('{'), metadata({ title: 'After' })];
    expect((await send(id, parts, { Accept: 'application/v1.0.0+json' })).status).toBe(204);
    expect((await event(id)).title).toBe('After');
    expect(await read(id)).toMatchObject({ start: START, end: END });
  });

  test('of many updates at once that move it, every one is answered and the last is kept whole', async () => {
    const id = await scheduled();
    const hours = Array.from({ length: 10 }, (_, i) => i + 1);
    const answers = await Promise.all(
      hours.map((hour) =>
        send(id, [metadata({ title: `${hour}` }), scheduling({ duration: hour * HOUR_MS })]),
      ),
    );
    for (const { status } of answers) expect(status).toBe(204);
    const { title, duration } = await event(id);
    expect(duration).toBe(Number(title) * HOUR_MS);
  });
});

describe('POST /api/events/{id} for an event whose recording has begun', () => {
  const BEGUN = "Scheduling can't be changed for events whose recording has begun.";
  const UPLOADED = "Processing can't be updated for events that are already uploaded.";

  test.each<[string, Partial<ScheduleValues>, { processing_state?: string }]>([
    ['is recorded', { recording_state: 'capturing' }, {}],
    ['is uploaded', { recording_state: 'upload_finished' }, {}],
    ['is processed', {}, { processing_state: 'RUNNING' }],
    ['has been processed', {}, { processing_state: 'SUCCEEDED' }],
  ])(
    '400 for scheduling and processing while it %s; what changes nothing is 204',
    async (_, schedule, values) => {
      const id = await scheduled(schedule, values);
      const before = await everything(id);
      expect(await send(id, [metadata({ title: 'After' }), scheduling({ duration: 1000 })])).toEqual({
        status: 400,
        text: BEGUN,
      });
      expect(await send(id, [metadata({ title: 'After' }), processing('publish')])).toEqual({
        status: 400,
        text: UPLOADED,
      });
      expect((await send(id, [scheduling(await read(id))])).status).toBe(204);
      expect(await everything(id)).toEqual(before);
      expect((await send(id, [metadata({ title: 'After' })])).status).toBe(204);
    },
  );
});

test('400 for scheduling of an event that was never scheduled, which stays so', async () => {
  const id = await bench.event();
  const before = await traceOf(bench.app, id);
  const parts = [metadata({ title: 'After' }), scheduling({ agent_id: newAgent(), start: START, end: END })];
  const { status, text } = await send(id, parts);
  expect([status, text]).toEqual([400, expect.stringContaining('scheduling')]);
  expect(await traceOf(bench.app, id)).toEqual(before);
});
