import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import pino from 'pino';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { ADMIN } from '../support/app.ts';
import { insertElement, insertEvent, insertPublication } from '../support/publication.ts';
import { startReverseProxy } from '../support/reverse-proxy.ts';
import { serveApp } from '../support/serve-uploads.ts';

/** Wrong passwords after which no more are tried. */
const TOLERATED = 20;
/** Addresses of this machine, as those of others. */
const [PROXY, INNER, CLIENT, OTHER] = ['127.0.0.1', '127.0.0.9', '127.0.1.1', '127.0.1.2'];

let lines: { msg: string; client?: string }[] = [];
const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
const environment = { TRUSTED_PROXIES: `${PROXY}, ${INNER}/32`, URL_SIGNING_SECRET: 'secret' };
const served = await serveApp(environment, undefined, { log });
afterAll(() => served.close());

const { url } = served.admin;
const through: Record<string, string> = { nothing: url };
async function proxy(name: string, ...[to, telling, from]: Parameters<typeof startReverseProxy>) {
  const started = await startReverseProxy(to, telling, from);
  afterAll(() => started.stop());
  through[name] = started.url;
}
await proxy('X-Forwarded-For', url, 'X-Forwarded-For');
await proxy('Forwarded', url, 'Forwarded');
await proxy('a proxy that tells nothing', url, undefined);
await proxy('inner', url, 'X-Forwarded-For', INNER);
await proxy('two proxies', through.inner ?? '', 'X-Forwarded-For');
await proxy('a proxy nobody trusts', url, 'X-Forwarded-For', '127.0.0.66');

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

/** What a client writes itself into the header that its proxy writes. */
function spoof(by: string, i: number): Record<string, string> {
  if (by === 'Forwarded') return { Forwarded: `for=6.6.6.${i}` };
  // Nothing where no proxy writes the header: the client would be named by it.
  return by === 'a proxy that tells nothing' ? {} : { 'X-Forwarded-For': `6.6.6.${i}` };
}

describe.each([
  ['nothing', CLIENT],
  ['X-Forwarded-For', CLIENT],
  ['Forwarded', CLIENT],
  ['two proxies', CLIENT],
  ['a proxy that tells nothing', PROXY],
  ['a proxy nobody trusts', '127.0.0.66'],
])('through %s', (by, seen) => {
  test('the log says who asks', async () => {
    await ask('/api', { by, headers: spoof(by, 1) });
    expect(lines.filter(({ msg }) => msg === 'request').map(({ client }) => client)).toEqual([seen]);
  });

  test('an address that is signed for a computer is good there alone', async () => {
    const file = await published();
    const signedFor = async (address: string) => {
      const body = new URLSearchParams({ url: file, 'valid-source': address }).toString();
      const type = 'application/x-www-form-urlencoded';
      const headers = { Authorization: ADMIN, 'Content-Type': type };
      const answer = await ask('/api/security/sign', { headers, body });
      return (JSON.parse(answer.body) as { url: string }).url.slice(url.length);
    };
    const own = await signedFor(seen);
    expect(await ask(own, { by, headers: spoof(by, 1) })).toEqual({ status: 200, body: 'bytes' });
    const wanted = await signedFor('6.6.6.1');
    expect((await ask(wanted, { by, headers: spoof(by, 1) })).status).toBe(403);
    if (seen === CLIENT) expect((await ask(own, { by, from: OTHER })).status).toBe(403);
  });
});

test.each(['nothing', 'X-Forwarded-For', 'Forwarded', 'two proxies'])(
  'wrong passwords through %s are counted by client, wherever they say that they come from',
  async (by) => {
    const name = `guessed-${by.length}`;
    const right = await served.app.account(name, 'ROLE_API');
    const wrong = `Basic ${btoa(`${name}:wrong`)}`;
    const statuses: (number | undefined)[] = [];
    for (let i = 0; i <= TOLERATED; i++) {
      const headers = { Authorization: wrong, ...spoof(by, i) };
      statuses.push((await ask('/api/info/me', { by, headers })).status);
    }
    expect(statuses).toEqual([...Array(TOLERATED).fill(401), 429]);
    const elsewhere = { by, from: OTHER, headers: { Authorization: wrong } };
    expect((await ask('/api/info/me', elsewhere)).status).toBe(401);
    expect((await ask('/api/info/me', { ...elsewhere, headers: { Authorization: right } })).status).toBe(200);
  },
);

async function published(): Promise<string> {
  const { database, storage } = served.app;
  const event_id = await insertEvent(database);
  const publication_id = await insertPublication(database, event_id);
  const values = { event_id, publication_id, kind: 'media', filename: 'a.mp4' } as const;
  const { id } = await insertElement(database, storage, Buffer.from('bytes'), values);
  return `${url}/publications/${publication_id}/${id}/a.mp4`;
}
