import { describe, expect, test } from 'vitest';
import { EventBench } from '../support/event-bench.ts';
import { field, form } from '../support/form.ts';
import { ace, createSeries, send } from '../support/series.ts';

const bench = EventBench.forThisFile({ own: false });
const OWN = [ace('ROLE_READER'), ace('ROLE_WRITER', 'write'), ace('ROLE_DENIED', 'read', false)];

const put = (id: string, acl: unknown, headers = {}) =>
  send(
    bench.app,
    'PUT',
    `/api/events/${id}/acl`,
    { acl: typeof acl === 'string' ? acl : JSON.stringify(acl) },
    headers,
  );

/** Whether somebody with the role READER finds the event; the list and the event itself say the same. */
async function readable(series: string, id: string): Promise<boolean> {
  const ask = (path: string) => send(bench.app, 'GET', path, undefined, bench.reader);
  const listed = JSON.parse((await ask(`/api/events?filter=series:${series}`)).text) as unknown[];
  const { status } = await ask(`/api/events/${id}`);
  expect(status).toBe(listed.length > 0 ? 200 : 404);
  return status === 200;
}

/** The lists of the events of a series as the list of events shows them. */
async function listedAcls(series: string): Promise<unknown[]> {
  const path = `/api/events?withacl=true&filter=series:${series}`;
  const { text } = await send(bench.app, 'GET', path, undefined, bench.reader);
  return (JSON.parse(text) as { acl: unknown }[]).map(({ acl }) => acl);
}

describe('GET /api/events/{id}/acl', () => {
  test('200 with the entries as they are stored', async () => {
    const answer = await send(bench.app, 'GET', `/api/events/${await bench.event({}, OWN)}/acl`, undefined, {
      ...bench.reader,
      Accept: 'application/v1.2.0+json',
    });
    expect(answer).toMatchObject({ status: 200, type: 'application/v1.2.0+json' });
    expect(JSON.parse(answer.text)).toEqual(OWN);
  });

  test('an event without a list of its own has that of its series', async () => {
    const series_id = await createSeries(bench.app, {}, [ace('ROLE_READER')]);
    const answer = await send(
      bench.app,
      'GET',
      `/api/events/${await bench.event({ series_id }, [])}/acl`,
      undefined,
      bench.reader,
    );
    expect(JSON.parse(answer.text)).toEqual([ace('ROLE_READER')]);
    expect(await listedAcls(series_id)).toEqual([[ace('ROLE_READER')]]);
  });
});

describe('PUT /api/events/{id}/acl', () => {
  test('204 without a body; the new list replaces the old one entirely', async () => {
    const id = await bench.event({}, OWN);
    const acl = [ace('ROLE_A'), ace('ROLE_A', 'play'), ace('ROLE_B', 'read', false)];
    expect(await put(id, acl)).toMatchObject({ status: 204, text: '' });
    expect(await bench.acl(id)).toEqual(acl);
    expect(await bench.version(id)).toBe(1);
  });

  test('allow may be a word', async () => {
    const id = await bench.event({}, OWN);
    expect(
      (
        await put(id, [
          { ...ace('ROLE_A'), allow: 'true' },
          { ...ace('ROLE_B'), allow: 'false' },
        ])
      ).status,
    ).toBe(204);
    expect(await bench.acl(id)).toEqual([ace('ROLE_A'), ace('ROLE_B', 'read', false)]);
  });

  test('[] empties the list', async () => {
    const id = await bench.event({}, OWN);
    expect((await put(id, [])).status).toBe(204);
    expect(await bench.acl(id)).toEqual([]);
  });

  test('[] opens the event to nobody, whatever its series grants', async () => {
    for (const own of [OWN, []]) {
      const series_id = await createSeries(bench.app, {}, [ace('ROLE_READER')]);
      const id = await bench.event({ series_id }, own);
      expect(await readable(series_id, id)).toBe(true);
      expect((await put(id, [])).status).toBe(204);
      expect(await readable(series_id, id)).toBe(false);
      expect(await bench.version(id)).toBe(1);
      await put(id, []);
      expect(await bench.version(id)).toBe(1);
    }
  });

  test('what was read can be written back, whoever has access by the series keeps it', async () => {
    const series_id = await createSeries(bench.app, {}, [ace('ROLE_WRITER'), ace('ROLE_WRITER', 'write')]);
    const id = await bench.event({ series_id }, []);
    const read = () => send(bench.app, 'GET', `/api/events/${id}/acl`, undefined, bench.writer);
    const { text } = await read();
    expect((await put(id, JSON.parse(text), bench.writer)).status).toBe(204);
    expect(await read()).toMatchObject({ status: 200, text });
  });

  test('the same list once more is no new version', async () => {
    const id = await bench.event({}, OWN);
    expect((await put(id, OWN)).status).toBe(204);
    expect(await bench.version(id)).toBe(0);
  });

  test('a multipart form does as well', async () => {
    const id = await bench.event({}, OWN);
    const { type, body } = form([field('acl', JSON.stringify([ace('ROLE_M')]))]);
    const answer = await bench.app.request(`/api/events/${id}/acl`, {
      method: 'PUT',
      headers: { 'Content-Type': type },
      body,
    });
    expect(answer.status).toBe(204);
    expect(await bench.acl(id)).toEqual([ace('ROLE_M')]);
  });

  test.each([
    ['text that is no JSON', 'read', "Unable to parse acl 'read' because 'it is not JSON'"],
    ['an object', '{}', "Unable to parse acl '{}' because 'it is not an array'"],
    [
      'an entry without allow',
      '[{"action":"read","role":"ROLE_A"}]',
      "One of the access control elements is missing a property. The action was 'read', allow was '' and the role was 'ROLE_A'",
    ],
    [
      'an entry without a role',
      '[{"action":"read","allow":true}]',
      "One of the access control elements is missing a property. The action was 'read', allow was 'true' and the role was ''",
    ],
    [
      'a role with a NUL character',
      '[{"action":"read","allow":true,"role":"\\u0000"}]',
      /^One of the access control elements/,
    ],
    [
      'half a surrogate pair',
      '[{"action":"\\ud800","allow":true,"role":"ROLE_A"}]',
      /^One of the access control elements/,
    ],
  ])('400 for %s, which changes nothing', async (_name, acl, sentence) => {
    const id = await bench.event({}, OWN);
    const answer = await put(id, acl);
    expect(answer).toMatchObject({ status: 400, type: 'text/plain; charset=utf-8' });
    if (typeof sentence === 'string') expect(answer.text).toBe(sentence);
    else expect(answer.text).toMatch(sentence);
    expect(await bench.acl(id)).toEqual(OWN);
    expect(await bench.version(id)).toBe(0);
  });

  test('400 without the form parameter', async () => {
    expect(
      await send(bench.app, 'PUT', `/api/events/${await bench.event({}, OWN)}/acl`, { acls: '[]' }),
    ).toMatchObject({
      status: 400,
      text: "Missing form parameter 'acl'",
    });
  });
});
