import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { sweepUsedTokens } from '#access/launches/used-tokens.ts';
import { createApp } from '#app/app.ts';
import { serve } from '#platform/http/server/serve.ts';
import { ownApp, workerApp } from '../support/app.ts';
import { giveAcl } from '../support/event-writes.ts';
import { folderForThisFile } from '../support/folders.ts';
import { freePort } from '../support/free-port.ts';
import { CONSUMER, CookieBrowser, consumerLaunch } from '../support/learning-platform.ts';
import { insertEvent, insertPublication } from '../support/publication.ts';
import { ace } from '../support/series.ts';

const folder = await folderForThisFile();
const keys = join(folder, 'lti.json');
const trusted = { name: 'studip', key: 'studip-key', secret: 'another secret, as long', trustUsernames: true };
await writeFile(
  keys,
  JSON.stringify({
    consumers: [
      { ...CONSUMER, origins: ['https://moodle.example.org'], instructorRoles: ['ROLE_API', 'ROLE_API_EVENTS_CREATE'] },
      { ...trusted, contextPrefix: 'STUDIP_' },
    ],
  }),
);
const port = await freePort();
const origin = `http://127.0.0.1:${port}`;
const app = await ownApp(undefined, { PUBLIC_URL: origin, LTI_KEYS: keys, PORT: String(port) });
const secure = await ownApp(undefined, { PUBLIC_URL: 'https://media.example.org', LTI_KEYS: keys });
const server = await serve(createApp(app.context).fetch, { host: '127.0.0.1', port });
afterAll(() => server.destroy());
/** As a page of the learning platform sends its form. */
const FROM_PLATFORM = { Origin: 'https://moodle.example.org', 'Sec-Fetch-Site': 'cross-site' };
const LAUNCH = `${origin}/lti`;

async function recording(...roles: string[]) {
  const id = await insertEvent(app.database);
  await giveAcl(
    app,
    id,
    roles.map((role) => ace(role)),
  );
  return { id, publication: await insertPublication(app.database, id) };
}

const launch = (fields: Record<string, string>, browser = new CookieBrowser(origin)) =>
  browser.open('/lti', fields, FROM_PLATFORM);

/** Launches, and follows the redirects to the page. */
async function follow(fields: Record<string, string>, browser = new CookieBrowser(origin)) {
  let answer = await launch(fields, browser);
  const paths: string[] = [];
  for (let i = 0; i < 5 && answer.location; i += 1) {
    const { pathname, search } = answer.location;
    paths.push(pathname + (pathname === '/lti/start' ? '' : search));
    answer = await browser.open(pathname + search);
  }
  return { ...answer, paths };
}

async function whoIs(browser: CookieBrowser) {
  const { text } = await browser.open('/info/me.json');
  return JSON.parse(text) as { user: { username: string; name: string; provider: string }; roles: string[] };
}

