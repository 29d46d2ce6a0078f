import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { EventBench } from '../support/event-bench.ts';
import { field } from '../support/form.ts';
import { ace, catalogOf, createSeries, type SentAce, send } from '../support/series.ts';

const bench = EventBench.forThisFile({ own: false });
const OWN = [ace('ROLE_READER'), ace('ROLE_WRITER', 'write'), ace('ROLE_DENIED', 'read', false)];

type Request = [method: string, path: string, fields?: Record<string, string>];

const event = () => bench.event({}, OWN);
/** An event without an ACL of its own, in a series with one. */
const inSeries = async (acl: SentAce[], own: SentAce[] = []) => {
  const series_id = await createSeries(bench.app, {}, acl);
  return { series_id, id: await bench.event({ series_id }, own) };
};
const request = (id: string, [method, path, fields]: Request, headers = {}) =>
  bench.send(method, id, `/acl${path}`, fields, headers);
const put = (id: string, acl: unknown, headers = {}) =>
  request(id, ['PUT', '', { acl: typeof acl === 'string' ? acl : JSON.stringify(acl) }], headers);
const add = (id: string, action: string, role: string) => request(id, ['POST', `/${action}`, { role }]);
const remove = (id: string, pair: string) => request(id, ['DELETE', `/${pair}`]);

/** Whether the role READER finds the event; the list and the event itself say the same. */
async function readable(series: string, id: string): Promise<boolean> {
  const path = `/api/events?filter=series:${series}`;
  const { text } = await send(bench.app, 'GET', path, undefined, bench.reader);
  const { status } = await bench.send('GET', id, '', undefined, bench.reader);
  expect(status).toBe(JSON.parse(text).length > 0 ? 200 : 404);
  return status === 200;
}

/** Expects the ACL of an event, and how often it was changed. */
async function expectAcl(id: string, entries: SentAce[], version: number): Promise<void> {
  expect(await bench.acl(id)).toEqual(entries);
  expect(await bench.version(id)).toBe(version);
}

describe('GET /api/events/{id}/acl', () => {
  test('200 with the entries as they are stored', async () => {
    const headers = { ...bench.reader, Accept: 'application/v1.2.0+json' };
    const answer = await request(await event(), ['GET', ''], headers);
    expect(answer).toMatchObject({ status: 200, type: 'application/v1.2.0+json' });
    expect(JSON.parse(answer.text)).toEqual(OWN);
  });

  test('an event without a list of its own has that of its series', async () => {
    const { series_id, id } = await inSeries([ace('ROLE_READER')]);
    const { text } = await request(id, ['GET', ''], bench.reader);
    expect(JSON.parse(text)).toEqual([ace('ROLE_READER')]);
    const path = `/api/events?withacl=true&filter=series:${series_id}`;
    const listed = await send(bench.app, 'GET', path, undefined, bench.reader);
    expect(JSON.parse(listed.text)).toMatchObject([{ acl: [ace('ROLE_READER')] }]);
  });
});

