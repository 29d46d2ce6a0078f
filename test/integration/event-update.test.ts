import { describe, expect, test } from 'vitest';
import { bytes } from '../support/bytes.ts';
import { BENCH_ACL, EventBench } from '../support/event-bench.ts';
import { traceOf } from '../support/event-writes.ts';
import { field, file, form, type Part } from '../support/form.ts';
import { untilOneWaits } from '../support/lock-waits.ts';
import { insertPublication } from '../support/publication.ts';
import type { ScheduleValues } from '../support/scheduled-event.ts';
import { newAgent } from '../support/scheduling.ts';
import { ace, catalogOf, catalogsOf, createSeries, send } from '../support/series.ts';

const bench = EventBench.forThisFile({ own: false });

const START = '2030-01-07T09:00:00Z';
const END = '2030-01-07T10:00:00Z';
const HOUR_MS = 3_600_000;
const PROCESSED = "Processing can't be updated for events that are already uploaded.";
const VERSION_1_0 = { Accept: 'application/v1.0.0+json' };

const event = (values: Parameters<EventBench['event']>[0] = {}) =>
  bench.event({
    title: 'Before',
    description: 'Stays',
    start_date: new Date('2026-04-13T08:15:42Z'),
    processing_state: 'SUCCEEDED',
    ...values,
  });
const scheduled = bench.scheduled.bind(bench);
const update = bench.update.bind(bench);
const shown = (id: string) => bench.read(`/api/events/${id}?withacl=true`);
const schedulingOf = (id: string) => bench.read(`/api/events/${id}/scheduling`);

const part = (name: string, value: unknown) => field(name, typeof value === 'string' ? value : JSON.stringify(value));
const metadata = (values: Record<string, unknown>, flavor = 'dublincore/episode') =>
  field('metadata', catalogOf(values, flavor));
const acl = (...entries: unknown[]) => part('acl', entries);
const scheduling = (change: unknown) => part('scheduling', change);
const processing = (workflow: string, configuration = {}) => part('processing', { workflow, configuration });
const AFTER = metadata({ title: 'After' });

/** Everything of an event, its schedule as it is stored included. */
async function everything(id: string): Promise<unknown> {
  const schedule = bench.app.database.selectFrom('schedules').selectAll().where('event_id', '=', id);
  return [await traceOf(bench.app, id), await schedule.execute()];
}

/** Expects that a request leaves no trace on the event. */
async function unchanged<T>(id: string, request: () => Promise<T>): Promise<T> {
  const before = await everything(id);
  const answer = await request();
  expect(await everything(id)).toEqual(before);
  return answer;
}

const post = (id: string, type: string, body: BodyInit) =>
  bench.app.request(`/api/events/${id}`, {
    method: 'POST',
    headers: { 'Content-Type': type },
    body,
    duplex: 'half',
  } as RequestInit);

