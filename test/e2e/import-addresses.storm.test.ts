import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { partsOf, schedule } from '../support/catalogue-scene.ts';
import { browserAvailable, connectBrowser } from '../support/chromium.ts';
import { Client } from '../support/client.ts';
import { recording } from '../support/clips.ts';
import { commandEnvironment, inlet } from '../support/import-command.ts';
import { listen } from '../support/listen.ts';
import { eventId } from '../support/reference-catalogue.ts';
import { ReferenceServer } from '../support/reference-server.ts';
import { showLogsOnFailure, startServer, type TestServer } from '../support/server.ts';

const PLAYED_SECONDS = 0.3;

/** Publishes a recording of two tracks for everyone. */
async function createTwoPictures(client: Client): Promise<string> {
  const content = await recording();
  const files = ['presenter', 'presentation'].map((name) => ({ name, filename: `${name}.mp4`, content }));
  const id = await client.create([...partsOf(0, undefined), ...files]);
  expect(await client.processed(id)).toMatchObject({ processing_state: 'SUCCEEDED' });
  return id;
}

/** Removes the file of a published rendition. @returns puts it back */
async function removeRendition({ database, storage }: TestServer): Promise<() => Promise<void>> {
  const { object_key: key } = await database
    .selectFrom('publication_elements')
    .select('object_key')
    .where('flavor', 'like', 'presentation/%')
    .where('mediatype', '=', 'video/mp4')
    .executeTakeFirstOrThrow();
  const content = await buffer(await storage.get(key));
  await storage.remove([key]);
  return () => storage.put(key, content, { mediatype: 'video/mp4' });
}

describe.skipIf(!browserAvailable())('after an import', () => {
  let reference: ReferenceServer;
  let from: TestServer;
  let to: TestServer;
  let browser: Browser;
  let streamed: string;
  let scheduled: string;
  beforeAll(async () => {
    reference = await ReferenceServer.start({ events: 1, series: 0 });
    reference.change(0, { acl: [{ allow: true, action: 'read', role: 'ROLE_ANONYMOUS' }] });
    from = await startServer({ runtime: 'deno' });
    to = await startServer({ runtime: 'node' });
    browser = await connectBrowser();
    streamed = await createTwoPictures(new Client(from.url));
    scheduled = await schedule(new Client(from.url), 1, 48);
    const importFrom = async (url: string, user: string, password: string, code = 0) => {
      const done = await inlet(commandEnvironment(to, { INLET_PASSWORD: password }), 'import', url, '--user', user);
      expect(done, done.stdout + done.stderr).toMatchObject({ code });
    };
    await importFrom(reference.url, 'import', 'secret');
    // One rendition is missing at first.
    const restore = await removeRendition(from);
    await importFrom(from.url, 'admin', 'opencast', 1);
    await restore();
    await importFrom(from.url, 'admin', 'opencast');
  });
  afterAll(async () => {
    await browser?.close();
    await to?.stop();
    await from?.stop();
    await reference?.close();
  });
  beforeEach((context) => showLogsOnFailure(context, to));

  async function newPage(): Promise<Page> {
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    return context.newPage();
  }

  /** Opens a page of another site with some HTML. */
  async function openElsewhere(html: string): Promise<Page> {
    const site = createServer((_, response) => void response.setHeader('Content-Type', 'text/html').end(html));
    const url = await listen(site);
    onTestFinished(() => void site.close());
    const page = await newPage();
    await page.goto(url.replace('127.0.0.1', 'localhost'));
    return page;
  }

  /** Waits until all media of a page or frame have played for a moment. */
  async function expectPlayed(at: Pick<Page, 'locator'>, media: number): Promise<void> {
    const times = () =>
      at.locator('video').evaluateAll((all) => all.map((each) => (each as HTMLVideoElement).currentTime));
    await expect
      .poll(times)
      .toSatisfy((found: number[]) => found.length === media && found.every((seconds) => seconds > PLAYED_SECONDS));
  }

  async function expectPlays(at: Pick<Page, 'locator' | 'getByRole'>, media: number): Promise<void> {
    await at.getByRole('button', { name: 'Play', exact: true }).click();
    await expectPlayed(at, media);
  }

  test.each([
    '/play/',
    '/paella/ui/watch.html?id=',
    '/paella7/ui/watch.html?id=',
    '/engage/theodul/ui/core.html?id=',
    '/engage/ui/watch.html?id=',
  ])('the old address %s plays, also in a frame of another site', async (path) => {
    const address = to.url + path + eventId(0);
    const page = await newPage();
    await page.goto(address);
    await expectPlays(page, 2);
    const elsewhere = await openElsewhere(`<iframe src="${address}" width="900" height="700"></iframe>`);
    await expectPlays(elsewhere.frameLocator('iframe'), 2);
  });

  test('the old address of a file plays, also on a page of another site', async () => {
    const address = `${to.url}/static/mh_default_org/engage-player/${eventId(0)}/presenter/presenter_delivery.mp4`;
    const page = await newPage();
    await page.goto(address);
    await page.locator('video').evaluate((video: HTMLVideoElement) => video.play());
    await expectPlayed(page, 1);
    await expectPlayed(await openElsewhere(`<video src="${address}" autoplay muted></video>`), 1);
  });

  test('renditions of another Inlet are streamed, also if one of them came later', async () => {
    const page = await newPage();
    const files: (string | undefined)[] = [];
    page.on('response', (response) => files.push(new URL(response.url()).pathname.split('/').at(-1)));
    await page.goto(`${to.url}/play/${streamed}`);
    await expectPlays(page, 2);
    expect(files).toEqual(expect.arrayContaining(['presenter.m3u8', 'presentation.m3u8', 'index.m3u8']));
    for (const video of await page.locator('video').all()) expect(await video.getAttribute('src')).toMatch(/^blob:/);
  });

  test('a scheduled recording is in the calendar of its agent', async () => {
    const calendar = await new Client(to.url).fetch('/recordings/calendars?agentid=hall-1');
    expect(await calendar.text()).toContain(`UID:${scheduled}`);
  });
});
