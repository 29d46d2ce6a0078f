import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type JWTPayload, SignJWT } from 'jose';
import { afterAll, describe, expect, test } from 'vitest';
import { createApp } from '#app/app.ts';
import { serve } from '#platform/http/server/serve.ts';
import { ownApp } from '../support/app.ts';
import { giveAcl } from '../support/event-writes.ts';
import { folderForThisFile } from '../support/folders.ts';
import { freePort } from '../support/free-port.ts';
import { signingKey } from '../support/identity-provider.ts';
import {
  CLIENT_ID,
  CookieBrowser,
  DEPLOYMENT,
  deepLinkingClaims,
  lti,
  readDeepLinkingResponse,
  startLearningPlatform,
} from '../support/learning-platform.ts';
import { insertEvent, insertPublication } from '../support/publication.ts';
import { ace } from '../support/series.ts';

const platform = await startLearningPlatform();
const stranger = await signingKey('RS256');
const folder = await folderForThisFile();
const keys = join(folder, 'lti.json');
const settings = { name: 'lms', issuer: platform.url, clientId: CLIENT_ID, deployments: [DEPLOYMENT] };
const [authorization, keySet] = [`${platform.url}/auth?site=1`, `${platform.url}/keys`];
await writeFile(
  keys,
  JSON.stringify({
    platforms: [
      { ...settings, authorization, keys: keySet },
      { ...settings, name: 'away', clientId: 'away', authorization, keys: 'http://127.0.0.1:9/keys' },
    ],
  }),
);
const port = await freePort();
const origin = `http://127.0.0.1:${port}`;
const app = await ownApp(undefined, { PUBLIC_URL: origin, LTI_KEYS: keys, PORT: String(port) });
const server = await serve(createApp(app.context).fetch, { host: '127.0.0.1', port });
afterAll(async () => {
  server.destroy();
  await platform.close();
});
const FROM_PLATFORM = { Origin: platform.url, 'Sec-Fetch-Site': 'cross-site' };
const LOGIN = { iss: platform.url, login_hint: 'h', lti_message_hint: 'm', client_id: CLIENT_ID };

/** Begins a login. @returns the parameters that the platform receives */
async function login(browser: CookieBrowser, hint: Record<string, string> = LOGIN): Promise<URLSearchParams> {
  const { location } = await browser.open('/lti/login', hint, FROM_PLATFORM);
  expect(location?.href).toMatch(`${platform.url}/auth?site=1&`);
  await fetch(location ?? '');
  return platform.asked;
}

const post = (browser: CookieBrowser, fields: Record<string, string>) =>
  browser.open('/lti/launch', fields, FROM_PLATFORM);

/** Logs in and launches. @param sign makes the token of the claims */
async function launch(
  claims: JWTPayload | ((login: URLSearchParams) => JWTPayload) = {},
  { browser = new CookieBrowser(origin), sign = platform.key.sign, hint = LOGIN as Record<string, string> } = {},
) {
  const asked = await login(browser, hint);
  const id_token = await sign(platform.claims(asked, typeof claims === 'function' ? claims(asked) : claims));
  const fields = { id_token, state: asked.get('state') ?? '' };
  return { ...(await post(browser, fields)), asked, browser, fields };
}

async function recording(title = 'Lecture') {
  const id = await insertEvent(app.database, { title });
  await giveAcl(app, id, [ace('17_Learner'), ace('17_Instructor')]);
  return { id, publication: await insertPublication(app.database, id) };
}

/** Follows a launch to its page. */
async function page({ browser, location }: Pick<Awaited<ReturnType<typeof launch>>, 'browser' | 'location'>) {
  const start = await browser.open(`${location?.pathname}${location?.search}`);
  return start.location ? `${start.location.pathname}${start.location.search}` : start.text;
}

