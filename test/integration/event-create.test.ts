import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { replaceAcl } from '#access/acl/acl.queries.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { created, post } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { EventBench } from '../support/event-bench.ts';
import { eventFields, field, file, type Part } from '../support/form.ts';
import { untilOneWaits } from '../support/lock-waits.ts';
import { insertEvent } from '../support/publication.ts';
import { ace, catalogOf, catalogsOf, createSeries, send } from '../support/series.ts';
import { guzzlePart, wireForm } from '../support/wire.ts';

const bench = EventBench.forThisFile({ own: false });

const [acl, , processing] = eventFields() as [Part, Part, Part];
const episode = (values: Record<string, unknown>) => catalogOf(values, 'dublincore/episode');
/** The fields of a new event with these catalogs. */
const withCatalogs = (catalogs: Parameters<typeof catalogsOf>[0]) => [
  acl,
  field('metadata', catalogsOf(catalogs)),
  processing,
];
const withValues = (values: Record<string, unknown>) =>
  withCatalogs({ 'dublincore/episode': { title: 'Lecture', ...values } });

async function create(parts: readonly Part[], headers: Record<string, string> = {}): Promise<string> {
  return created(await post(bench.app, parts, headers));
}

/** Creates an event, and fails unless that is refused without a trace. @returns the sentence */
async function refusal(parts: readonly Part[], headers: Record<string, string> = {}): Promise<string> {
  const recording = file('presenter', 'a.mp4', bytes(100));
  const answer = await bench.addingNothing(() => post(bench.app, [...parts, recording], headers));
  expect([answer.status, answer.headers.get('Content-Type')]).toEqual([400, 'text/plain; charset=utf-8']);
  return answer.text();
}

const event = (id: string) => bench.read(`/api/events/${id}`);
const tracks = async (id: string) => (await bench.tracks(id)).map(({ flavor, filename }) => ({ flavor, filename }));

describe('POST /api/events', () => {
  test('answers 201 with Location and the identifier', async () => {
    const answer = await post(bench.app, eventFields(), { Accept: 'application/v1.2.0+json' });
    const text = await answer.text();
    const { identifier } = JSON.parse(text) as { identifier: string };
    expect([answer.status, answer.headers.get('Content-Type')]).toEqual([201, 'application/v1.2.0+json']);
    expect(answer.headers.get('Location')).toBe(`http://inlet.test/api/events/${identifier}`);
    expect(text).toBe(JSON.stringify({ identifier }));
    expect(await event(identifier)).toMatchObject({ identifier });
  });

  test('keeps presenter, presentation and audio apart by their flavors', async () => {
    const names = ['presenter', 'presentation', 'audio'];
    const files = names.map((name) => file(name, `${name}.mp4`, bytes(100)));
    expect(await tracks(await create([...eventFields(), ...files]))).toEqual([
      { flavor: 'presenter/source', filename: 'presenter.mp4' },
      { flavor: 'presentation/source', filename: 'presentation.mp4' },
      { flavor: 'presenter-audio/source', filename: 'audio.mp4' },
    ]);
  });

  test('starts the workflow of processing with its configuration', async () => {
    const configuration = { flagForReview: 'true' };
    const workflows = await bench.workflows(await create(eventFields({ configuration })));
    expect(workflows).toMatchObject([{ definition: 'schedule-and-upload', configuration }]);
  });

  test('takes ACL entries without allow, which allow', async () => {
    const id = await create(eventFields({ acl: [{ role: 'ROLE_A', action: 'read' }] }));
    expect(await bench.acl(id)).toEqual([ace('ROLE_A')]);
  });

  test('takes catalogs with a label, a title or neither', async () => {
    for (const more of [{ label: 'x' }, { title: 'x' }, {}]) {
      const catalog = { ...more, flavor: 'dublincore/episode', fields: [{ id: 'title', value: 'Lecture' }] };
      await create([acl, field('metadata', JSON.stringify([catalog])), processing]);
    }
  });

  const untitled = field('metadata', episode({ title: '' }));
  const asFile = file('acl', 'acl.json', Buffer.from(String(acl.content)));
  const unlicensed = { licensor: '' };
  const licensed = withCatalogs({ 'dublincore/episode': { title: 'x' }, 'license/episode': unlicensed });
  const NO_ACL = 'No access control list available to create new event.';
  const required = (id: string) =>
    `The event metadata field with id '${id}' and the metadata type 'TEXT' is required and can not be empty!.`;

  // Each lacks also what is asked for later. The tests of scheduling have what may be missing, one after the other.
  test.each<[string, Part[], string]>([
    ['an ACL that cannot be read', [field('acl', '[')], 'Unable to parse acl'],
    ['an empty ACL part', [field('acl', ''), untitled], NO_ACL],
    ['an ACL that is a file, as curl can send it', [asFile, untitled], NO_ACL],
    ['an empty title', [acl, untitled, processing], required('title')],
    ['an empty required field of a further catalog', licensed, required('licensor')],
  ])('is 400 for %s, and nothing stays', async (_what, parts, sentence) => {
    expect(await refusal(parts)).toBe(sentence);
  });
});

