import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { changePassword, removeAccount } from '#access/accounts/accounts.ts';
import { digestSecrets, hashPassword } from '#access/accounts/secrets.ts';
import { DigestVerifier, Nonces, nonceKeyReader } from '#access/sign-in/digest/digest-verifier.ts';
import { createApp } from '#app/app.ts';
import { createContext } from '#app/context.ts';
import { addMachine } from '../support/accounts.ts';
import { ownApp } from '../support/app.ts';
import { type DigestInput, digestHeader, nonceOf } from '../support/digest.ts';

/** Signing in with HTTP Digest. Wrong passwords are counted for the whole application, and accounts of machines listed. */
const app = await ownApp();

const ME = '/api/info/me';
const BOTH = /^Digest realm="Opencast", qop="auth", nonce="[\w-]+", algorithm=MD5, Basic realm="Opencast"$/;
const ROLES = ['ROLE_API', 'ROLE_API_EVENTS_VIEW', 'ROLE_API_EVENTS_CREATE'];

await addMachine(app.database, 'agent', { roles: ROLES });
await addMachine(app.database, 'Hörsaal "1"', { roles: ROLES });
await app.account('person', ...ROLES);

const basic = (username: string, password: string) => ({
  Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
});
const freshNonce = async () => nonceOf(await app.anonymous(ME));

/** One request with a digest; what is not said is right. */
async function ask(
  path: string,
  input: Partial<DigestInput> = {},
  init: RequestInit & { headers?: Record<string, string> } = {},
): Promise<Response> {
  const { method = 'GET' } = init;
  const usual = { username: 'agent', password: 'secret', uri: path, method, nc: '00000001' };
  const nonce = input.nonce ?? (await freshNonce());
  const Authorization = digestHeader({ ...usual, ...input, nonce });
  return app.anonymous(path, { ...init, headers: { ...init.headers, Authorization } });
}

describe('rule 8: a machine signs in with Digest', () => {
  test('after a challenge that stands before the one of Basic', async () => {
    const refused = await app.anonymous(ME);
    expect(refused.status).toBe(401);
    expect(refused.headers.get('WWW-Authenticate')).toMatch(BOTH);
    const answer = await ask(ME, { nonce: nonceOf(refused) });
    expect(answer.status).toBe(200);
    expect(answer.headers.has('WWW-Authenticate')).toBe(false);
    expect(await answer.json()).toMatchObject({ username: 'agent' });
  });

  test.each<[string, Partial<DigestInput>]>([
    ['SHA-256', { algorithm: 'SHA-256' }],
    ['no qop, as clients of RFC 2069', { nc: undefined } as unknown as Partial<DigestInput>],
    ['nc somewhere', { nc: 'ffffff01' }],
    ['a user name with umlauts and quotes', { username: 'Hörsaal "1"' }],
    ['the whole URL, as to a proxy', { uri: `https://media.example.org${ME}` }],
  ])('with %s', async (_name, input) => {
    expect((await ask(ME, input)).status).toBe(200);
  });

  test('with one nonce as often as it likes, in any order', async () => {
    const nonce = await freshNonce();
    for (const nc of ['00000002', '00000001', '00000001', '00000003']) {
      expect((await ask(ME, { nonce, nc })).status).toBe(200);
    }
  });

  test.each([
    ['GET', '/api/events?limit=1&filter=textFilter:a%20b', {}, 200],
    ['HEAD', ME, {}, 200],
    ['GET', '/api/events/', {}, 200],
    ['POST', '/capture-admin/agents/H%C3%B6rsaal%201%2F2', {}, 200],
    ['POST', '/uploads', { 'Tus-Resumable': '1.0.0', 'Upload-Length': '1' }, 201],
    ['GET', '/admin/queues', {}, 403],
  ])('to %s %s', async (method, path, headers, status) => {
    const body = path.startsWith('/capture-admin') ? { body: new URLSearchParams({ state: 'idle' }) } : {};
    expect((await ask(path, {}, { method, headers, ...body })).status).toBe(status);
    // The method is part of what is signed.
    const other = method === 'GET' ? 'POST' : 'GET';
    expect((await ask(path, { method: other }, { method, headers, ...body })).status).toBe(401);
  });
});

