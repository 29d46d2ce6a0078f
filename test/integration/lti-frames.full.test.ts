import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '#app/app.ts';
import { serve } from '#platform/http/server/serve.ts';
import { ownApp } from '../support/app.ts';
import { browserAvailable, connectBrowser } from '../support/chromium.ts';
import { giveAcl } from '../support/event-writes.ts';
import { folderForThisFile } from '../support/folders.ts';
import { freePort } from '../support/free-port.ts';
import {
  CLIENT_ID,
  CONSUMER,
  consumerLaunch,
  DEPLOYMENT,
  deepLinkingClaims,
  readDeepLinkingResponse,
  startLearningPlatform,
} from '../support/learning-platform.ts';
import { listen } from '../support/listen.ts';
import { insertEvent, insertPublication } from '../support/publication.ts';
import { ace } from '../support/series.ts';

const platform = await startLearningPlatform();
const keys = join(await folderForThisFile(), 'lti.json');
await writeFile(
  keys,
  JSON.stringify({
    consumers: [CONSUMER],
    platforms: [
      {
        ...{ name: 'lms', issuer: platform.url, clientId: CLIENT_ID, deployments: [DEPLOYMENT] },
        ...{ authorization: `${platform.url}/auth`, keys: `${platform.url}/keys` },
      },
    ],
  }),
);
const port = await freePort();
const origin = `http://127.0.0.1:${port}`;
const app = await ownApp(undefined, { PUBLIC_URL: origin, LTI_KEYS: keys, PORT: String(port) });
const server = await serve(createApp(app.context).fetch, { host: '127.0.0.1', port });
/** Behind https, as far as it knows: Chromium keeps the cookies of https for the loopback address, too. */
const securePort = await freePort();
const secure = await ownApp(undefined, { PUBLIC_URL: `https://127.0.0.1:${securePort}`, LTI_KEYS: keys });
const secureServer = await serve(createApp(secure.context).fetch, { host: '127.0.0.1', port: securePort });
/** Pages of the learning platform by path, and the last form that it received. */
const pages = new Map<string, string>();
let received = new URLSearchParams();
const lms = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  if (request.method === 'POST') received = new URLSearchParams(body);
  response.setHeader('Content-Type', 'text/html').end(pages.get(request.url ?? '') ?? '<h1>Course</h1>');
});
const sameSite = await listen(lms);
const otherSite = sameSite.replace('127.0.0.1', 'localhost');
afterAll(async () => {
  server.destroy();
  secureServer.destroy();
  lms.closeAllConnections();
  lms.close();
  await platform.close();
});

const attribute = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('\r\n', '&#13;&#10;');

/** A page with a frame, in which a form sends itself. */
function framePage(action: string, fields: Record<string, string>): void {
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${attribute(value)}">`,
  );
  const form = `<form method="post" action="${action}">${inputs.join('')}</form><script>document.forms[0].submit()</script>`;
  pages.set('/form', form);
  pages.set('/course', '<h1>Course</h1><iframe src="/form" width="800" height="600"></iframe>');
}

describe.skipIf(!browserAvailable())('in a frame of a learning platform', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await connectBrowser();
  });
  afterAll(() => browser.close());

  async function open(site: string) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${site}/course`);
    return { page, frame: page.frameLocator('iframe'), close: () => context.close() };
  }

  async function launch(at = origin, { database, context: { config } } = app) {
    const id = await insertEvent(database, { title: 'Framed lecture' });
    await giveAcl({ database }, id, [ace('17_Learner')]);
    await insertPublication(database, id);
    framePage(`${at}/lti`, consumerLaunch(`${config.publicUrl}/lti`, { custom_tool: `/play/${id}` }));
  }

  test('a launch shows the recording', async () => {
    await launch();
    const { frame, close } = await open(sameSite);
    await expect.poll(() => frame.locator('h1').textContent()).toBe('Framed lecture');
    await close();
  });

  test('a launch over https shows the recording on pages of other sites', async () => {
    await launch(`http://127.0.0.1:${securePort}`, secure);
    const { page, frame, close } = await open(otherSite);
    await expect.poll(() => frame.locator('h1').textContent()).toBe('Framed lecture');
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ name: '__Host-inlet-launch', sameSite: 'None', partitionKey: expect.any(String) });
    await close();
  });

  test('a launch continues in a new window where the browser keeps no cookies', async () => {
    await launch();
    const { page, frame, close } = await open(otherSite);
    const popup = page.waitForEvent('popup');
    await frame.getByRole('button', { name: 'Open in a new window' }).click();
    await expect.poll(async () => (await popup).locator('h1').textContent()).toBe('Framed lecture');
    await close();
  });

  test('an instructor chooses a recording, which the browser sends back', async () => {
    const id = await insertEvent(app.database, { title: 'Chosen lecture' });
    await giveAcl(app, id, [ace('17_Instructor')]);
    await insertPublication(app.database, id);
    const login = await fetch(`${origin}/lti/login?${new URLSearchParams({ iss: platform.url, login_hint: 'h' })}`, {
      redirect: 'manual',
    });
    const { searchParams } = new URL(login.headers.get('Location') ?? '');
    const claims = platform.claims(searchParams, deepLinkingClaims(`${otherSite}/return`));
    framePage(`${origin}/lti/launch`, {
      state: searchParams.get('state') ?? '',
      id_token: await platform.key.sign(claims),
    });
    const { frame, close } = await open(otherSite);
    await frame.getByLabel('Search').fill('Chosen');
    await frame.getByRole('button', { name: 'Search' }).click();
    await frame.getByRole('button', { name: 'Chosen lecture' }).click();
    await expect.poll(() => frame.locator('h1').textContent()).toBe('Course');
    const { items } = await readDeepLinkingResponse(received.get('JWT') ?? '', origin, platform);
    expect(items.map(({ url }) => url)).toEqual([`${origin}/play/${id}`]);
    await close();
  });
});
