import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertManyStates } from '../support/agents-page.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { browserAvailable } from '../support/chromium.ts';
import { inBrowser } from '../support/in-browser.ts';
import { LOOKS, openLook } from '../support/looks.ts';
import { signIn } from '../support/upload-page.ts';

describe.skipIf(!browserAvailable())('the page about capture agents in a browser without scripts', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await createTestApp();
    await insertManyStates(app.database);
  });
  afterAll(() => app?.close());
  const served = inBrowser(() => app);

  test.each(LOOKS)(
    'is found from the home, fits and asks no other host, in %s and %i pixels wide',
    async (...how) => {
      const { page, faults, look, close } = await openLook(served, how, {
        javaScriptEnabled: false,
      });
      await page.goto(`${served.origin}/admin`);
      await signIn(page, 'admin', 'opencast');
      await page.getByRole('link', { name: /^Capture agents/ }).click();
      await page.waitForURL(`${served.origin}/admin/agents`);
      await look('all');
      await page.getByRole('link', { name: 'Hall 1', exact: true }).first().click();
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Hall 1');
      // An hour and a half of a plan in which an hour has three times the size of its letters; on a phone, a line of a list.
      const block = page.locator('.block.recording');
      const { height = 0 } = (await block.boundingBox()) ?? {};
      if (how[1] > 800) expect(Math.abs(height - 72)).toBeLessThan(3);
      else expect(height).toBeLessThan(50);
      await look('week');
      await page.getByRole('link', { name: 'Week before' }).click();
      await page.getByRole('link', { name: 'Analysis I' }).first().waitFor();
      await page.getByRole('link', { name: 'Now', exact: true }).click();
      await page.waitForURL(`${served.origin}/admin`);
      expect(faults).toEqual([]);
      await close();
    },
  );
});