test('rule 9: what Digest needs is kept of machines alone, and people have Basic alone', async () => {
  const kept = await app.database.selectFrom('agent_accounts').select('username').execute();
  expect(kept.map(({ username }) => username).sort()).toEqual(['Hörsaal "1"', 'agent']);
  const asked = await app.anonymous(ME, {
    headers: { 'X-Requested-Auth': 'Digest', Authorization: 'Digest' },
  });
  const nonce = nonceOf(asked);
  expect((await ask(ME, { nonce })).status).toBe(200);
  expect((await ask(ME, { nonce, username: 'person' })).status).toBe(401);
  expect((await app.request(ME, { headers: basic('person', 'secret') })).status).toBe(200);
});

describe('a digest is refused', () => {
  test('with a wrong password, of a person, of the administrator and of nobody in the same way', async () => {
    const answers = [];
    for (const [username, password] of [
      ['agent', 'wrong'],
      ['person', 'secret'],
      ['admin', 'opencast'],
      [randomUUID(), 'secret'],
    ] as const) {
      const answer = await ask(ME, { username, password });
      answers.push([answer.status, await answer.text(), answer.headers.get('WWW-Authenticate')]);
    }
    expect(new Set(answers.map((each) => JSON.stringify(each)))).toEqual(
      new Set([JSON.stringify([401, 'User name or password is wrong.', 'Basic realm="Opencast"'])]),
    );
    const asked = await ask(ME, { password: 'wrong' }, { headers: { 'X-Requested-Auth': 'Digest' } });
    expect(asked.headers.get('WWW-Authenticate')).toMatch(/^Digest (?!.*\bBasic\b)/);
  });

  test('of an account of the administrator’s name', async () => {
    await addMachine(app.database, 'admin');
    expect((await ask(ME, { username: 'admin' })).status).toBe(401);
    await removeAccount(app.database, 'admin');
  });

  test('for another realm, with a challenge that names ours', async () => {
    const answer = await ask(ME, { realm: 'elsewhere' });
    expect(answer.status).toBe(401);
    expect(await answer.text()).toBe(
      "The Authorization header is not a valid HTTP Digest response: 'realm' must be Opencast.",
    );
    expect(answer.headers.get('WWW-Authenticate')).toMatch(/^Digest realm="Opencast", .*algorithm=MD5$/);
  });

  test('for another address than it was made for: 400', async () => {
    for (const uri of ['/api/events', `${ME}?a=1`, '*', '/']) {
      const answer = await ask(ME, { uri });
      expect([uri, answer.status, answer.headers.has('WWW-Authenticate')]).toEqual([uri, 400, false]);
    }
  });

  test('also where anybody may ask', async () => {
    expect((await ask('/api', { password: 'wrong' })).status).toBe(401);
    expect((await ask('/api')).status).toBe(200);
  });
});

describe('a nonce', () => {
  /** The application as it is at another time. */
  function appAt(now: () => number) {
    const { directory, database, config } = app.context;
    const nonces = new Nonces(nonceKeyReader(database), now);
    const digestVerifier = new DigestVerifier({ directory, nonces, publicUrl: config.publicUrl });
    return createApp({ ...app.context, digestVerifier });
  }

  test('is good for a day, and then replaced for whoever knows the password', async () => {
    let now = Date.now();
    const later = appAt(() => now);
    const nonce = nonceOf(await later.request(ME));
    const at = (input: Partial<DigestInput> = {}) =>
      later.request(ME, {
        headers: {
          Authorization: digestHeader({ username: 'agent', password: 'secret', uri: ME, nonce, ...input }),
        },
      });
    now += 24 * 60 * 60 * 1000 - 2000;
    expect((await at()).status).toBe(200);
    now += 4000;
    const stale = await at({ algorithm: 'SHA-256' });
    expect(stale.status).toBe(401);
    expect(stale.headers.get('WWW-Authenticate')).toMatch(/^Digest .*, algorithm=SHA-256, stale=true$/);
    expect((await at({ nonce: nonceOf(stale) })).status).toBe(200);
    const wrong = await at({ password: 'wrong' });
    expect([wrong.status, wrong.headers.get('WWW-Authenticate')]).toEqual([401, 'Basic realm="Opencast"']);
  });

  test('that we did not issue is replaced as well, and lets nobody in', async () => {
    const forged = (await freshNonce()).replace(/.{22}$/, 'A'.repeat(22));
    for (const nonce of ['dcd98b7102dd2f0e8b11d0f600bfb0c093', forged]) {
      const answer = await ask(ME, { nonce });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('WWW-Authenticate')).toMatch(/stale=true$/);
      expect((await ask(ME, { nonce: nonceOf(answer) })).status).toBe(200);
    }
  });

  test('is good in every process on the same database', async () => {
    const { config, log } = app.context;
    const other = await createContext(config, 'api', { log });
    try {
      const nonce = nonceOf(await createApp(other).request(ME));
      expect((await ask(ME, { nonce })).status).toBe(200);
    } finally {
      await other.close();
    }
  });
});

