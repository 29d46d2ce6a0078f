import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serve } from '../../src/http/server/serve.ts';
import { publishedFile } from '../../src/publications/files.endpoints.ts';
import { UrlSigner } from '../../src/publications/signing/url-signer.ts';
import { watchPage } from '../../src/publications/watch.endpoints.ts';
import { browserAvailable } from '../support/chromium.ts';
import { endpointApp } from '../support/endpoint-app.ts';
import { createWatchPages, type WatchPages } from '../support/served-watch-page.ts';
import { openPage } from '../support/watch-page.ts';

const SECONDS = 20;
const SRT =
  '1\n00:00:00,000 --> 00:00:06,000\nGood morning & <i>welcome</i>\n\n2\n00:00:10,000 --> 00:00:19,000\nGroups\n';
const VTT = 'WEBVTT\n\n00:00.000 --> 00:06.000\nGuten Morgen\n';

describe.skipIf(!browserAvailable())('captions on the watch page', () => {
  let pages: WatchPages;
  let lecture: string;
  let podcast: string;

  beforeAll(async () => {
    pages = await createWatchPages();
    lecture = await pages.publish(
      {
        'presenter/source': { seconds: SECONDS, video: { size: '320x240' } },
        'presentation/source': { seconds: SECONDS, video: { size: '640x360' }, audio: false },
      },
      { en: SRT, de: VTT },
    );
    podcast = await pages.publish(
      { 'audio/source': { seconds: SECONDS, video: false, container: 'm4a' } },
      { de: VTT },
    );
  });
  afterAll(() => pages?.close());

  const open = (path: string) => openPage(pages.browser, pages.origin + path);
  const cues = (page: Page) => page.locator('[data-part="cues"]');
  /** At the beginning, which has captions once the page no longer waits to be started. */
  const begun = (page: Page) => page.getByLabel('Position').press('0');
  const shows = async (page: Page, text: string) =>
    page.waitForFunction((t) => document.querySelector('[data-part="cues"]')?.textContent === t, text);

  test('are shown over all pictures, in the language chosen, at their time', async () => {
    const { page, faults } = await open(lecture);
    expect(await cues(page).textContent()).toBe('');
    const button = page.getByRole('button', { name: 'Captions' });
    await button.click();
    await begun(page);
    await shows(page, 'Good morning & welcome');
    expect(await button.getAttribute('aria-pressed')).toBe('true');
    expect(await cues(page).locator('i').textContent()).toBe('welcome');
    const [shown, screens] = await Promise.all([
      cues(page).boundingBox(),
      page.locator('.screens').boundingBox(),
    ]);
    expect(shown?.width).toBe(screens?.width);

    const language = page.getByLabel('Language of the captions');
    expect(await language.locator('option').allTextContents()).toEqual(['English', 'Deutsch']);
    await language.selectOption('Deutsch');
    await shows(page, 'Guten Morgen');
    expect(await cues(page).getAttribute('lang')).toBe('de');
    await language.selectOption('English');
    await page.keyboard.press('Tab');
    for (const [digit, text] of [
      ['4', ''],
      ['6', 'Groups'],
      ['0', 'Good morning & welcome'],
    ]) {
      await page.getByLabel('Position').press(digit ?? '');
      await shows(page, text ?? '');
    }
    await button.click();
    await shows(page, '');
    expect(faults).toEqual([]);
    await page.close();
  });

  test('of sound alone are shown in front of its waveform', async () => {
    const { page, faults } = await open(podcast);
    expect(await page.getByLabel('Language of the captions').isVisible()).toBe(false);
    await page.keyboard.press('c');
    await begun(page);
    await shows(page, 'Guten Morgen');
    await page.keyboard.press('c');
    await shows(page, '');
    expect(faults).toEqual([]);
    await page.close();
  });

  test('are German for who speaks German', async () => {
    const page = await pages.browser.newPage({ locale: 'de-CH' });
    await page.goto(pages.origin + lecture);
    await page.keyboard.press('c');
    await begun(page);
    await shows(page, 'Guten Morgen');
    await page.close();
  });

  test('have no control where there are none', async () => {
    const path = await pages.publish({ 'presenter/source': { seconds: 1 } });
    const { page, faults } = await open(path);
    await page.keyboard.press('c');
    expect(await page.getByRole('button', { name: 'Captions' }).count()).toBe(0);
    expect(faults).toEqual([]);
    await page.close();
  });

  test('and pictures have signed addresses where media have', async () => {
    const publicUrl = 'https://video.example';
    const signer = new UrlSigner({ keyId: 'inlet', secret: 'secret', ttlSeconds: 60 });
    const app = endpointApp([watchPage, publishedFile], { ...pages.bench, addresses: { signer, publicUrl } });
    const server = await serve((request, env) => app.fetch(request, env), { host: '127.0.0.1', port: 0 });
    const address = signer.sign(publicUrl + lecture, { validUntil: Date.now() + 60_000 });
    const { page, faults } = await openPage(
      pages.browser,
      `http://127.0.0.1:${server.port}${address.slice(publicUrl.length)}`,
    );
    await page.getByRole('button', { name: 'Captions' }).click();
    await begun(page);
    await shows(page, 'Good morning & welcome');
    const urls = await page.evaluate(() =>
      ['track[src]', 'video[src]', 'video[poster]', '[data-sheet]'].flatMap((selector) =>
        [...document.querySelectorAll(selector)].map(
          (element) => element.getAttribute(/\[(.*)\]/.exec(selector)?.[1] ?? '') ?? '',
        ),
      ),
    );
    expect(urls).toHaveLength(7);
    for (const url of urls) {
      expect(url).toMatch(/\?policy=.*&signature=/);
      expect((await page.request.get(new URL(url, page.url()).href)).status()).toBe(200);
      expect((await page.request.get(new URL(url.replace(/\?.*/, ''), page.url()).href)).status()).toBe(400);
    }
    expect(faults).toEqual([]);
    await page.close();
    server.destroy();
  });
});