describe('a launch by LTI 1.1', () => {
  test('signs its user in with the roles of the course, and leads to the recording', async () => {
    const { id, publication } = await recording('17_Learner');
    const browser = new CookieBrowser(origin);
    const answer = await follow(consumerLaunch(LAUNCH, { custom_tool: `/play/${id}` }), browser);
    expect([answer.status, answer.paths]).toEqual([200, ['/lti/start', `/watch/${publication}`]]);
    const { user, roles } = await whoIs(browser);
    expect(user).toMatchObject({ username: 'lti:moodle:42', name: 'Ada Lovelace', provider: 'lti' });
    expect(roles.sort()).toEqual(
      ['17_Learner', 'ROLE_17_Learner', 'ROLE_ANONYMOUS', 'ROLE_USER', 'ROLE_USER_lti~3A~moodle~3A~42'].sort(),
    );
  });

  test.each([
    ['Stud.IP, which encodes the tool twice', { custom_tool: encodeURIComponent('/play/{id}') }],
    ['Moodle, with parameters of their own', { custom_tool: 'ltitools/player/index.html', custom_id: '{id}' }],
    ['players of the reference', { custom_tool: '/paella7/ui/watch.html?id={id}' }],
  ])('opens the player as %s asks for it', async (_, fields) => {
    const { id, publication } = await recording('ROLE_17_Learner');
    const filled = Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, value.replace(/\{id\}|%7Bid%7D/, id)]),
    );
    expect((await follow(consumerLaunch(LAUNCH, filled))).paths.at(-1)).toBe(`/watch/${publication}`);
  });

  test('lists the recordings of a series that the course may read', async () => {
    const series = randomUUID();
    await app.database.insertInto('series').values({ id: series, title: 'Analysis', creator: 'x' }).execute();
    await app.database
      .insertInto('series_acl')
      .values({ series_id: series, position: 0, role: '17_Learner', action: 'read', allow: true })
      .execute();
    const of = { series_id: series, series_title: 'Analysis' };
    const shown = await insertEvent(app.database, { ...of, title: 'Shown <b>lecture</b>' });
    const hidden = await insertEvent(app.database, { ...of, title: 'Hidden lecture' });
    await giveAcl(app, hidden, [ace('18_Learner')]);
    const publication = await insertPublication(app.database, shown);
    await insertPublication(app.database, hidden);
    const tool = { custom_tool: 'ltitools/series/index.html', custom_series: series };
    const { status, text, headers } = await follow(consumerLaunch(LAUNCH, tool));
    expect([status, headers.get('Content-Security-Policy')]).toEqual([
      200,
      expect.stringContaining('frame-ancestors *'),
    ]);
    expect(text).toContain('Shown &lt;b&gt;lecture&lt;/b&gt;');
    expect(text).toContain(`href="../watch/${publication}"`);
    expect(text).not.toContain('Hidden');
  });

  test('lets an instructor upload, in a frame of the platform alone', async () => {
    const browser = new CookieBrowser(origin);
    const fields = { custom_tool: '/upload', roles: 'Instructor,urn:lti:sysrole:ims/lis/Administrator' };
    const { status, headers } = await follow(consumerLaunch(LAUNCH, fields), browser);
    expect([status, (await browser.open('/ingest/createMediaPackage')).status]).toEqual([200, 200]);
    expect(headers.get('Content-Security-Policy')).toContain("frame-ancestors 'self' https://moodle.example.org");
    expect((await follow(consumerLaunch(LAUNCH, { custom_tool: '/upload' }))).status).toBe(403);
  });

  test('makes nobody an administrator, and grants no role of a user or group', async () => {
    const reserved = ['ROLE', 'ROLE_ADMIN', 'USER', 'USER_ada', 'GROUP', 'GROUP_x', 'CAPTURE', 'API_EVENTS', ''];
    for (const context_id of reserved) {
      const browser = new CookieBrowser(origin);
      const roles = 'urn:lti:sysrole:ims/lis/Administrator,Administrator,ROLE_ADMIN,ADMIN,SUDO,AGENT,VIEW,ADA,Learner';
      await follow(consumerLaunch(LAUNCH, { roles, context_id }), browser);
      const granted = (await whoIs(browser)).roles.join(' ');
      expect(granted).not.toMatch(/ROLE_(ADMIN|USER_a|USER_ADA|GROUP_|SUDO|CAPTURE|API)/);
      expect((await browser.open('/admin')).status).toBe(403);
    }
  });

  test('is signed with the secret as it is by plugins of Moodle, which do not encode it', async () => {
    const fields = consumerLaunch(LAUNCH, { custom_tool: '/upload', roles: 'Instructor' }, { encodesSecret: false });
    expect((await follow(fields)).status).toBe(200);
  });

  test('is signed by SHA-256 as well', async () => {
    const fields = { oauth_signature_method: 'HMAC-SHA256' };
    expect((await launch(consumerLaunch(LAUNCH, fields, { algorithm: 'sha256' }))).status).toBe(303);
  });

  test('keeps the courses of other frames of the same user, and ends the session of another user', async () => {
    const browser = new CookieBrowser(origin);
    await follow(consumerLaunch(LAUNCH), browser);
    await follow(consumerLaunch(LAUNCH, { context_id: '18', roles: 'Instructor' }), browser);
    expect((await whoIs(browser)).roles).toEqual(expect.arrayContaining(['17_Learner', '18_Instructor']));
    await follow(consumerLaunch(LAUNCH, { context_id: '18', roles: 'Learner' }), browser);
    expect((await whoIs(browser)).roles).not.toContain('18_Instructor');
    await follow(consumerLaunch(LAUNCH, { user_id: '43' }), browser);
    const { user, roles } = await whoIs(browser);
    expect([user.username, roles.includes('18_Learner')]).toEqual(['lti:moodle:43', false]);
  });

  test('continues in a new window once where frames keep no cookies', async () => {
    const { id, publication } = await recording('17_Learner');
    const { location } = await launch(consumerLaunch(LAUNCH, { custom_tool: `/play/${id}` }));
    const start = `${location?.pathname}${location?.search}`;
    const frame = await new CookieBrowser(origin).open(start);
    expect([frame.status, frame.text]).toEqual([200, expect.stringContaining('Open in a new window')]);
    const [, token = ''] = /name="token" value="([^"]+)"/.exec(frame.text) ?? [];
    const window = new CookieBrowser(origin);
    const opened = await window.open('/lti/start', { token });
    expect([opened.status, opened.location?.pathname]).toEqual([303, `/watch/${publication}`]);
    expect((await window.open(`/watch/${publication}`)).status).toBe(200);
    expect((await new CookieBrowser(origin).open('/lti/start', { token })).status).toBe(401);
  });

  test('watches in a new window what another course of this window may read', async () => {
    const { id, publication } = await recording('17_Learner');
    const window = new CookieBrowser(origin);
    await follow(consumerLaunch(LAUNCH), window);
    const { location } = await launch(consumerLaunch(LAUNCH, { context_id: '', custom_tool: `/play/${id}` }));
    const opened = await window.open('/lti/start', { token: location?.searchParams.get('token') ?? '' });
    expect(opened.location?.pathname).toBe(`/watch/${publication}`);
  });

  test('takes precedence over an account until somebody signs in', async () => {
    const browser = new CookieBrowser(origin);
    const credentials = { username: 'admin', password: 'opencast' };
    await browser.open('/sign-in', credentials, { Origin: origin });
    await follow(consumerLaunch(LAUNCH), browser);
    expect((await whoIs(browser)).user.username).toBe('lti:moodle:42');
    await browser.open('/sign-in', credentials, { Origin: origin });
    expect((await whoIs(browser)).user.username).toBe('admin');
  });
});