describe('POST /api/events/{id}', () => {
  test('204 without a body; only the given fields of the catalog change', async () => {
    const id = await event();
    const before = await shown(id);
    const parts = [metadata({ title: 'After', creator: ['Ada'] })];
    expect(await update(id, parts)).toMatchObject({ status: 204, text: '' });
    expect(await shown(id)).toEqual({ ...before, title: 'After', presenter: ['Ada'], archive_version: 1 });
  });

  test('an empty ACL opens the event to nobody, whatever its series grants', async () => {
    const series_id = await createSeries(bench.app, {}, [ace('ROLE_READER')]);
    const id = await event({ series_id });
    expect((await update(id, [acl()])).status).toBe(204);
    expect((await bench.send('GET', id, '', undefined, bench.reader)).status).toBe(404);
  });

  test('metadata, further catalogs and the ACL change together, as one version', async () => {
    const id = await event();
    const license = { licensor: 'Ada' };
    const catalogs = catalogsOf({ 'dublincore/episode': { title: 'After' }, 'License/Episode': license });
    const parts = [field('metadata', catalogs), acl({ role: 'ROLE_A', action: 'read', allow: false })];
    expect((await update(id, parts)).status).toBe(204);
    expect(await shown(id)).toMatchObject({ title: 'After', acl: [ace('ROLE_A')], archive_version: 1 });
    expect(await bench.values(id, 'license/episode')).toMatchObject({ licensor: 'Ada' });
  });

  test('all catalogs may be written back as they are shown, also one that was never stored', async () => {
    const id = await event();
    const { text } = await bench.send('GET', id, '/metadata');
    expect(text).toContain('license/episode');
    const answer = await unchanged(id, () => update(id, [field('metadata', text)]));
    expect(answer.status).toBe(204);
  });

  test.each([
    ['nothing', []],
    ['an ACL under the wrong name', [field('acls', '[{"allow":true,"action":"read","role":"ROLE_X"}]')]],
    ['empty parts', ['acl', 'metadata', 'processing', 'scheduling'].map((name) => field(name, ''))],
    ['JSON sent as a file', [file('acl', 'acl.json', Buffer.from('[]'))]],
    ['what the event holds already', [metadata({ title: 'Before' }), acl(...BENCH_ACL)]],
  ])('204 for %s, which changes nothing', async (_name, parts) => {
    const id = await event();
    expect((await unchanged(id, () => update(id, parts))).status).toBe(204);
  });

  test('metadata may change while a workflow runs, and what is published stays as it is', async () => {
    const id = await event({ processing_state: 'RUNNING' });
    const publication = await insertPublication(bench.app.database, id);
    expect((await update(id, [AFTER])).status).toBe(204);
    expect((await shown(id)).title).toBe('After');
    const rows = bench.app.database.selectFrom('publications').select('id').where('event_id', '=', id);
    expect(await rows.execute()).toEqual([{ id: publication }]);
    expect(await bench.workflows(id)).toEqual([]);
  });

  test('404 for an event that is not there or must not be seen, whatever is sent', async () => {
    for (const id of ['nowhere', await event()]) {
      const answer = { status: 404, text: `Cannot find an event with id '${id}'.` };
      expect(await update(id, [field('acl', '[')], bench.stranger)).toMatchObject(answer);
      expect(await bench.send('POST', id, '', {}, bench.stranger)).toMatchObject(answer);
    }
  });

  test('404 for a metadata field that its catalog does not have', async () => {
    const id = await event();
    const text = `Cannot find an event with id '${id}'.`;
    expect(await update(id, [metadata({ colour: 'red' })])).toMatchObject({ status: 404, text });
  });

  test.each([
    ['that awaits no recording', event, AFTER],
    ['that is scheduled', scheduled, scheduling({ duration: 1000 })],
  ])('an empty 401 with the right to read alone, for an event %s', async (_name, make, sent) => {
    const id = await make();
    const answer = await unchanged(id, () => update(id, [sent], bench.reader));
    expect(answer).toMatchObject({ status: 401, text: '' });
  });

  test('400 without a multipart form', async () => {
    const id = await event();
    for (const answer of [
      await post(id, 'application/x-www-form-urlencoded', 'acl=[]'),
      await post(id, 'application/json', 'acl=[]'),
      await bench.app.request(`/api/events/${id}`, { method: 'POST' }),
    ])
      expect([answer.status, await answer.text()]).toEqual([400, 'No multipart content']);
  });

  test('a form that breaks off is refused and changes nothing', async () => {
    const id = await event();
    const { type, body } = form([AFTER, file('presenter', 'a.mp4', bytes(5000))]);
    const answer = await unchanged(id, () => post(id, type, body.subarray(0, body.length - 1000)));
    expect(answer.status).toBe(400);
    expect(await answer.text()).toMatch(/^The multipart form is broken or was cut short/);
  });
});

const TITLE_NEEDED =
  "The event metadata field with id 'title' and the metadata type 'TEXT' is required and can not be empty!.";
const UNPARSED = /^Unable to parse event metadata because: '/;
const PROCESSING = 'Unable to update the ACL of this event as it is currently processing.';
const NO_SCHEDULING = 'Unable to parse scheduling information';
const NO_END = "Either 'end' or 'duration' must be specified";
const noSeries = (id: string) => `Unable to retrieve series dublincore catalog for the series ${id}`;
const paused = () => event({ processing_state: 'PAUSED' });

