import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { field, form } from '../support/form.ts';
import { send } from '../support/series.ts';
import { snapshot } from '../support/snapshot.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

const HEAD = `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!DOCTYPE properties SYSTEM "http://java.sun.com/dtd/properties.dtd">
`;
const JSON_TEXT =
  '{"capture.device.names":"camera, screen","capture.device.timezone":"Europe/Berlin","a":"<&>"}';
const XML_TEXT = `${HEAD}<properties>
<comment>mine</comment>
<entry key="capture.device.timezone">Europe/Berlin</entry>
<entry key="capture.device.names">camera, screen</entry>
<entry key="a">&lt;&amp;&#62;</entry>
</properties>`;
const URLENCODED = 'application/x-www-form-urlencoded';
const path = (name: string) => `/capture-admin/agents/${name}/configuration`;

async function post(name: string, body: BodyInit, type?: string) {
  const headers: Record<string, string> = type === undefined ? {} : { 'Content-Type': type };
  const answer = await app.request(path(name), { method: 'POST', headers, body });
  return { status: answer.status, type: answer.headers.get('Content-Type'), text: await answer.text() };
}

const stored = (name: string) =>
  app.database.selectFrom('capture_agents').selectAll().where('id', '=', name).executeTakeFirst();
const multipart = (text: string) => form([field('other', 'x'), field('configuration', text)]);