describe('PUT /api/events/{id}/acl', () => {
  test('204 without a body; the new list replaces the old one entirely', async () => {
    const id = await event();
    const acl = [ace('ROLE_A'), ace('ROLE_A', 'play'), ace('ROLE_B', 'read', false)];
    expect(await put(id, acl)).toMatchObject({ status: 204, text: '' });
    await expectAcl(id, acl, 1);
    expect((await put(id, acl)).status).toBe(204);
    await expectAcl(id, acl, 1);
  });

  test('[] opens the event to nobody, whatever its series grants', async () => {
    for (const own of [OWN, []]) {
      const { series_id, id } = await inSeries([ace('ROLE_READER')], own);
      expect(await readable(series_id, id)).toBe(true);
      for (const _ of ['once', 'again']) {
        expect((await put(id, [])).status).toBe(204);
        expect(await readable(series_id, id)).toBe(false);
        await expectAcl(id, [], 1);
      }
    }
  });

  test('an inherited list can be written back, and access by the series stays', async () => {
    const { id } = await inSeries([ace('ROLE_WRITER'), ace('ROLE_WRITER', 'write')]);
    const { text } = await request(id, ['GET', ''], bench.writer);
    expect((await put(id, text, bench.writer)).status).toBe(204);
    expect(await request(id, ['GET', ''], bench.writer)).toMatchObject({ status: 200, text });
  });

  test('allow may be a word', async () => {
    const id = await event();
    const acl = [
      { ...ace('ROLE_A'), allow: 'true' },
      { ...ace('ROLE_B'), allow: 'false' },
    ];
    expect((await put(id, acl)).status).toBe(204);
    expect(await bench.acl(id)).toEqual([ace('ROLE_A'), ace('ROLE_B', 'read', false)]);
  });

  const INCOMPLETE = 'One of the access control elements is missing a property. The action was ';
  test.each([
    ['text that is no JSON', 'read', "Unable to parse acl 'read' because 'it is not valid JSON'"],
    ['an object', '{}', "Unable to parse acl '{}' because 'it is not an array'"],
    [
      'an entry without allow',
      '[{"action":"read","role":"ROLE_A"}]',
      `${INCOMPLETE}'read', allow was '' and the role was 'ROLE_A'`,
    ],
    [
      'an entry without a role',
      '[{"action":"read","allow":true}]',
      `${INCOMPLETE}'read', allow was 'true' and the role was ''`,
    ],
  ])('400 for %s, which changes nothing', async (_name, acl, text) => {
    const id = await event();
    expect(await put(id, acl)).toMatchObject({ status: 400, type: 'text/plain; charset=utf-8', text });
    await expectAcl(id, OWN, 0);
  });
});

describe('POST /api/events/{id}/acl/{action}', () => {
  test('204; one permission is added, the others stay', async () => {
    const id = await event();
    expect(await add(id, 'play', 'ROLE_A')).toMatchObject({ status: 204, text: '' });
    await expectAcl(id, [...OWN, ace('ROLE_A', 'play')], 1);
    expect((await add(id, 'read', 'ROLE_READER')).status).toBe(204);
    await expectAcl(id, [...OWN, ace('ROLE_A', 'play')], 1);
  });

  test('400 when the list is full, but not for what is in it', async () => {
    const full = Array.from({ length: 2000 }, (_, i) => ace(`ROLE_${i}`));
    const id = await bench.event({}, full);
    const text = 'An access control list has at most 2000 entries.';
    expect(await add(id, 'read', 'ROLE_ONE_MORE')).toMatchObject({ status: 400, text });
    expect((await add(id, 'read', 'ROLE_1999')).status).toBe(204);
    expect(await bench.acl(id)).toEqual(full);
  });

  test('an entry that denied it allows it', async () => {
    const id = await event();
    expect((await add(id, 'read', 'ROLE_DENIED')).status).toBe(204);
    expect(await bench.acl(id)).toEqual([OWN[0], OWN[1], ace('ROLE_DENIED')]);
  });

  test.each<[string, Record<string, string>, string]>([
    ['no role', {}, "Missing form parameter 'role'"],
    ['an empty role', { role: '' }, 'Unable to parse acl'],
  ])('400 for %s', async (_name, fields, text) => {
    expect(await request(await event(), ['POST', '/read', fields])).toMatchObject({ status: 400, text });
  });
});