/** Parts that cannot be applied, each with the answer it gets; the others of the same request are good. */
const BAD: [name: string, bad: Part, sentence: string | RegExp, make?: () => Promise<string>][] = [
  ['an ACL that is no JSON', field('acl', '['), 'Unable to parse acl'],
  ['an ACL that is null', field('acl', 'null'), 'Unable to parse acl'],
  ['an ACL entry without an action', acl({ role: 'ROLE_A' }), 'Unable to parse acl'],
  ['an ACL while a workflow is active', acl(ace('ROLE_A')), PROCESSING, paused],
  ['metadata that are no JSON', field('metadata', '{'), UNPARSED],
  ['an unknown catalog', metadata({}, 'a/b'), "Unable to find an EventCatalogUIAdapter with Flavor 'a/b'"],
  ['an empty title', metadata({ title: '' }), TITLE_NEEDED],
  ['a series that does not exist', metadata({ title: 'x', isPartOf: 'nowhere' }), noSeries('nowhere')],
  ['an impossible date', metadata({ title: 'x', startDate: '2026-02-30' }), UNPARSED],
  ['processing that is no JSON', field('processing', '{'), 'Unable to parse processing configuration'],
  ['processing without a workflow', field('processing', '{}'), PROCESSED],
  ['processing', field('processing', '{"workflow":"fast"}'), PROCESSED],
  ['scheduling that is no JSON', scheduling('{'), NO_SCHEDULING],
  ['scheduling without an end', scheduling('{}'), NO_END],
  ['processing without a workflow', field('processing', '{}'), 'No workflow template in metadata', scheduled],
  ['scheduling that is no JSON', scheduling('{'), NO_SCHEDULING, scheduled],
  ['scheduling with a start alone', scheduling({ start: START }), NO_END, scheduled],
  ['scheduling without a date', scheduling({ end: 'tomorrow' }), /^Unparsable date in scheduling/, scheduled],
  ['scheduling that ends before it starts', scheduling({ end: '2030-01-07T08:00:00Z' }), /end/, scheduled],
  ['an agent with a slash', scheduling({ agent_id: 'a/b', end: END }), /^Unable.* device: .*agent_id/, scheduled],
];

/** Sends a bad part before and after good ones, and expects that none is applied. */
async function expectRefused(id: string, bad: Part, sentence: string | RegExp): Promise<void> {
  const all = [metadata({ title: 'After', creator: ['Ada'] }), acl(ace('ROLE_WRITER', 'write'))];
  const good = all.filter(({ name }) => name !== bad.name);
  for (const parts of [
    [...good, bad],
    [bad, ...good],
  ]) {
    const answer = await unchanged(id, () => update(id, parts));
    expect(answer).toMatchObject({ status: 400, type: 'text/plain; charset=utf-8' });
    if (typeof sentence === 'string') expect(answer.text).toBe(sentence);
    else expect(answer.text).toMatch(sentence);
  }
}

test.each(BAD)(
  '%s is refused with 400, and the good parts beside it change nothing',
  async (_name, bad, sentence, make = event) => expectRefused(await make(), bad, sentence),
);

test('400 for scheduling of an event that was never scheduled, which stays so', async () => {
  const change = { agent_id: newAgent(), start: START, duration: 1000 };
  const sentence = "The part 'scheduling' is for events that are scheduled; this one is not.";
  await expectRefused(await event(), scheduling(change), sentence);
});

test('a series that must not be seen is answered like one that does not exist', async () => {
  const id = await event();
  const hidden = await createSeries(bench.app, {}, [ace('ROLE_OTHER')]);
  const open = await createSeries(bench.app, { title: 'Open' }, [ace('ROLE_WRITER')]);
  const refused = await update(id, [metadata({ isPartOf: hidden })], bench.writer);
  expect(refused).toMatchObject({ status: 400, text: noSeries(hidden) });
  expect((await update(id, [metadata({ isPartOf: open })], bench.writer)).status).toBe(204);
  expect(await shown(id)).toMatchObject({ is_part_of: open, series: 'Open' });
});

test('an event may keep a series that is deleted or that the client must not see', async () => {
  const hidden = await createSeries(bench.app, {}, [ace('ROLE_OTHER')]);
  for (const series_id of [hidden, 'gone']) {
    const id = await event({ series_id });
    const parts = [metadata({ title: 'After', isPartOf: series_id })];
    expect((await update(id, parts, bench.writer)).status).toBe(204);
    expect(await shown(id)).toMatchObject({ title: 'After', is_part_of: series_id });
  }
});