describe('a launch by LTI 1.3', () => {
  test('asks the platform as OpenID Connect has it, by a form or a link', async () => {
    const browser = new CookieBrowser(origin);
    const asked = Object.fromEntries(await login(browser));
    expect(asked).toEqual({
      ...{ site: '1', scope: 'openid', response_type: 'id_token', response_mode: 'form_post', prompt: 'none' },
      ...{ client_id: CLIENT_ID, redirect_uri: `${origin}/lti/launch`, login_hint: 'h', lti_message_hint: 'm' },
      ...{ state: expect.any(String), nonce: expect.any(String) },
    });
    const link = await browser.open(`/lti/login?${new URLSearchParams(LOGIN)}`);
    expect([link.status, link.location?.origin]).toEqual([303, platform.url]);
  });

  test('signs its user in with the roles of the course, and leads to the target of the token', async () => {
    const { id, publication } = await recording();
    const launched = await launch(lti({ target_link_uri: `${origin}/play/${id}` }));
    expect(await page(launched)).toBe(`/watch/${publication}`);
    expect((await launched.browser.open(`/watch/${publication}`)).status).toBe(200);
    const me = JSON.parse((await launched.browser.open('/info/me.json')).text);
    expect([me.user.username, me.user.name]).toEqual(['lti:lms:42', 'Ada Lovelace']);
    expect(me.roles).toEqual(expect.arrayContaining(['17_Learner', 'ROLE_17_Learner']));
  });

  test.each(['\0', '\ud800', 'x'.repeat(1000), `${'x'.repeat(127)}😀x`, 'a b'])(
    'grants nothing in a course that no role can name: %j',
    async (id) => {
      const claims = lti({ context: { id, title: 'x' }, roles: ['Instructor', ...Array(1000).fill('\ud800')] });
      const launched = await launch({ ...claims, name: 'a\0b' });
      await page(launched);
      const me = JSON.parse((await launched.browser.open('/info/me.json')).text);
      expect(me.user.username).toBe('lti:lms:42');
      expect(me.roles.filter((role: string) => role.includes('Instructor'))).toEqual([]);
    },
  );

  test('leads to the custom tool, whatever the target', async () => {
    const claims = lti({ target_link_uri: `${origin}/lti`, custom: { tool: '/editor-ui/index.html', id: 'abc' } });
    expect(await page(await launch(claims))).toBe('/editor-ui/index.html?id=abc');
  });

  test('has empty claims as PHP writes them', async () => {
    const launched = await launch(
      lti({ custom: [], lis: null, ext: { user_username: null }, roles: null, context: [], target_link_uri: null }),
    );
    expect(await page(launched)).toBe('/lti/series');
    const me = JSON.parse((await launched.browser.open('/info/me.json')).text);
    expect(me.user.username).toBe('lti:lms:42');
  });

  test('needs a person to continue in a browser that does not return the cookie of the login', async () => {
    const { browser, fields } = await launch();
    expect(browser.cookies.has('inlet-launch')).toBe(true);
    const asked = await login(new CookieBrowser(origin));
    const id_token = await platform.key.sign(platform.claims(asked));
    const other = new CookieBrowser(origin);
    const { location } = await post(other, { id_token, state: asked.get('state') ?? '' });
    expect([location?.pathname, other.cookies.size]).toEqual(['/lti/start', 0]);
    expect((await post(other, fields)).status).toBe(401);
  });

  test('adds its course to the session of its user where the cookie of the login is lost', async () => {
    const id = await insertEvent(app.database);
    await giveAcl(app, id, [ace('18_Learner')]);
    const publication = await insertPublication(app.database, id);
    const { browser } = await launch();
    const asked = await login(browser);
    for (const name of browser.cookies.keys()) if (name.startsWith('inlet-state')) browser.cookies.delete(name);
    const claims = lti({ context: { id: '18' }, target_link_uri: `${origin}/play/${id}` });
    const id_token = await platform.key.sign(platform.claims(asked, claims));
    const launched = await post(browser, { id_token, state: asked.get('state') ?? '' });
    expect(await page({ ...launched, browser })).toBe(`/watch/${publication}`);
  });
});

