import { cors } from 'hono/cors';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { endpointApp } from '#test/support/endpoint-app.ts';
import { HttpError, refusal } from '../errors/errors.ts';
import { defineEndpoint, type EndpointRequest, type Form } from './endpoint.ts';
import { Rules } from './rules.ts';

const LIMITS = { fieldBytes: 1000, fields: 10, files: 10, fileBytes: 1000, idleMs: 1000 };
const GONE = refusal(404, (name: string) => `There is no '${name}'.`, ['x']);

const paint = defineEndpoint({
  method: 'put',
  path: '/things/{name}',
  access: 'public',
  query: z.object({ coats: z.coerce.number().max(3, { error: 'At most 3 coats.' }).default(1) }),
  form: {
    schema: z.object({ colour: z.enum(['red', 'blue']), note: z.string().optional() }),
    example: { colour: 'red' },
  },
  handle: async ({ c, params, query, form }) => {
    if (params.name === 'none') throw GONE(params.name);
    return c.json({ ...params, ...query(), ...(await form()) });
  },
});

const binary = (contentMediaType: string) => z.string().optional().meta({ contentMediaType });
const parcel = {
  BODY: binary('application/octet-stream'),
  note: z.string().meta({ contentMediaType: 'application/json' }),
};
const archive = z.object({ track: binary('application/zip') }).catchall(z.string());
const receiving = (path: string, form: Pick<Form, 'schema' | 'streams' | 'fieldsAsFiles'>) =>
  defineEndpoint({
    ...{ method: 'post', path, access: 'public' },
    form: { example: {}, ...form },
    handle: receive,
  });
const receivers = [
  receiving('/files', { schema: z.object({}), streams: ['wanted'] }),
  receiving('/parcels', { schema: z.object(parcel), streams: 'any' }),
  receiving('/archives', { schema: archive, streams: 'any' }),
  receiving('/texts', { schema: z.object({}), fieldsAsFiles: true }),
];

async function receive({ c, files }: EndpointRequest): Promise<Response> {
  const received: string[] = [];
  const fields = await files(LIMITS, async ({ field, stream }) => {
    for await (const chunk of stream) received.push(`${field}: ${chunk}`);
  });
  return c.json({ received, fields: Object.fromEntries(fields) });
}

const file = defineEndpoint({
  method: 'get',
  path: '/lists/{name}.json',
  access: 'public',
  handle: ({ c, params }) => c.text(`<${params.name}>`),
});

const app = endpointApp([paint, ...receivers, file], {});

async function put(path: string, fields: Record<string, string>): Promise<[number, string]> {
  const answer = await app.request(path, { method: 'PUT', body: new URLSearchParams(fields) });
  return [answer.status, await answer.text()];
}

test('a handler gets the parameters of the path, the query and the form as the schemas read them', async () => {
  const read = JSON.stringify({ name: 'door', coats: 2, colour: 'red' });
  expect(await put('/things/door?coats=2', { colour: 'red' })).toEqual([200, read]);
});

test.each([
  [{}, "Missing form parameter 'colour'"],
  [{ colour: 'green' }, `The form parameter 'colour' is "green"; allowed are red, blue.`],
])('the form %j is refused by the name of its field', async (fields, sentence) => {
  expect(await put('/things/door', fields)).toEqual([400, sentence]);
});

test('a query is refused in the words of its schema, and not before the handler asks for it', async () => {
  expect(await put('/things/door?coats=9', { colour: 'red' })).toEqual([400, 'At most 3 coats.']);
  expect(await put('/things/none?coats=9', {})).toEqual([404, "There is no 'none'."]);
});

test('files of declared parts are streamed, all others are read and dropped', async () => {
  const body = new FormData();
  body.append('wanted', new File(['abc'], 'a.txt'));
  body.append('other', new File(['xyz'], 'b.txt'));
  body.append('wanted', new File([], ''));
  body.append('title', 'A');
  const answer = await app.request('/files', { method: 'POST', body });
  expect(await answer.json()).toEqual({ received: ['wanted: abc'], fields: { title: 'A' } });
});

test('fields that clients may send as files are streamed, whatever they are called', async () => {
  const body = new FormData();
  body.append('note', new File(['abc'], 'note.xml'));
  const answer = await app.request('/texts', { method: 'POST', body });
  expect(await answer.json()).toEqual({ received: ['note: abc'], fields: {} });
});

test.each([
  ['/files', 'wanted', true],
  ['/files', 'other', false],
  ['/parcels', 'BODY', true],
  ['/parcels', 'note', false],
  // Agents call the part of a recording what they like.
  ['/parcels', 'camera', true],
  ['/parcels', 'toString', true],
  ['/archives', 'track', true],
  ['/archives', 'straightToPublishing', false],
  ['/texts', 'note', false],
])('what %s gets in %s as bytes without a file name is a file: %s', async (path, field, isFile) => {
  const head = `--x\r\nContent-Disposition: form-data; name="${field}"`;
  const body = `${head}\r\nContent-Type: application/octet-stream\r\n\r\nabc\r\n--x--\r\n`;
  const headers = { 'Content-Type': 'multipart/form-data; boundary=x' };
  const answer = await app.request(path, { method: 'POST', headers, body });
  expect(await answer.json()).toEqual(
    isFile ? { received: [`${field}: abc`], fields: {} } : { received: [], fields: { [field]: 'abc' } },
  );
});

test('a parameter that something follows is had without it, and names nothing without that', async () => {
  expect(await (await app.request('/lists/LANGUAGES.json')).text()).toBe('<LANGUAGES>');
  expect(await (await app.request('/lists/LANGUAGES')).text()).toBe('<>');
});

test('a declaration that leaves a parameter of its path undescribed is refused where it stands', () => {
  const declaration = { ...paint, summary: 'Paint', description: 'It.', handle: () => new Response() };
  expect(() => defineEndpoint(declaration)).toThrow('/things/{name} must describe its path parameters, not none');
});

test('an endpoint that needs a role is refused where nobody would ask for it', () => {
  const closed = defineEndpoint({ ...paint, access: ['ROLE_X'], handle: () => new Response() });
  const refused = 'No guard covers PUT /things/{name}.';
  expect(() => endpointApp([closed], {})).toThrow(refused);
  const layers = [cors()];
  expect(() => endpointApp([closed], {}, { areas: [{ path: '/things', layers }] })).toThrow(refused);
  expect(() => endpointApp([closed], {}, { areas: [{ path: '/things', guards: layers }] })).not.toThrow();
});

test('the rule of a request is that of the endpoint which answers it', () => {
  const rule = (path: string, access: string) => ({ method: 'get', path, access: [access] });
  const rules = new Rules([rule('/things/list.json', 'LIST'), rule('/things/{name}', 'ONE')]);
  expect(rules.find('GET', '/things/list.json')?.access).toEqual(['LIST']);
  expect(rules.find('HEAD', '/things/door')?.access).toEqual(['ONE']);
  expect(rules.find('POST', '/things/door')).toBeUndefined();
  expect(rules.find('GET', '/things/door/x')).toBeUndefined();
});

test('a refusal is thrown and shown in the same words', () => {
  expect(GONE('door')).toBeInstanceOf(HttpError);
  expect(GONE('door')).toMatchObject({ status: 404, message: "There is no 'door'." });
  expect([GONE.status, GONE.example]).toEqual([404, "There is no 'x'."]);
  expect(GONE.about('wall')).toEqual({ status: 404, example: "There is no 'wall'." });
});