describe('DELETE /api/events/{id}/acl/{action}/{role}', () => {
  test('204; that permission goes, the others stay', async () => {
    const id = await event();
    expect(await remove(id, 'read/ROLE_READER')).toMatchObject({ status: 204, text: '' });
    await expectAcl(id, OWN.slice(1), 1);
    expect((await remove(id, 'read/ROLE_DENIED')).status).toBe(204);
    await expectAcl(id, OWN.slice(1, 2), 2);
  });

  test('when the last one goes, the series opens nothing', async () => {
    const { series_id, id } = await inSeries([ace('ROLE_READER')], [ace('ROLE_LECTURER')]);
    expect(await readable(series_id, id)).toBe(false);
    expect((await remove(id, 'read/ROLE_LECTURER')).status).toBe(204);
    expect(await readable(series_id, id)).toBe(false);
  });

  test('removing an entry of an inherited list keeps the rest as the list of the event, and an added entry can be removed', async () => {
    const { id } = await inSeries(OWN);
    await add(id, 'read', 'ROLE_X');
    expect(await bench.acl(id)).toEqual([...OWN, ace('ROLE_X')]);
    await remove(id, 'read/ROLE_X');
    expect(await bench.acl(id)).toEqual(OWN);
    const { id: other } = await inSeries(OWN);
    expect((await remove(other, 'read/ROLE_READER')).status).toBe(204);
    expect(await bench.acl(other)).toEqual(OWN.slice(1));
  });

  test('the words may hold any character', async () => {
    const id = await bench.event({}, [ace('ROLE/ä b?', 'read/annotate')]);
    const pair = [encodeURIComponent('read/annotate'), encodeURIComponent('ROLE/ä b?')].join('/');
    expect((await remove(id, pair)).status).toBe(204);
    expect(await bench.acl(id)).toEqual([]);
  });

  test.each(['write/ROLE_READER', 'read/ROLE_NOBODY'])('404 for %s, which is not there', async (pair) => {
    const [action, role] = pair.split('/');
    const text = `Unable to find an access control entry with action '${action}' and role '${role}'`;
    expect(await remove(await event(), pair)).toMatchObject({ status: 404, text });
  });
});

const REFUSED: Request[] = [
  ['PUT', '', { acl: 'not even JSON' }],
  ['POST', '/read', {}],
  ['DELETE', '/read/ROLE_NOBODY', undefined],
];

test.each<Request>([['GET', '', undefined], ...REFUSED])(
  '%s /acl%s of an event that is not there, or must not be seen, is 404 before anything else is looked at',
  async (...asked) => {
    for (const id of ['nowhere', await event()]) {
      const text = `Cannot find an event with id '${id}'.`;
      expect(await request(id, asked, bench.stranger)).toMatchObject({ status: 404, text });
    }
  },
);

test.each(REFUSED)('%s /acl%s with the right to read alone is 401', async (...asked) => {
  const answer = await request(await event(), asked, bench.reader);
  expect(answer).toMatchObject({ status: 401, text: 'unauthorized' });
});

test.each(['INSTANTIATED', 'RUNNING', 'PAUSED'])(
  'while a workflow is %s every change is refused with an empty 403',
  async (processing_state) => {
    const id = await bench.event({ processing_state }, OWN);
    const requests: Request[] = [
      ['PUT', '', { acl: '[]' }],
      ['POST', '/play', { role: 'ROLE_A' }],
      ['DELETE', '/read/ROLE_READER'],
    ];
    for (const asked of requests) expect(await request(id, asked)).toMatchObject({ status: 403, text: '' });
    await expectAcl(id, OWN, 0);
  },
);

test('concurrent changes to the ACLs of events and of their series all succeed', async () => {
  const series_id = await createSeries(bench.app, {}, [ace('ROLE_COURSE')]);
  const ids = await Promise.all(Array.from({ length: 4 }, () => bench.event({ series_id }, [])));
  const seriesAcl = (i: number) =>
    send(bench.app, 'PUT', `/api/series/${series_id}/acl`, { acl: JSON.stringify([ace(`ROLE_${i}`)]) });
  for (let round = 0; round < 3; round += 1) {
    const title = catalogOf({ title: `Round ${round}` }, 'dublincore/episode');
    const answers = await Promise.all([
      seriesAcl(round),
      ...ids.map((id) => put(id, round % 2 === 0 ? [ace('ROLE_OWN')] : [])),
      seriesAcl(round),
      ...ids.map((id) => bench.update(id, [field('metadata', title)])),
    ]);
    expect(answers.filter(({ status }) => status >= 400)).toEqual([]);
  }
  const readers = sql`SELECT DISTINCT read_roles FROM events WHERE series_id = ${series_id}`;
  expect((await readers.execute(bench.app.database)).rows).toEqual([{ read_roles: ['ROLE_OWN'] }]);
});