describe('a trusted platform', () => {
  const fields = (more: Record<string, string>) =>
    consumerLaunch(LAUNCH, { oauth_consumer_key: trusted.key, ...more }, { secret: trusted.secret });

  test('names users of this server, whose roles count too', async () => {
    const username = `teacher-${randomUUID()}`;
    await app.account(username, 'ROLE_API');
    const browser = new CookieBrowser(origin);
    await follow(fields({ lis_person_sourcedid: username }), browser);
    const { user, roles } = await whoIs(browser);
    expect(user.username).toBe(username);
    expect(roles).toEqual(expect.arrayContaining(['ROLE_API', 'STUDIP_17_Learner']));
    await app.database.deleteFrom('accounts').where('username', '=', username).execute();
    expect((await whoIs(browser)).user.username).toBe('anonymous');
  });

  test('names neither an administrator nor a service', async () => {
    // Names of letters, digits and _ alone share a role if they differ in case only.
    const service = `service_${randomUUID().replaceAll('-', '')}`;
    await app.account(service, 'ROLE_SUDO');
    for (const name of ['admin', service, service.toUpperCase()]) {
      const browser = new CookieBrowser(origin);
      await follow(fields({ lis_person_sourcedid: name }), browser);
      expect((await whoIs(browser)).user.username).toBe('lti:studip:42');
    }
  });

  test('names nobody with these rights from a group, and nobody who gets them later', async () => {
    for (const hasAccount of [true, false]) {
      const username = `member_${randomUUID().replaceAll('-', '')}`;
      if (hasAccount) await app.account(username);
      const browser = new CookieBrowser(origin);
      await follow(fields({ lis_person_sourcedid: username }), browser);
      expect((await whoIs(browser)).user.username).toBe(username);
      const group = { name: username, roles: 'ROLE_SUDO', members: username };
      await app.request('/api/groups', { method: 'POST', body: new URLSearchParams(group) });
      expect((await whoIs(browser)).user.username).toBe('anonymous');
      await follow(fields({ lis_person_sourcedid: username }), browser);
      expect((await whoIs(browser)).user.username).toBe('lti:studip:42');
    }
    const agent = `agent_${randomUUID().replaceAll('-', '')}`;
    await app.account(agent, 'ROLE_CAPTURE_AGENT');
    const browser = new CookieBrowser(origin);
    await follow(fields({ lis_person_sourcedid: agent }), browser);
    expect((await whoIs(browser)).user.username).toBe('lti:studip:42');
  });

  test('loses a user whose name becomes that of an account, until the next launch', async () => {
    const username = `later_${randomUUID().replaceAll('-', '')}`;
    const browser = new CookieBrowser(origin);
    await follow(fields({ lis_person_sourcedid: username }), browser);
    await app.account(username, 'ROLE_API');
    expect((await whoIs(browser)).user.username).toBe('anonymous');
    await follow(fields({ lis_person_sourcedid: username }), browser);
    expect((await whoIs(browser)).roles).toContain('ROLE_API');
  });

  test('leads to what only a group of the user may watch, also in a new window', async () => {
    const username = `grouped_${randomUUID().replaceAll('-', '')}`;
    const group = { name: username, members: username };
    await app.request('/api/groups', { method: 'POST', body: new URLSearchParams(group) });
    const { id, publication } = await recording(`ROLE_GROUP_${username.toUpperCase()}`);
    const { location } = await launch(fields({ lis_person_sourcedid: username, custom_tool: `/play/${id}` }));
    const token = location?.searchParams.get('token') ?? '';
    const opened = await new CookieBrowser(origin).open('/lti/start', { token });
    expect(opened.location?.pathname).toBe(`/watch/${publication}`);
  });

  test('is no other one: without trust, a name of this server is not taken', async () => {
    const browser = new CookieBrowser(origin);
    await follow(consumerLaunch(LAUNCH, { user_id: 'admin', ext_user_username: 'admin' }), browser);
    expect((await whoIs(browser)).user.username).toBe('lti:moodle:admin');
  });
});

