import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { createApp } from '#app/app.ts';
import { ownApp } from '../support/app.ts';
import { browserAvailable } from '../support/chromium.ts';
import { editorData, recordedEvent } from '../support/editor.ts';
import { appearance, inBrowser, LOOKS, openLook } from '../support/in-browser.ts';
import { processEvent } from '../support/process-event.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const app = await ownApp();
const PAUSED = { flagForCutting: 'true' };

async function eventOf(id: string) {
  const event = await app.request(`/api/events/${id}?withpublications=true`);
  return (await event.json()) as { processing_state: string; duration: number; publications: { id: string }[] };
}

describe.skipIf(!browserAvailable())('the form to cut', () => {
  const served = inBrowser(createApp(app.context).fetch);

  async function openSignedIn(page: Page, path: string): Promise<void> {
    await page.goto(`${served.origin}${path}`);
    if (!page.url().includes('/sign-in')) return;
    await page.getByLabel('User name').fill('admin');
    await page.getByLabel('Password').fill('opencast');
    await page.getByRole('button', { name: 'Sign in' }).click();
  }

  test.each([true, false])(
    'keeps the middle third of a paused recording, with scripts: %s',
    async (javaScriptEnabled) => {
      const id = await recordedEvent(app, PAUSED);
      const { duration } = await editorData(app, id);
      const { page, faults, look, close } = await openLook(served, LOOKS[0], { javaScriptEnabled });
      await openSignedIn(page, `/admin/recordings/${id}`);
      await page.getByRole('link', { name: 'Cut Lecture' }).click();
      await page.getByRole('heading', { name: 'Cut Lecture' }).waitFor();
      const [start, end] = [
        page.getByLabel('From, part 1', { exact: true }),
        page.getByLabel('To, part 1', { exact: true }),
      ];
      if (javaScriptEnabled) {
        const seek = (seconds: number) =>
          page.locator('video').evaluate(
            (video: HTMLVideoElement, at) =>
              new Promise((resolve) => {
                video.addEventListener('seeked', resolve, { once: true });
                video.currentTime = at;
              }),
            seconds,
          );
        await seek(2);
        await page.getByRole('button', { name: 'Use position: From, part 1' }).click();
        await seek(4);
        await page.getByRole('button', { name: 'Use position: To, part 1' }).click();
        expect([await start.inputValue(), await end.inputValue()]).toEqual(['0:00:02.000', '0:00:04.000']);
        await look('editor-form');
      } else {
        await start.fill('0:02');
        await end.fill('0:01');
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        await page.getByText('The cut is invalid: segment 1 ends at 1 s, not after its start at 2 s.').waitFor();
        expect(await start.inputValue()).toBe('0:02');
        await end.fill('0:04');
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        expect(await page.getByRole('status').textContent()).toBe('The cut is saved.');
      }
      await page.getByRole('button', { name: 'Save and process' }).click();
      await page.getByText('The cut is saved, and the recording is being processed.').waitFor();
      await processEvent(app, id);
      expect(await eventOf(id)).toMatchObject({ processing_state: 'SUCCEEDED', duration: duration / 3 });
      expect(faults.filter((text) => !text.includes('400'))).toEqual([]);
      await close();
    },
  );

  test('a second person is kept out while the form is open', async () => {
    const id = await recordedEvent(app, PAUSED, {
      acl: [
        { role: 'ROLE_USER', action: 'read' },
        { role: 'ROLE_USER', action: 'write' },
      ],
    });
    const Authorization = await app.account('ada');
    expect((await app.request(`/editor-ui/?id=${id}`, { headers: { Authorization } })).status).toBe(200);
    const { page, close } = await openLook(served, LOOKS[1]);
    await openSignedIn(page, `/editor-ui/index.html?id=${id}`);
    await page.getByText(`Event '${id}' is locked by ada`).waitFor();
    await close();
  });

  test('leaving the form releases the recording, saving it does not', async () => {
    const id = await recordedEvent(app, PAUSED);
    const { page, close } = await openLook(served, LOOKS[0]);
    const isLocked = async () =>
      (await (await app.request(`/admin/recordings/${id}`)).text()).includes('Open in an editor');
    await openSignedIn(page, `/editor-ui/?id=${id}`);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The cut is saved.').waitFor();
    expect(await isLocked()).toBe(true);
    const refreshed = page.waitForResponse((answer) => answer.url().endsWith('/lock'));
    await page.reload();
    expect((await refreshed).status()).toBe(201);
    expect(await isLocked()).toBe(true);
    await page.goto(`${served.origin}/admin/recordings/${id}`);
    await expect.poll(isLocked).toBe(false);
    await close();
  });

  test.each(LOOKS)('is readable in %s colours at %i pixels, and axe finds nothing wrong', async (...look) => {
    const id = await recordedEvent(app, PAUSED);
    const { page, look: picture, close } = await openLook(served, look, { bypassCSP: true });
    await openSignedIn(page, `/editor-ui/?id=${id}`);
    await page.getByRole('heading', { name: 'Parts to keep' }).waitFor();
    await picture('editor-form-look');
    const seen = await appearance(page);
    expect(seen).toMatchObject({ overflows: false, unlabelled: 0, broken: 0, dark: look[0] === 'dark' });
    await page.evaluate(await readFile(AXE, 'utf8'));
    const { violations } = await page.evaluate(() =>
      (window as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: unknown[] }[] }> } }).axe.run(),
    );
    expect(violations.map(({ id, nodes }) => `${id}: ${JSON.stringify(nodes)}`)).toEqual([]);
    await close();
  });
});

describe('a configured editor', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'inlet-editor-'));
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>Editor</title><script>run()</script>');
  await writeFile(join(folder, 'assets', 'main.js'), 'run');
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const configured = await ownApp(undefined, { EDITOR_DIR: folder });

  test.each([
    ['/editor-ui/index.html?id=x', 'text/html', '<title>Editor</title>'],
    ['/editor-ui/?id=x', 'text/html', '<title>Editor</title>'],
    ['/editor-ui/assets/main.js', 'text/javascript', 'run'],
    ['/editor-ui/editor-settings.toml', 'application/toml', '[subtitles]'],
    ['/ui/config/editor/editor-settings.toml', 'application/toml', '[subtitles]'],
  ])('%s is served as %s to accounts only', async (path, type, text) => {
    const answer = await configured.request(path);
    expect([answer.status, answer.headers.get('Content-Type')?.split(';')[0]]).toEqual([200, type]);
    expect(await answer.text()).toContain(text);
    expect((await configured.anonymous(path)).status).toBe(401);
  });

  test.each([
    [
      '[opencast]\n# A demonstration\nurl = "https://develop.opencast.org"\n\n[thumbnail]\nshow = false\n',
      'show = true',
    ],
    ['[opencast]\n# url = "https://example.org"\n\n[thumbnail]\nshow = false\n', 'show = false'],
  ])('the settings %j in its folder answer with %s', async (settings, expected) => {
    const file = join(folder, 'editor-settings.toml');
    await writeFile(file, settings);
    for (const path of ['/editor-ui/editor-settings.toml', '/ui/config/editor/editor-settings.toml'])
      expect(await (await configured.request(path)).text()).toContain(expected);
    await rm(file);
  });

  test('paths that leave the folder are not found', async () => {
    for (const path of ['/editor-ui/..%2f..%2fetc/passwd', '/editor-ui/missing.js', '/editor-ui/%E0%A4%A'])
      expect((await configured.request(path)).status).toBe(404);
  });
});