describe('POST /capture-admin/agents/{name}/configuration', () => {
  describe.each([
    ['JSON', JSON_TEXT],
    ['properties XML', XML_TEXT],
  ])('%s', (kind, text) => {
    const name = kind.slice(0, 4);
    test.each([
      ['of its own type', kind === 'JSON' ? 'application/json' : 'text/xml; charset=utf-8', text],
      ['as curl sends it', URLENCODED, text],
      ['of no type', '', Buffer.from(text)],
      ['of some type', 'application/octet-stream', Buffer.from(`\ufeff\n ${text}`)],
      ['in an urlencoded form', URLENCODED, new URLSearchParams({ configuration: text }).toString()],
      ['in a multipart form', multipart('').type, ''],
    ])('is taken %s', async (_how, type, body) => {
      const sent = type.startsWith('multipart') ? multipart(text) : { type, body };
      expect((await post(name, sent.body, sent.type)).status).toBe(200);
      expect(await stored(name)).toMatchObject({
        configuration: {
          a: '<&>',
          'capture.device.names': 'camera, screen',
          'capture.device.timezone': 'Europe/Berlin',
        },
        inputs: ['camera', 'screen'],
        time_zone: 'Europe/Berlin',
      });
      await app.database.deleteFrom('capture_agents').where('id', '=', name).execute();
    });
  });

  test('answers with what is stored as properties XML, by key and escaped', async () => {
    expect(await post('room-1', JSON_TEXT)).toEqual({
      status: 200,
      type: 'text/xml; charset=utf-8',
      text: `${HEAD}<properties>
<comment>Configuration of room-1</comment>
<entry key="a">&lt;&amp;&gt;</entry>
<entry key="capture.device.names">camera, screen</entry>
<entry key="capture.device.timezone">Europe/Berlin</entry>
</properties>
`,
    });
  });

  test('an answer can be sent again and changes nothing', async () => {
    const { text } = await post('echo', '{"b":"x\\r\\n\\t \\"y\\"","ü":"😀"}');
    expect((await post('echo', text)).text).toBe(text);
    expect((await stored('echo'))?.configuration).toEqual({ b: 'x\r\n\t "y"', ü: '😀' });
  });

  test('replaces the former configuration as a whole', async () => {
    await post('replaced', JSON_TEXT);
    await post('replaced', '{"b":1}');
    expect(await stored('replaced')).toMatchObject({
      configuration: { b: '1' },
      inputs: [],
      time_zone: 'UTC',
    });
  });

  test('makes an agent known that has told nothing else, and leaves the state of others alone', async () => {
    await post('silent', '{}');
    expect(JSON.parse((await send(app, 'GET', '/api/agents/silent')).text)).toMatchObject({
      status: 'unknown',
    });
    expect((await stored('silent'))?.seen_at).toBeInstanceOf(Date);
    await send(app, 'POST', '/capture-admin/agents/busy', {
      state: 'capturing',
      address: 'http://busy.test',
    });
    await post('busy', JSON_TEXT);
    expect(JSON.parse((await send(app, 'GET', '/api/agents/busy')).text)).toMatchObject({
      status: 'capturing',
      url: 'http://busy.test',
      inputs: ['camera', 'screen'],
    });
  });

  test.each<[string, BodyInit, string | undefined, string]>([
    ['nothing', '', undefined, "Missing form parameter 'configuration'"],
    ['a form without it', 'state=idle', URLENCODED, "Missing form parameter 'configuration'"],
    ['an empty field', 'configuration=', URLENCODED, 'must be a JSON object or properties XML'],
    ['a JSON array', '["a"]', 'application/json', 'must be a JSON object or properties XML'],
    ['half an object', '{"a":', 'application/json', 'must be a JSON object or properties XML'],
    [
      'nested JSON',
      '{"a":{"b":1}}',
      'application/json',
      'The property "a" of the configuration is neither text',
    ],
    ['plain text', 'a=1', 'text/plain', 'must be a JSON object or properties XML'],
    ['half a document', '<properties>', 'text/xml', 'is not well-formed XML: see line 1'],
    ['other XML', '<a/>', 'text/xml', 'is no properties XML'],
    ['Latin-1', Buffer.from('{"a":"\xe4"}', 'latin1'), 'application/json', 'is not encoded in UTF-8'],
    [
      'a NUL',
      '{"a":"\\u0000"}',
      'application/json',
      'The property "a" of the configuration holds a character',
    ],
    [
      'half a surrogate pair',
      '{"a":"\\ud800"}',
      'application/json',
      'holds a character that XML does not allow',
    ],
    [
      '1,001 properties',
      JSON.stringify(Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [i, 'x']))),
      'application/json',
      'The configuration has 1001 properties; allowed are 1000.',
    ],
  ])('is 400 for %s, and nothing changes', async (_what, body, type, sentence) => {
    await post('kept', JSON_TEXT);
    const before = await snapshot(app.database);
    const answer = await post('kept', body, type);
    expect(answer).toMatchObject({ status: 400, type: 'text/plain; charset=utf-8' });
    expect(answer.text).toContain(sentence);
    expect(answer.text.length).toBeLessThan(400);
    expect(await snapshot(app.database)).toEqual(before);
  });

  test.each([
    [
      'a bomb',
      '<!DOCTYPE properties [<!ENTITY a "xxxxxxxxxx"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;">]>',
      '&b;&b;&b;',
    ],
    ['a file', '<!DOCTYPE properties [<!ENTITY a SYSTEM "file:///etc/passwd">]>', '&a;'],
    ['another server', '<!DOCTYPE properties [<!ENTITY % a SYSTEM "http://127.0.0.1:1/"> %a;]>', 'x'],
  ])('expands no entities and fetches nothing: %s is 400', async (_what, doctype, value) => {
    const text = `<?xml version="1.0"?>${doctype}<properties><entry key="a">${value}</entry></properties>`;
    expect(await post('attacked', text, 'text/xml')).toMatchObject({
      status: 400,
      text: expect.stringMatching(/^The configuration declares something/),
    });
    expect(await stored('attacked')).toBeUndefined();
  });

  test('is kept with a time zone that there is not, and the zone is UTC', async () => {
    const zone = 'EST5EDT,M3.2.0,M11.1.0';
    const text = JSON.stringify({ 'capture.device.names': 'camera', 'capture.device.timezone': zone });
    expect(await post('posix', text)).toMatchObject({ status: 200, text: expect.stringContaining(zone) });
    expect(await stored('posix')).toMatchObject({ inputs: ['camera'], time_zone: 'UTC' });
  });

  test('is 413 beyond 64 KiB', async () => {
    const entry = (length: number) => `"k${length}":"${'x'.repeat(length)}"`;
    const keys = Array.from({ length: 6 }, (_, i) => entry(9990 + i));
    expect((await post('large', `{${keys.join(',')}}`)).status).toBe(200);
    const answer = await post('large', `{${[...keys, entry(9000)].join(',')}}`);
    expect(answer).toMatchObject({ status: 413, text: 'The configuration is longer than 65536 bytes.' });
    expect((await post('large', `{"a":"${'x'.repeat(2 ** 20)}"}`)).status).toBe(413);
  });
});