test('concurrent moves of an event between series, while these change their ACLs, all succeed', async () => {
  const a = await createSeries(bench.app, {}, [ace('ROLE_A')]);
  const b = await createSeries(bench.app, {}, [ace('ROLE_B')]);
  const id = await bench.event({ series_id: a }, []);
  const seriesAcl = (series: string, role: string) =>
    send(bench.app, 'PUT', `/api/series/${series}/acl`, { acl: JSON.stringify([ace(role)]) });
  for (let round = 0; round < 3; round += 1) {
    const answers = await Promise.all([
      update(id, [metadata({ isPartOf: b })]),
      seriesAcl(a, `ROLE_A${round}`),
      update(id, [metadata({ isPartOf: a })]),
      seriesAcl(b, `ROLE_B${round}`),
      update(id, [metadata({ isPartOf: b, title: `Round ${round}` })]),
    ]);
    expect(answers.filter(({ status }) => status >= 400)).toEqual([]);
  }
  const row = bench.app.database.selectFrom('events').select(['series_id', 'read_roles']).where('id', '=', id);
  const { series_id, read_roles } = await row.executeTakeFirstOrThrow();
  expect(read_roles).toEqual([series_id === a ? 'ROLE_A2' : 'ROLE_B2']);
});

describe('POST /api/events/{id} for an event whose recording is still to come', () => {
  test('metadata, ACL, processing and scheduling change together, as one version', async () => {
    const isPartOf = await createSeries(bench.app, {}, [ace('ROLE_WRITER')]);
    const id = await scheduled();
    const agent_id = newAgent();
    const [start, end] = ['2030-01-08T09:00:00Z', '2030-01-08T11:00:00Z'];
    const parts = [
      metadata({ title: 'After', creator: ['Ada'], isPartOf }),
      acl(ace('ROLE_NEW')),
      processing('publish', { flagForCutting: 'true' }),
      scheduling({ agent_id, start, duration: 2 * HOUR_MS, inputs: ['camera'] }),
    ];
    expect(await update(id, parts, bench.writer)).toMatchObject({ status: 204, text: '' });
    expect(await shown(id)).toMatchObject({
      ...{ title: 'After', presenter: ['Ada'], is_part_of: isPartOf, acl: [ace('ROLE_NEW')] },
      ...{ start, created: start, duration: 2 * HOUR_MS, location: agent_id, archive_version: 1 },
      ...{ processing_state: '', status: 'EVENTS.EVENTS.STATUS.SCHEDULED' },
    });
    expect(await schedulingOf(id)).toEqual({ agent_id, start, end, inputs: ['camera'] });
    const schedule = bench.app.database.selectFrom('schedules').select(['workflow', 'configuration']);
    expect(await schedule.where('event_id', '=', id).execute()).toEqual([
      { workflow: 'publish', configuration: { flagForCutting: 'true' } },
    ]);
  });

  test('the schedule decides about the start, in whatever order the parts come', async () => {
    const parts = [
      metadata({ startDate: '2029-05-01' }),
      scheduling({ start: '2030-01-09T09:00:00Z', duration: HOUR_MS }),
    ];
    for (const sent of [parts, parts.toReversed()]) {
      const id = await scheduled();
      expect((await update(id, sent)).status).toBe(204);
      expect((await shown(id)).start).toBe('2030-01-09T09:00:00Z');
    }
  });

  test('the bibliographic start may be another than the technical one', async () => {
    const id = await scheduled();
    const start = { startDate: '2029-05-01', startTime: '08:00:00Z' };
    expect((await update(id, [metadata(start)])).status).toBe(204);
    expect((await shown(id)).start).toBe('2029-05-01T08:00:00Z');
    expect(await schedulingOf(id)).toMatchObject({ start: START, end: END });
  });

  test.each<[string, (id: string) => Promise<Part[]>]>([
    ['the scheduling that a GET returned', async (id) => [scheduling(await schedulingOf(id))]],
    ['the processing it has', async () => [processing('schedule-and-upload')]],
    ['an empty scheduling', async () => [field('scheduling', '')]],
  ])('204 for %s, which changes nothing', async (_, parts) => {
    const id = await scheduled({ inputs: ['camera'] });
    expect((await unchanged(id, async () => update(id, await parts(id)))).status).toBe(204);
  });

  test('409 with what is in the way, and nothing of the other parts is applied', async () => {
    const agent_id = newAgent();
    await scheduled({ agent_id, start: END, end: '2030-01-07T11:00:00Z' }, { title: 'Next' });
    const id = await scheduled({ agent_id });
    // allowConflict has no effect here.
    const parts = [AFTER, acl(), processing('publish'), field('allowConflict', 'true')];
    const change = scheduling({ duration: HOUR_MS + 1 });
    const { status, text } = await unchanged(id, () => update(id, [...parts, change]));
    const conflict = { start: END, end: '2030-01-07T11:00:00Z', title: 'Next' };
    expect([status, JSON.parse(text)]).toEqual([409, [conflict]]);
  });

  test('version 1.0.0 does not know the part scheduling and ignores it', async () => {
    for (const id of [await scheduled(), await event()]) {
      expect((await update(id, [scheduling('{'), AFTER], VERSION_1_0)).status).toBe(204);
      expect((await shown(id)).title).toBe('After');
    }
  });

  test('of concurrent updates that move it all succeed, and the last is kept whole', async () => {
    const id = await scheduled();
    const hours = Array.from({ length: 10 }, (_, i) => i + 1);
    const answers = await Promise.all(
      hours.map((hour) => update(id, [metadata({ title: `${hour}` }), scheduling({ duration: hour * HOUR_MS })])),
    );
    for (const { status } of answers) expect(status).toBe(204);
    const { title, duration } = await shown(id);
    expect(duration).toBe(Number(title) * HOUR_MS);
  });
});

