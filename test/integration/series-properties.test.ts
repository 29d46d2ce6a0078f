import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { ace, createSeries, send } from '../support/series.ts';

let app: TestApp;
let reader: { Authorization: string };
let stranger: { Authorization: string };
let path: string;
beforeAll(async () => {
  app = await createTestApp();
  const roles = ['ROLE_API_SERIES_PROPERTIES_VIEW', 'ROLE_API_SERIES_PROPERTIES_EDIT'];
  reader = { Authorization: await app.account('reader', ...roles, 'ROLE_READER') };
  stranger = { Authorization: await app.account('stranger', ...roles) };
});
afterAll(() => app?.close());
beforeEach(async () => {
  path = `/api/series/${await createSeries(app, {}, [ace('ROLE_READER')])}/properties`;
});

const put = (properties: string, headers = {}) => send(app, 'PUT', path, { properties }, headers);

async function read(): Promise<unknown> {
  const answer = await send(app, 'GET', path);
  expect(answer).toMatchObject({ status: 200, type: 'application/v1.11.0+json' });
  return JSON.parse(answer.text);
}

test('PUT properties adds and changes those given, and answers with them alone', async () => {
  expect(await read()).toEqual({});
  await put('{"ondemand":"true","live":"false"}');
  expect(await put('{"live":"true","theme":"1"}')).toMatchObject({
    status: 200,
    type: 'application/v1.11.0+json',
    text: '{"live":"true","theme":"1"}',
  });
  expect(await read()).toEqual({ ondemand: 'true', live: 'true', theme: '1' });
});

test('values that are no strings are answered as sent and stored as strings', async () => {
  const text = '{"a":true,"b":1.5,"c":[1],"d":{"e":"f"}}';
  expect((await put(text)).text).toBe(text);
  expect(await read()).toEqual({ a: 'true', b: '1.5', c: '[1]', d: '{"e":"f"}' });
});

test('any name is only a name', async () => {
  const text = '{"__proto__":"a","constructor":"b","":"c","x\\"\'y":"d"}';
  expect((await put(text)).status).toBe(200);
  expect((await put('{"toString":"e"}')).status).toBe(200);
  const stored = (await send(app, 'GET', path)).text;
  expect(Object.entries(JSON.parse(stored)).sort()).toEqual([
    ['', 'c'],
    ['__proto__', 'a'],
    ['constructor', 'b'],
    ['toString', 'e'],
    ['x"\'y', 'd'],
  ]);
});

const many = (count: number, value = 'a') =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`name-${i}`, value])));

test.each<[string, string, string | RegExp]>([
  ['nothing', '', "Missing form parameter 'acl'"],
  ['no JSON', '{', 'Could not parse series properties'],
  ['a list', '[]', 'Could not parse series properties'],
  ['a string', '"a"', 'Could not parse series properties'],
  ['null', 'null', 'Could not parse series properties'],
  ['a null value', '{"a":null}', 'Could not parse series properties'],
  ['a NUL in a name', '{"a\\u0000":"b"}', 'Could not parse series properties'],
  ['a NUL in a value', '{"a":"\\u0000"}', 'Could not parse series properties'],
  ['half a surrogate pair', '{"a":"\\ud800"}', 'Could not parse series properties'],
  [
    'a value nested too deeply',
    `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
    /^(Could not parse series properties|.* bytes of UTF-8\.)$/,
  ],
  ['a long name', JSON.stringify({ ['a'.repeat(256)]: 'b' }), /longer than 255 bytes/],
  ['a long value', JSON.stringify({ a: 'b'.repeat(100_001) }), /longer than 100000 bytes/],
  ['too many', many(1001), 'A series can have up to 1000 properties.'],
])('PUT properties refuses %s and changes nothing', async (_, properties, message) => {
  await put('{"kept":"yes"}');
  const answer = await put(properties);
  expect(answer).toMatchObject({ status: 400, type: 'text/plain; charset=utf-8' });
  if (typeof message === 'string') expect(answer.text).toBe(message);
  else expect(answer.text).toMatch(message);
  expect(await read()).toEqual({ kept: 'yes' });
});

test('properties are limited together, not by request', async () => {
  expect((await put(many(1000))).status).toBe(200);
  expect((await put('{"one more":"a"}')).status).toBe(400);
  expect((await put('{"name-7":"b"}')).status).toBe(200);
  expect((await put(many(8, 'x'.repeat(90_000)))).status).toBe(200);
  const more = JSON.stringify({
    'name-8': 'x'.repeat(99_000),
    'name-9': 'x'.repeat(99_000),
    'name-10': 'x'.repeat(99_000),
    'name-11': 'x'.repeat(99_000),
  });
  expect(await put(more)).toMatchObject({
    status: 400,
    text: 'The properties of a series can have up to 1048576 bytes together.',
  });
});

test('the properties of an unknown series are 404', async () => {
  path = '/api/series/nobody/properties';
  expect(await send(app, 'GET', path)).toMatchObject({
    status: 404,
    text: "Cannot find an series with id 'nobody'.",
  });
  expect(await put('{"a":"b"}')).toMatchObject({
    status: 404,
    text: 'The resource you requested does not exist.',
  });
});

test('properties are read with the right to read, written with the right to write', async () => {
  expect((await send(app, 'GET', path, undefined, reader)).status).toBe(200);
  expect(await put('{"a":"b"}', reader)).toMatchObject({ status: 401, text: 'unauthorized' });
  expect((await send(app, 'GET', path, undefined, stranger)).status).toBe(404);
  expect((await put('{"a":"b"}', stranger)).status).toBe(404);
  expect(await read()).toEqual({});
});

test('properties written at once are all kept', async () => {
  const names = Array.from({ length: 8 }, (_, i) => `name-${i}`);
  await Promise.all(names.map((name) => put(JSON.stringify({ [name]: 'a' }))));
  expect(Object.keys((await read()) as object).sort()).toEqual(names);
});
