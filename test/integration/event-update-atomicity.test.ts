import { expect, test } from 'vitest';
import { EventBench } from '../support/event-bench.ts';
import { giveAcl, sendForm, traceOf } from '../support/event-writes.ts';
import { field, type Part } from '../support/form.ts';
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

const NEW_ACL = [ace('ROLE_NEW'), ace('ROLE_WRITER', 'write')];
const PROCESSED = "Processing can't be updated for events that are already uploaded.";

/** Parts that cannot be applied, each with the answer it gets; the others of the same request are good. */
const BAD: [
  name: string,
  part: Part,
  sentence: string | RegExp,
  values?: Parameters<EventBench['event']>[0],
][] = [
  ['an ACL that is no JSON', field('acl', '['), 'Unable to parse acl'],
  ['an ACL entry without an action', acl({ role: 'ROLE_A' }), 'Unable to parse acl'],
  [
    'an ACL while a workflow is active',
    acl(ace('ROLE_A')),
    'Unable to update the ACL of this event as it is currently processing.',
    { processing_state: 'PAUSED' },
  ],
  ['metadata that are no JSON', field('metadata', '{'), /^Unable to parse event metadata because: '/],
  [
    'a catalog nobody knows',
    metadata({ title: 'x' }, 'a/b'),
    "Unable to find an EventCatalogUIAdapter with Flavor 'a/b'",
  ],
  [
    'an empty title',
    metadata({ title: '' }),
    "The event metadata field with id 'title' and the metadata type 'TEXT' is required and can not be empty!.",
  ],
  [
    'a series that does not exist',
    metadata({ title: 'x', isPartOf: 'nowhere' }),
    'Unable to retrieve series dublincore catalog for the series nowhere',
  ],
  [
    'an impossible date',
    metadata({ title: 'x', startDate: '2026-02-30' }),
    /^Unable to parse event metadata because: '/,
  ],
  ['processing that is no JSON', field('processing', '{'), 'Unable to parse processing configuration'],
  ['processing without a workflow', field('processing', '{}'), PROCESSED],
  ['processing', field('processing', '{"workflow":"fast"}'), PROCESSED],
  ['scheduling that is no JSON', field('scheduling', '{'), 'Unable to parse scheduling information'],
  ['scheduling without an end', field('scheduling', '{}'), "Either 'end' or 'duration' must be specified"],
  [
    'scheduling of an event that was never scheduled',
    field('scheduling', '{"agent_id":"hall","start":"2030-01-07T09:00:00Z","duration":1000}'),
    "The part 'scheduling' is for events that are scheduled; this one is not.",
  ],
];

test.each(BAD)(
  '%s is refused with 400, and the good parts beside it change nothing',
  async (_name, bad, sentence, values) => {
    const id = await event(values);
    const before = await traceOf(bench.app, id);
    const good = [metadata({ title: 'After', creator: ['Ada'] }), acl(...NEW_ACL)].filter(
      ({ name }) => name !== bad.name,
    );
    for (const parts of [
      [...good, bad],
      [bad, ...good],
    ]) {
      const answer = await update(id, parts);
      expect(answer).toMatchObject({ status: 400, type: 'text/plain; charset=utf-8' });
      if (typeof sentence === 'string') expect(answer.text).toBe(sentence);
      else expect(answer.text).toMatch(sentence);
      expect(await traceOf(bench.app, id)).toEqual(before);
    }
  },
);

test('version 1.0.0 does not know the part scheduling and ignores it', async () => {
  const id = await event();
  const parts = [field('scheduling', '{'), metadata({ title: 'After' })];
  expect((await update(id, parts, { Accept: 'application/v1.0.0+json' })).status).toBe(204);
  expect((await bench.read(`/api/events/${id}?withacl=true`)).title).toBe('After');
});

test('a series that must not be seen is answered like one that does not exist', async () => {
  const id = await event();
  const hidden = await createSeries(bench.app, {}, [ace('ROLE_OTHER')]);
  const open = await createSeries(bench.app, { title: 'Open' }, [ace('ROLE_WRITER')]);
  expect(await update(id, [metadata({ isPartOf: hidden })], bench.writer)).toMatchObject({
    status: 400,
    text: `Unable to retrieve series dublincore catalog for the series ${hidden}`,
  });
  expect((await update(id, [metadata({ isPartOf: open })], bench.writer)).status).toBe(204);
  expect(await bench.read(`/api/events/${id}?withacl=true`)).toMatchObject({
    is_part_of: open,
    series: 'Open',
  });
});

test('an event may keep a series that is gone or hidden from who updates it', async () => {
  const hidden = await createSeries(bench.app, {}, [ace('ROLE_OTHER')]);
  for (const series_id of [hidden, 'gone']) {
    const id = await event({ series_id });
    expect((await update(id, [metadata({ title: 'After', isPartOf: series_id })], bench.writer)).status).toBe(
      204,
    );
    expect(await bench.read(`/api/events/${id}?withacl=true`)).toMatchObject({
      title: 'After',
      is_part_of: series_id,
    });
  }
});

test('events that change places between series at once, while these change their ACLs, all arrive', async () => {
  const [a, b] = [
    await createSeries(bench.app, {}, [ace('ROLE_A')]),
    await createSeries(bench.app, {}, [ace('ROLE_B')]),
  ];
  const id = await event({ series_id: a });
  await giveAcl(bench.app, id, []);
  const seriesAcl = (series: string, role: string) =>
    send(bench.app, 'PUT', `/api/series/${series}/acl`, { acl: JSON.stringify([ace(role)]) });
  for (let round = 0; round < 5; round += 1) {
    const answers = await Promise.all([
      update(id, [metadata({ isPartOf: b })]),
      seriesAcl(a, `ROLE_A${round}`),
      update(id, [metadata({ isPartOf: a })]),
      seriesAcl(b, `ROLE_B${round}`),
      update(id, [metadata({ isPartOf: b, title: `Round ${round}` })]),
    ]);
    expect(answers.filter(({ status }) => status >= 400)).toEqual([]);
  }
  const row = bench.app.database
    .selectFrom('events')
    .select(['series_id', 'read_roles'])
    .where('id', '=', id);
  const { series_id, read_roles } = await row.executeTakeFirstOrThrow();
  expect(read_roles).toEqual([series_id === a ? 'ROLE_A4' : 'ROLE_B4']);
});