describe('wrong digests', () => {
  test('are counted with wrong passwords, and keep no machine from going on that has been let in', async () => {
    await addMachine(app.database, 'guessed', { roles: ROLES });
    const nonce = await freshNonce();
    const go = (input: Partial<DigestInput>) => ask(ME, { username: 'guessed', ...input });
    expect((await go({ nonce })).status).toBe(200);
    const headers = basic('guessed', 'wrong');
    for (let i = 0; i < 10; i += 1) {
      expect((await go({ password: `${i}` })).status).toBe(401);
      expect((await app.request(ME, { headers })).status).toBe(401);
    }
    for (const password of ['wrong', 'secret']) {
      const refused = await go({ password });
      expect(refused.status).toBe(429);
      expect(await refused.text()).toBe('Too many wrong passwords; try again later.');
      expect(refused.headers.get('Retry-After')).toMatch(/^\d+$/);
    }
    expect((await app.request(ME, { headers })).status).toBe(429);
    expect((await go({ nonce, nc: '00000002' })).status).toBe(200);
    expect((await ask(ME)).status).toBe(200);
  });
});

describe('the account of a machine', () => {
  let now = 0;
  /** The product's directory behind a clock, and how often it was asked. */
  function watched() {
    const { directory, database, config } = app.context;
    const findAgent = vi.fn((username: string) => directory.findAgent(username));
    const nonces = new Nonces(nonceKeyReader(database));
    const parts = { directory: { findAgent }, nonces, publicUrl: config.publicUrl };
    const later = createApp({ ...app.context, digestVerifier: new DigestVerifier(parts, () => now) });
    const signIn = async (username: string, password = 'secret') => {
      const nonce = await freshNonce();
      const Authorization = digestHeader({ username, password, uri: ME, nonce, nc: '00000001' });
      return (await later.request(ME, { headers: { Authorization } })).status;
    };
    return { findAgent, signIn };
  }

  test('is looked up once a minute', async () => {
    const { findAgent, signIn } = watched();
    for (let i = 0; i < 5; i += 1) expect(await signIn('agent')).toBe(200);
    now += 59_000;
    expect(await signIn('agent')).toBe(200);
    expect(findAgent).toHaveBeenCalledTimes(1);
    now += 1000;
    expect(await signIn('agent')).toBe(200);
    expect(findAgent).toHaveBeenCalledTimes(2);
  });

  test('is gone a minute after it was removed, and a new password is known at once', async () => {
    await addMachine(app.database, 'leaver', { roles: ROLES });
    const { signIn } = watched();
    expect(await signIn('leaver')).toBe(200);
    await changePassword(app.database, 'leaver', await hashPassword('new'), digestSecrets('leaver', 'new'));
    expect(await signIn('leaver', 'new')).toBe(200);
    expect(await signIn('leaver')).toBe(401);
    await removeAccount(app.database, 'leaver');
    now += 60_000;
    expect(await signIn('leaver', 'new')).toBe(401);
  });

  test('that is bound to an agent speaks for no other one, whichever way it signs in', async () => {
    await addMachine(app.database, 'bound', { agentId: 'room/1 ü' });
    const report = async (agent: string, what: string, sign: 'basic' | 'digest') => {
      const path = `/capture-admin/agents/${encodeURIComponent(agent)}${what}`;
      const fields = { state: 'idle', configuration: '{"capture.device.names":"a"}' };
      const init = { method: 'POST', body: new URLSearchParams(fields) };
      const answer =
        sign === 'digest'
          ? await ask(path, { username: 'bound' }, init)
          : await app.request(path, { ...init, headers: basic('bound', 'secret') });
      return [answer.status, await answer.text()];
    };
    for (const sign of ['basic', 'digest'] as const) {
      for (const what of ['', '/configuration']) {
        expect((await report('room/1 ü', what, sign))[0]).toBe(200);
        expect(await report('room/1', what, sign)).toEqual([
          403,
          "This account may act for the capture agent 'room/1 ü' only.",
        ]);
      }
    }
    const known = await app.database.selectFrom('capture_agents').select('id').execute();
    const names = known.map(({ id }) => id);
    expect(names).toContain('room/1 ü');
    expect(names).not.toContain('room/1');
  });
});