describe('a launch is refused with a page', () => {
  const now = Math.floor(Date.now() / 1000);
  test.each<[string, JWTPayload, number, string]>([
    ['late', { iat: now - 400, exp: now - 100 }, 401, 'too old'],
    ['issued long ago', { iat: now - 3600, exp: now + 300 }, 401, 'too old|iat'],
    ['without a time', { iat: undefined }, 401, "'iat'"],
    ['without an end', { exp: undefined }, 401, "'exp'"],
    ['of another platform', { iss: 'https://evil.example' }, 401, "'iss'"],
    ['for another client', { aud: 'other' }, 401, "'aud'"],
    ['for several clients', { aud: [CLIENT_ID, 'other'] }, 401, "'azp'"],
    ['for another party', { aud: [CLIENT_ID, 'other'], azp: 'other' }, 401, "'azp'"],
    ['of another login', { nonce: 'other' }, 401, "'nonce'"],
    ['without a nonce', { nonce: undefined }, 401, "'nonce'"],
    ['of another deployment', lti({ deployment_id: '2' }), 401, "'deployment_id'"],
    ['of another version', lti({ version: '1.1' }), 400, "'version'"],
    ['of another message', lti({ message_type: 'LtiSubmissionReviewRequest' }), 400, "'message_type'"],
    ['without a user', { sub: undefined }, 400, 'its user is missing'],
    ['with a number as its user', JSON.parse('{ "sub": 42 }'), 400, 'its user is missing'],
    [
      'to another server',
      lti({ target_link_uri: 'https://evil.example/watch/1' }),
      400,
      'is not a page of this server',
    ],
    ['to the operator', lti({ custom: { tool: '/admin' } }), 400, 'is not a page of this server'],
    ['to choose without settings', lti({ message_type: 'LtiDeepLinkingRequest' }), 400, 'deep_linking_settings'],
    [
      'to choose as a learner',
      { ...deepLinkingClaims('https://lms.example.org'), ...lti({ roles: ['Learner'] }) },
      403,
      'Only instructors',
    ],
    ['to choose for a script', deepLinkingClaims('javascript:alert(1)'), 400, 'deep_link_return_url'],
    ['to choose a file', deepLinkingClaims('https://lms.example.org', { accept_types: ['file'] }), 400, 'accept_types'],
  ])('%s', async (_, claims, status, sentence) => {
    const { browser, ...answer } = await launch(claims);
    expect([answer.status, answer.text.replaceAll('&#39;', "'")]).toEqual([
      status,
      expect.stringMatching(new RegExp(sentence)),
    ]);
    expect(answer.headers.get('Content-Security-Policy')).toContain('frame-ancestors *');
    expect(browser.cookies.has('inlet-launch')).toBe(false);
  });

  test.each<[string, (claims: JWTPayload) => Promise<string>]>([
    ['signed by another key', (claims) => stranger.sign(claims)],
    ['not signed', async (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.`],
    [
      'signed with the public key as a secret',
      (claims) =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: 'HS256', kid: platform.key.publicJwk.kid ?? '' })
          .sign(Buffer.from(JSON.stringify(platform.key.publicJwk))),
    ],
    ['of no token', async () => 'x'.repeat(500)],
  ])('%s', async (_, sign) => {
    const { browser, status, text } = await launch({}, { sign });
    expect([status, text]).toEqual([401, expect.stringContaining('signature of its token is wrong')]);
    expect(browser.cookies.has('inlet-launch')).toBe(false);
  });

  test('sent before, concurrently too', async () => {
    const { browser, fields } = await launch();
    expect((await post(browser, fields)).text).toContain('used before');
    const asked = await login(browser);
    const twice = { id_token: await platform.key.sign(platform.claims(asked)), state: asked.get('state') ?? '' };
    const both = await Promise.all([post(browser, twice), post(browser, twice)]);
    expect(both.map(({ status }) => status).sort()).toEqual([303, 401]);
  });

  test('of a state that is not of this server, or of another purpose', async () => {
    const browser = new CookieBrowser(origin);
    const asked = await login(browser);
    const id_token = await platform.key.sign(platform.claims(asked));
    const { token } = (await app.context.launches?.tokens.sign('start', { platform: 'lms' }, 60)) ?? { token: '' };
    const expired = (await app.context.launches?.tokens.sign('state', { platform: 'lms' }, -10))?.token ?? '';
    for (const state of ['', 'x', token, expired, await stranger.sign({ aud: 'state', jti: 'x' })]) {
      expect((await post(browser, { id_token, state })).status).toBe(401);
    }
    const failed = await post(browser, { state: asked.get('state') ?? '', error: 'login_required' });
    expect([failed.status, failed.text]).toEqual([400, expect.stringContaining('login_required')]);
    expect((await post(browser, { state: 'x'.repeat(300_000) })).status).toBe(413);
  });

  test('while the platform does not serve its keys', async () => {
    const answer = await launch({ aud: 'away' }, { hint: { ...LOGIN, client_id: 'away' } });
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, '10']);
  });

  test.each<[string, Record<string, string>]>([
    ['unknown platform', { ...LOGIN, iss: 'https://evil.example' }],
    ['unknown client', { ...LOGIN, client_id: 'other' }],
    ['client that is not named, of several', { iss: platform.url, login_hint: 'h' }],
    ['user that is not named', { iss: platform.url }],
  ])('of a login of an %s', async (_, hint) => {
    const answer = await new CookieBrowser(origin).open('/lti/login', hint, FROM_PLATFORM);
    expect([answer.status, answer.location]).toEqual([400, undefined]);
  });
});

describe('an instructor chooses', () => {
  const returnUrl = 'https://lms.example.org/return?x=1';
  const choosing = async () => {
    const { status, text, headers, browser } = await launch(deepLinkingClaims(returnUrl));
    const token = /name="token" value="([^"]+)"/.exec(text)?.[1] ?? '';
    // Frames of other sites may have no cookies.
    browser.cookies.clear();
    const send = (fields: Record<string, string>) =>
      browser.open('/lti/choose', { token, ...fields }, { Origin: origin });
    return { status, text, headers, send };
  };

  test('among what the course may read, by words', async () => {
    const word = randomUUID();
    const { id } = await recording(`Analysis ${word} <b>`);
    const secret = await insertEvent(app.database, { title: `Secret ${word}` });
    await insertPublication(app.database, secret);
    const { send } = await choosing();
    const { status, text } = await send({ words: word });
    expect([status, text]).toEqual([
      200,
      expect.stringContaining(`value="recording:${id}">Analysis ${word} &lt;b&gt;`),
    ]);
    expect(text).not.toContain('Secret');
    for (const choice of [`recording:${secret}`, 'recording:none', 'series:none', 'x']) {
      expect([choice, (await send({ choice })).status]).toEqual([choice, 404]);
    }
  });

  test('a recording, which the platform receives signed, and launches', async () => {
    const { id, publication } = await recording('Chosen');
    const { send } = await choosing();
    const { status, text, headers } = await send({ choice: `recording:${id}` });
    expect([status, text]).toEqual([200, expect.stringContaining(`action="${returnUrl}"`)]);
    expect(text).toContain('<button>Add to the course</button>');
    expect(headers.get('Content-Security-Policy')).toContain('form-action https://lms.example.org;');
    const jwt = /name="JWT" value="([^"]+)"/.exec(text)?.[1] ?? '';
    const response = await readDeepLinkingResponse(jwt, origin, platform);
    const item = {
      type: 'ltiResourceLink',
      title: 'Chosen',
      url: `${origin}/play/${id}`,
      custom: { tool: `/play/${id}` },
    };
    expect(response).toEqual({ type: 'LtiDeepLinkingResponse', deployment: DEPLOYMENT, data: 'opaque', items: [item] });
    expect(await page(await launch(lti({ target_link_uri: item.url, custom: item.custom })))).toBe(
      `/watch/${publication}`,
    );
  });

  test('of published recordings only, however many are scheduled after them', async () => {
    const { id } = await recording('Published');
    for (let day = 10; day < 40; day += 1) {
      const planned = await insertEvent(app.database, { start_date: new Date(Date.now() + day * 86_400_000) });
      await giveAcl(app, planned, [ace('17_Instructor')]);
    }
    const { text } = await choosing();
    expect(text).toContain(`value="recording:${id}"`);
  });

  test('a series', async () => {
    const series = randomUUID();
    await app.database.insertInto('series').values({ id: series, title: 'Whole course', creator: 'x' }).execute();
    await app.database
      .insertInto('series_acl')
      .values({ series_id: series, position: 0, role: '17_Instructor', action: 'read', allow: true })
      .execute();
    const { text, send } = await choosing();
    expect(text).toContain(`value="series:${series}">Whole course`);
    const answer = await send({ choice: `series:${series}` });
    const jwt = /name="JWT" value="([^"]+)"/.exec(answer.text)?.[1] ?? '';
    const { items } = await readDeepLinkingResponse(jwt, origin, platform);
    const [item] = items;
    const claims = { ...lti({ target_link_uri: item?.url, custom: item?.custom, roles: ['Instructor'] }) };
    expect(await page(await launch(claims))).toBe(`/lti/series?series=${series}`);
  });

  test('with a token of this server alone', async () => {
    const { send } = await choosing();
    for (const token of ['', 'x', await stranger.sign({ aud: 'choice', jti: 'x' })]) {
      expect((await send({ token })).status).toBe(401);
    }
  });
});

test('the key pair of the data folder stays, and an own one must be RSA', async () => {
  const served = async (path: string) => JSON.parse((await new CookieBrowser(origin).open(path)).text);
  const { keys: published } = await served('/lti/keys');
  expect(published).toEqual([
    expect.objectContaining({ kty: 'RSA', alg: 'RS256', use: 'sig', kid: expect.any(String) }),
  ]);
  expect(published[0]).not.toHaveProperty('d');
  const { openToolKey } = await import('#access/launches/tool-key.ts');
  const { dataDir } = app.context.config;
  expect((await openToolKey(undefined, dataDir)).jwk.kid).toBe(published[0].kid);
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  await expect(openToolKey(ec.toString(), dataDir)).rejects.toThrow('allowed is an RSA key in PEM');
});

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