test.each([
  ['[]', false],
  ['null', true],
])('with the ACL %s the series of a new event opens it: %s', async (list, opens) => {
  const isPartOf = await createSeries(bench.app, {}, [ace('ROLE_READER')]);
  const [, ...rest] = eventFields({ metadata: { isPartOf } });
  const id = await create([field('acl', list), ...rest]);
  expect((await bench.send('GET', id, '', undefined, bench.reader)).status).toBe(opens ? 200 : 404);
  expect(await bench.acl(id)).toEqual(opens ? [ace('ROLE_READER')] : []);
});

test('further catalogs are stored with the event, whose title may be missing', async () => {
  const license = { licensor: 'Ada', permits: ['copy'] };
  const description = 'No title';
  const catalogs = { 'License/Episode': license, 'dublincore/episode': { description } };
  const id = await create(withCatalogs(catalogs));
  expect(await bench.values(id, 'license/episode')).toEqual(license);
  expect(await event(id)).toMatchObject({ title: '', description });
});

test.each([
  [{ startDate: '2026-04-13', startTime: '11:11:00Z' }, '2026-04-13T11:11:00Z'],
  [{ startDate: '2026-04-13T09:30:15Z' }, '2026-04-13T09:30:15Z'],
])('%j starts and is created at %s', async (values, start) => {
  expect(await event(await create(withValues(values)))).toMatchObject({ start, created: start });
});

test('the day of creation may be given, and is refused when it is none', async () => {
  const id = await create(withValues({ startDate: '2026-04-13', created: '2019-12-31T23:30:00.000-01:00' }));
  expect(await event(id)).toMatchObject({ start: '2026-04-13T00:00:00Z', created: '2020-01-01T00:30:00Z' });
  for (const value of ['soon', '0001-01-01T00:00:00+02:00']) {
    const sentence = `the value of 'created' is "${value}"`;
    expect(await refusal(withValues({ created: value }))).toContain(sentence);
  }
});

test('an identifier that no address could hold is refused', async () => {
  for (const identifier of ['.', '..', 'a b', 'ü']) {
    const sentence = `the value of 'identifier' is "${identifier}"`;
    expect(await refusal(withValues({ identifier }))).toContain(sentence);
  }
});

test('a workflow without a configuration takes its defaults', async () => {
  for (const configuration of [undefined, null, {}]) {
    const started = field('processing', JSON.stringify({ workflow: 'schedule-and-upload', configuration }));
    await create([...withValues({}).slice(0, 2), started]);
  }
});

test('a series that must not be seen is answered like one that does not exist, and nothing stays', async () => {
  const hidden = await createSeries(bench.app, {}, [ace('ROLE_OTHER')]);
  const open = await createSeries(bench.app, {}, [ace('ROLE_WRITER')]);
  for (const isPartOf of [hidden, 'nowhere']) {
    const sentence = `Unable to retrieve series dublincore catalog for the series ${isPartOf}`;
    expect(await refusal(withValues({ isPartOf }), bench.writer)).toBe(sentence);
  }
  const id = await create(withValues({ isPartOf: open }), bench.writer);
  expect(await event(id)).toMatchObject({ is_part_of: open });
});

test('user names among the presenters become the names of the people', async () => {
  const username = `grace-${randomUUID()}`;
  const account = { username, name: 'Grace H.', password_hash: '' };
  await bench.app.database.insertInto('accounts').values(account).execute();
  const id = await create(withValues({ creator: [username, 'reader', 'Ada'] }));
  expect((await event(id)).presenter).toEqual(['Grace H.', 'reader', 'Ada']);
});

