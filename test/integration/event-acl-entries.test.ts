import { describe, expect, test } from 'vitest';
import { EventBench } from '../support/event-bench.ts';
import { ace, createSeries, send } from '../support/series.ts';

const bench = EventBench.forThisFile();
const OWN = [ace('ROLE_READER'), ace('ROLE_WRITER', 'write'), ace('ROLE_DENIED', 'read', false)];

describe('POST /api/events/{id}/acl/{action}', () => {
  const add = (id: string, action: string, fields: Record<string, string>, headers = {}) =>
    send(bench.app, 'POST', `/api/events/${id}/acl/${action}`, fields, headers);

  test('204; one permission is added, the others stay', async () => {
    const id = await bench.event({}, OWN);
    expect(await add(id, 'play', { role: 'ROLE_A' })).toMatchObject({ status: 204, text: '' });
    expect(await bench.acl(id)).toEqual([...OWN, ace('ROLE_A', 'play')]);
    expect(await bench.version(id)).toBe(1);
  });

  test('204 for one that is there already', async () => {
    const id = await bench.event({}, OWN);
    expect((await add(id, 'read', { role: 'ROLE_READER' })).status).toBe(204);
    expect(await bench.acl(id)).toEqual(OWN);
  });

  test('400 when the list is full, but not for what is in it', async () => {
    const full = Array.from({ length: 2000 }, (_, i) => ace(`ROLE_${i}`));
    const id = await bench.event({}, full);
    expect(await add(id, 'read', { role: 'ROLE_ONE_MORE' })).toMatchObject({
      status: 400,
      text: 'An access control list has at most 2000 entries.',
    });
    expect((await add(id, 'read', { role: 'ROLE_1999' })).status).toBe(204);
    expect(await bench.acl(id)).toEqual(full);
  });

  test('an entry that denied it allows it', async () => {
    const id = await bench.event({}, OWN);
    expect((await add(id, 'read', { role: 'ROLE_DENIED' })).status).toBe(204);
    expect(await bench.acl(id)).toEqual([OWN[0], OWN[1], ace('ROLE_DENIED')]);
  });

  test.each([
    ['no role', {}, "Missing form parameter 'role'"],
    ['an empty role', { role: '' }, 'Unable to parse acl'],
    ['a role that is too long', { role: 'x'.repeat(256) }, 'Unable to parse acl'],
    ['a role with a NUL character', { role: 'a\0b' }, 'Unable to parse acl'],
  ])('400 for %s', async (_name, fields, text) => {
    expect(await add(await bench.event({}, OWN), 'read', fields as Record<string, string>)).toMatchObject({
      status: 400,
      text,
    });
  });
});

test('what is granted and taken back leaves as much as the series grants', async () => {
  const series_id = await createSeries(bench.app, {}, OWN);
  const id = await bench.event({ series_id }, []);
  await send(bench.app, 'POST', `/api/events/${id}/acl/read`, { role: 'ROLE_X' });
  expect(await bench.acl(id)).toEqual([...OWN, ace('ROLE_X')]);
  await send(bench.app, 'DELETE', `/api/events/${id}/acl/read/ROLE_X`);
  expect(await bench.acl(id)).toEqual(OWN);
});

describe('DELETE /api/events/{id}/acl/{action}/{role}', () => {
  const remove = (id: string, pair: string, headers = {}) =>
    send(bench.app, 'DELETE', `/api/events/${id}/acl/${pair}`, undefined, headers);

  test('204; that permission goes, the others stay', async () => {
    const id = await bench.event({}, OWN);
    expect(await remove(id, 'read/ROLE_READER')).toMatchObject({ status: 204, text: '' });
    expect(await bench.acl(id)).toEqual(OWN.slice(1));
    expect(await bench.version(id)).toBe(1);
  });

  test('an entry that denies goes as well', async () => {
    const id = await bench.event({}, OWN);
    expect((await remove(id, 'read/ROLE_DENIED')).status).toBe(204);
    expect(await bench.acl(id)).toEqual(OWN.slice(0, 2));
  });

  test('when the last one goes, the series opens nothing', async () => {
    const series_id = await createSeries(bench.app, {}, [ace('ROLE_READER')]);
    const id = await bench.event({ series_id }, [ace('ROLE_LECTURER')]);
    expect((await remove(id, 'read/ROLE_LECTURER')).status).toBe(204);
    const { status } = await send(bench.app, 'GET', `/api/events/${id}`, undefined, bench.reader);
    expect(status).toBe(404);
  });

  test('of an event that has the list of its series the rest becomes its own', async () => {
    const series_id = await createSeries(bench.app, {}, OWN);
    const id = await bench.event({ series_id }, []);
    expect((await remove(id, 'read/ROLE_READER')).status).toBe(204);
    expect(await bench.acl(id)).toEqual(OWN.slice(1));
  });

  test('the words may hold any character', async () => {
    const id = await bench.event({}, [ace('ROLE/ä b?', 'read/annotate')]);
    const pair = [encodeURIComponent('read/annotate'), encodeURIComponent('ROLE/ä b?')].join('/');
    expect((await remove(id, pair)).status).toBe(204);
    expect(await bench.acl(id)).toEqual([]);
  });

  test.each(['write/ROLE_READER', 'read/ROLE_NOBODY'])('404 for %s, which is not there', async (pair) => {
    const [action, role] = pair.split('/');
    expect(await remove(await bench.event({}, OWN), pair)).toMatchObject({
      status: 404,
      text: `Unable to find an access control entry with action '${action}' and role '${role}'`,
    });
  });
});