describe('POST /api/events/{id} for an event whose recording has begun', () => {
  const BEGUN = "Scheduling can't be changed for events whose recording has begun.";

  test.each<[string, Partial<ScheduleValues>, { processing_state?: string }]>([
    ['is recorded', { recording_state: 'capturing' }, {}],
    ['is uploaded', { recording_state: 'upload_finished' }, {}],
    ['is processed', {}, { processing_state: 'RUNNING' }],
    ['has been processed', {}, { processing_state: 'SUCCEEDED' }],
  ])('400 for scheduling and processing while it %s; what changes nothing is 204', async (_, schedule, values) => {
    const id = await scheduled(schedule, values);
    await unchanged(id, async () => {
      const refused = { status: 400, text: BEGUN };
      expect(await update(id, [AFTER, scheduling({ duration: 1000 })])).toMatchObject(refused);
      const uploaded = { status: 400, text: PROCESSED };
      expect(await update(id, [AFTER, processing('publish')])).toMatchObject(uploaded);
      expect((await update(id, [scheduling(await schedulingOf(id))])).status).toBe(204);
    });
    expect((await update(id, [AFTER])).status).toBe(204);
  });
});

describe('DELETE /api/events/{id}', () => {
  const remove = (id: string, headers = {}) => bench.send('DELETE', id, '', undefined, headers);

  test('204 with the right to write, once; then 404 with the identifier alone', async () => {
    const id = await bench.event();
    expect(await remove(id, bench.writer)).toMatchObject({ status: 204, text: '' });
    expect(await remove(id, bench.writer)).toMatchObject({ status: 404, text: id });
  });

  test('a right to write that goes while the deletion waits is missing', async () => {
    const id = await bench.event();
    const { database } = bench.app;
    const deletion = await database.transaction().execute(async (trx) => {
      await trx.deleteFrom('event_acl').where('event_id', '=', id).where('action', '=', 'write').execute();
      await trx.updateTable('events').set({ own_acl: true }).where('id', '=', id).execute();
      const sent = remove(id, bench.writer);
      await untilOneWaits(database);
      // In a list: a promise by itself would be awaited before the transaction ends.
      return [sent];
    });
    expect(await deletion[0]).toMatchObject({ status: 401, text: 'unauthorized' });
    expect(await bench.version(id)).toBe(0);
  });
});