describe('forms as clients send them', () => {
  /** Sends the fields of an event and more as the PHP library Guzzle writes them. */
  async function createWithGuzzle(...more: Parameters<typeof guzzlePart>[]): Promise<string> {
    const fields = eventFields().map(({ name, content }) => guzzlePart(name, String(content)));
    const { type, body } = wireForm([...fields, ...more.map((part) => guzzlePart(...part))]);
    const headers = { 'Content-Type': type };
    return created(await bench.app.request('/api/events', { method: 'POST', headers, body }));
  }

  test('Guzzle gives every part of a new event its length, and Moodle expects 201', async () => {
    const id = await createWithGuzzle(['presenter', 'bytes', ['a.mp4', 'Content-Type: video/mp4']]);
    expect(await tracks(id)).toHaveLength(1);
  });

  test('a recording that Guzzle sends without a file name is a field, and ignored', async () => {
    expect(await tracks(await createWithGuzzle(['presenter', 'bytes']))).toEqual([]);
  });

  test('clients that send every field as bytes, without a file name, are understood', async () => {
    const asBytes = (part: Part): Part => ({ ...part, type: 'application/octet-stream' });
    const id = await create(eventFields({ title: 'As bytes' }).map(asBytes));
    expect(await event(id)).toMatchObject({ title: 'As bytes' });
    const renamed = asBytes(field('metadata', episode({ title: 'Renamed' })));
    expect((await bench.update(id, [renamed])).status).toBe(204);
    expect(await event(id)).toMatchObject({ title: 'Renamed' });
  });

  test('fields and files that nobody asks for are ignored, and parts where no file was chosen', async () => {
    const nothing = (name: string) => file(name, '', Buffer.alloc(0));
    const parts = [
      ...eventFields(),
      ...Array.from({ length: 50 }, (_, i) => field(`note-${i}`, 'x')),
      ...['presenter', 'presentation', 'audio'].map(nothing),
      ...Array.from({ length: 20 }, (_, i) => file('attachment', `${i}.pdf`, Buffer.from('x'))),
    ];
    expect(await tracks(await create(parts))).toEqual([]);
    const chosen = file('presenter', 'a.mp4', Buffer.from('x'));
    expect(await tracks(await create([...parts, chosen]))).toHaveLength(1);
  });
});

// The ACL of a new event is written before the event itself.
const [FORMER, LATTER, OWN] = [ace('ROLE_FORMER'), ace('ROLE_LATTER'), ace('ROLE_OWN')];

describe.each([
  { acl: 'no ACL of its own', entries: [], own: false, expected: [LATTER.role] },
  { acl: 'an ACL of its own', entries: [OWN], own: true, expected: [OWN.role] },
  { acl: 'an ACL of its own as earlier versions write it', entries: [OWN], own: false, expected: [OWN.role] },
  { acl: 'an empty ACL of its own', entries: [], own: true, expected: [] },
])(
  'the readers of a new event with $acl are right when the ACL of its series changes',
  ({ entries, own, expected }) => {
    let series: string;
    let id: string;
    beforeEach(async () => {
      id = randomUUID();
      series = await createSeries(bench.app, {}, [FORMER]);
    });

    const transaction = (work: (trx: Transaction) => Promise<void>) => bench.app.database.transaction().execute(work);
    const changeSeries = () => send(bench.app, 'PUT', `/api/series/${series}/acl`, { acl: JSON.stringify([LATTER]) });
    const writeAcl = (trx: Transaction) => replaceAcl(trx, 'events', id, entries);
    const writeEvent = (trx: Transaction) => insertEvent(trx, { id, series_id: series, own_acl: own });

    async function expectReaders(): Promise<void> {
      const row = bench.app.database.selectFrom('events').select('read_roles').where('id', '=', id);
      expect(await row.execute()).toEqual([{ read_roles: expected }]);
    }

    test('between the ACL of the event and the event', async () => {
      await transaction(async (trx) => {
        await writeAcl(trx);
        expect((await changeSeries()).status).toBe(200);
        await writeEvent(trx);
      });
      await expectReaders();
    });

    test('between the event and the end of its transaction', async () => {
      let changed: Promise<{ status: number }> | undefined;
      await transaction(async (trx) => {
        await writeAcl(trx);
        await writeEvent(trx);
        changed = changeSeries();
        await untilOneWaits(bench.app.database);
      });
      expect((await changed)?.status).toBe(200);
      await expectReaders();
    });

    test('before, in a transaction that ends after the ACL of the event', async () => {
      let written: Promise<void> | undefined;
      await transaction(async (trx) => {
        await replaceAcl(trx, 'series', series, [LATTER]);
        written = transaction(async (other) => {
          await writeAcl(other);
          await writeEvent(other);
        });
        await untilOneWaits(bench.app.database);
      });
      await written;
      await expectReaders();
    });
  },
);