describe('a launch is refused with a page', () => {
  const long = 'x'.repeat(300_000);
  const late = String(Math.floor(Date.now() / 1000) - 400);
  test.each<[string, Record<string, string>, number, string]>([
    ['of another key', { oauth_consumer_key: 'other' }, 401, 'its key is unknown or its signature is wrong'],
    ['of an old time', { oauth_timestamp: late }, 401, 'too old'],
    ['of a time to come', { oauth_timestamp: String(Number(late) + 2000) }, 401, 'too old'],
    ['without a time', { oauth_timestamp: 'now' }, 400, 'oauth_timestamp'],
    ['without a nonce', { oauth_nonce: '' }, 400, 'oauth_nonce'],
    ['in plain text', { oauth_signature_method: 'PLAINTEXT' }, 401, 'HMAC-SHA1 or HMAC-SHA256'],
    ['without a user', { user_id: ' ' }, 400, 'its user is missing'],
    ['of a user with a line break', { user_id: 'a\r\nb' }, 400, 'its user is missing'],
    ['of another message', { lti_message_type: 'ContentItemSelectionRequest' }, 400, 'lti_message_type'],
    ['to another server', { custom_tool: 'https://evil.example/watch/1' }, 400, 'is not a page of this server'],
    ['to another server without a scheme', { custom_tool: '//evil.example' }, 400, 'is not a page of this server'],
    ['to the operator', { custom_tool: '/admin' }, 400, 'is not a page of this server'],
    ['of a huge form', { resource_link_description: long }, 413, 'longer than 262144 bytes'],
  ])('%s', async (_, fields, status, sentence) => {
    const browser = new CookieBrowser(origin);
    const answer = await launch(consumerLaunch(LAUNCH, fields), browser);
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(sentence)]);
    expect(answer.headers.get('Content-Security-Policy')).toContain('frame-ancestors *');
    expect([browser.cookies.size, answer.headers.get('WWW-Authenticate')]).toEqual([0, null]);
  });

  test('that was changed on its way', async () => {
    const fields = { ...consumerLaunch(LAUNCH), roles: 'Instructor' };
    expect((await launch(fields)).status).toBe(401);
    expect((await launch(consumerLaunch(LAUNCH, {}, { secret: 'of somebody else' }))).status).toBe(401);
  });

  test('that was sent before, also to another process, until its time is over', async () => {
    const fields = consumerLaunch(LAUNCH);
    const both = await Promise.all([launch(fields), launch(fields)]);
    expect(both.map(({ status }) => status).sort()).toEqual([303, 401]);
    expect((await launch(fields)).text).toContain('used before');
    await sweepUsedTokens(app.database);
    expect((await launch(fields)).status).toBe(401);
    await app.database
      .updateTable('used_tokens')
      .set({ expires_at: new Date(0) })
      .execute();
    expect(await sweepUsedTokens(app.database)).toBeGreaterThan(0);
  });

  test('to a recording that its course may not read, as one that does not exist', async () => {
    const { id } = await recording('18_Learner');
    const answers = [await follow(consumerLaunch(LAUNCH, { custom_tool: `/play/${id}` }))];
    answers.push(await follow(consumerLaunch(LAUNCH, { custom_tool: `/play/${randomUUID()}` })));
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    expect(answers[0]?.text).toBe(answers[1]?.text);
  });
});

test('without configured platforms nothing can be launched', async () => {
  const other = await workerApp();
  for (const path of ['/lti', '/lti/launch', '/lti/login', '/lti/choose', '/lti/start']) {
    const body = new URLSearchParams(consumerLaunch('http://inlet.test/lti'));
    expect([path, (await other.anonymous(path, { method: 'POST', body })).status]).toEqual([path, 404]);
  }
  for (const path of ['/lti/login', '/lti/keys', '/lti/start']) expect((await other.anonymous(path)).status).toBe(404);
});

test('over https, the cookie of a launch reaches frames of its platform and nothing else', async () => {
  const answer = await secure.anonymous('/lti', {
    method: 'POST',
    headers: FROM_PLATFORM,
    body: new URLSearchParams(consumerLaunch('https://media.example.org/lti')),
  });
  expect(answer.headers.get('Set-Cookie')).toMatch(
    /^__Host-inlet-launch=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=None; Partitioned$/,
  );
  const cookie = answer.headers.get('Set-Cookie')?.split(';')[0] ?? '';
  const write = { method: 'POST', headers: { ...FROM_PLATFORM, Cookie: cookie } };
  expect((await secure.anonymous('/api/events', write)).status).toBe(403);
});
