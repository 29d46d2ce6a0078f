import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ADMIN } from '../support/app.ts';
import { insertElement, insertEvent, insertPublication } from '../support/publication.ts';
import { type ReverseProxy, startReverseProxy } from '../support/reverse-proxy.ts';
import { type ServedApp, serveApp } from '../support/serve-uploads.ts';

/** Wrong passwords after which no more are tried. */
const TOLERATED = 20;
/** Addresses of this machine, as those of others. */
const [PROXY, INNER, CLIENT, OTHER] = ['127.0.0.1', '127.0.0.9', '127.0.1.1', '127.0.1.2'];

let served: ServedApp;
let lines: { msg: string; client?: string }[] = [];
const proxies: ReverseProxy[] = [];
const through: Record<string, string> = {};

async function proxy(name: string, ...[to, telling, from]: Parameters<typeof startReverseProxy>) {
  const started = await startReverseProxy(to, telling, from);
  proxies.push(started);
  through[name] = started.url;
}

beforeAll(async () => {
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
  const environment = { TRUSTED_PROXIES: `${PROXY}, ${INNER}/32`, URL_SIGNING_SECRET: 'secret' };
  served = await serveApp(environment, undefined, { log });
  const { url } = served.admin;
  through.nothing = url;
  await proxy('X-Forwarded-For', url, 'X-Forwarded-For');
  await proxy('Forwarded', url, 'Forwarded');
  await proxy('a proxy that tells nothing', url, undefined);
  await proxy('inner', url, 'X-Forwarded-For', INNER);
  await proxy('two proxies', through.inner ?? '', 'X-Forwarded-For');
  await proxy('a proxy nobody trusts', url, 'X-Forwarded-For', '127.0.0.66');
});
afterAll(async () => {
  for (const each of proxies) each.stop();
  await served?.close();
});
beforeEach(() => {
  lines = [];
});

interface Ask {
  from?: string | undefined;
  by?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Asks through a proxy, from an address of this machine. */
async function ask(path: string, { from = CLIENT, by = 'nothing', headers = {}, body }: Ask) {
  const { hostname, port } = new URL(through[by] ?? '');
  const method = body === undefined ? 'GET' : 'POST';
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ host: hostname, port, path, method, localAddress: from, headers, agent: false })
      .once('response', resolve)
      .once('error', reject)
      .end(body);
  });
  return { status: answer.statusCode, body: await text(answer) };
}

/** What guesses of a client are answered with. @param headers of each of them */
async function guess(by: string, headersOf: (i: number) => Record<string, string>) {
  const statuses: (number | undefined)[] = [];
  for (let i = 0; i <= TOLERATED; i++) {
    statuses.push((await ask('/api/info/me', { by, headers: headersOf(i) })).status);
  }
  return statuses;
}

const THROTTLED = [...Array(TOLERATED).fill(401), 429];

describe.each([
  ['nothing', CLIENT],
  ['X-Forwarded-For', CLIENT],
  ['Forwarded', CLIENT],
  ['two proxies', CLIENT],
  ['a proxy that tells nothing', PROXY],
  ['a proxy nobody trusts', '127.0.0.66'],
])('through %s', (by, seen) => {
  const header = by === 'Forwarded' ? 'Forwarded' : 'X-Forwarded-For';
  const spoofed = (i: number) => (header === 'Forwarded' ? `for=6.6.6.${i}` : `6.6.6.${i}`);
  // What a proxy does not write comes from the client, and one that writes nothing must not be named.
  const written = by !== 'a proxy that tells nothing';
  const spoof = (i: number): Record<string, string> => (written ? { [header]: spoofed(i) } : {});

  test('the log says who asks', async () => {
    await ask('/api', { by, headers: spoof(1) });
    expect(lines.filter(({ msg }) => msg === 'request').map(({ client }) => client)).toEqual([seen]);
  });

  test('an address that is signed for a computer is good there alone', async () => {
    const file = await published();
    const signedFor = async (address: string) => {
      const body = new URLSearchParams({ url: file, 'valid-source': address }).toString();
      const type = 'application/x-www-form-urlencoded';
      const headers = { Authorization: ADMIN, 'Content-Type': type };
      const answer = await ask('/api/security/sign', { headers, body });
      const { url } = JSON.parse(answer.body) as { url: string };
      return url.slice(served.admin.url.length);
    };
    const own = await signedFor(seen);
    expect(await ask(own, { by, headers: spoof(1) })).toEqual({ status: 200, body: 'bytes' });
    const wanted = await signedFor('6.6.6.1');
    expect((await ask(wanted, { by, headers: spoof(1) })).status).toBe(403);
    if (seen === CLIENT) expect((await ask(own, { by, from: OTHER })).status).toBe(403);
  });
});

test.each(['nothing', 'X-Forwarded-For', 'Forwarded', 'two proxies'])(
  'wrong passwords through %s are counted by client, wherever they say that they come from',
  async (by) => {
    const header = by === 'Forwarded' ? 'Forwarded' : 'X-Forwarded-For';
    const name = `guessed-${by.length}`;
    const right = await served.app.account(name, 'ROLE_API');
    const wrong = `Basic ${btoa(`${name}:wrong`)}`;
    const spoof = (i: number) => ({
      Authorization: wrong,
      [header]: header === 'Forwarded' ? `for=6.6.6.${i}` : `6.6.6.${i}`,
    });
    expect(await guess(by, spoof)).toEqual(THROTTLED);
    const elsewhere = { by, from: OTHER, headers: { Authorization: wrong } };
    expect((await ask('/api/info/me', elsewhere)).status).toBe(401);
    expect((await ask('/api/info/me', { ...elsewhere, headers: { Authorization: right } })).status).toBe(200);
  },
);

test('a client that adds the header its proxy does not write counts as the proxy', async () => {
  await ask('/api', { by: 'X-Forwarded-For', headers: { Forwarded: 'for=6.6.6.6' } });
  await ask('/api', { by: 'Forwarded', headers: { 'X-Forwarded-For': '6.6.6.6' } });
  expect(lines.map(({ client }) => client)).toEqual([PROXY, PROXY]);
});

test.each(['unknown', '_x', ',,,', '"', '[', 'a'.repeat(7000), '10.0.0.1, '.repeat(600)])(
  'a client that says %.40s is answered, and is no other for that',
  async (value) => {
    for (const header of ['X-Forwarded-For', 'Forwarded']) {
      expect((await ask('/api', { from: PROXY, headers: { [header]: value } })).status).toBe(200);
      expect((await ask('/api', { by: header, headers: { [header]: value } })).status).toBe(200);
    }
    // Who leaves a list in Forwarded that cannot be read counts as the proxy.
    expect(lines.map(({ client }) => client)).toEqual([PROXY, CLIENT, PROXY, PROXY]);
  },
);

async function published(): Promise<string> {
  const { database, storage } = served.app;
  const event_id = await insertEvent(database);
  const publication_id = await insertPublication(database, event_id);
  const { id } = await insertElement(database, storage, Buffer.from('bytes'), {
    event_id,
    publication_id,
    kind: 'media',
    filename: 'a.mp4',
  });
  return `${served.admin.url}/publications/${publication_id}/${id}/a.mp4`;
}
