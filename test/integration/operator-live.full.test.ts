import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { browserAvailable } from '../support/chromium.ts';
import { eventually } from '../support/eventually.ts';
import { inBrowser } from '../support/in-browser.ts';
import { claimReady, endOperation, startRecording } from '../support/operator-scene.ts';
import { signIn } from '../support/upload-page.ts';

describe.skipIf(!browserAvailable())("an operator's page that stays open", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await createTestApp(undefined, {}, { streamMs: 600_000 });
  });
  afterAll(() => app?.close());
  const served = inBrowser(() => app);

  async function open(path: string) {
    const context = await served.browser.newContext();
    const page = await context.newPage();
    await page.goto(`${served.origin}${path}`);
    await signIn(page, 'admin', 'opencast');
    await page.waitForURL(`${served.origin}${path}`);
    return { context, page };
  }
  test('leaves room for the others of the browser, which opens six connections to a server', async () => {
    const { context, page } = await open('/admin');
    // Without a window, a browser takes all of its pages for seen.
    await context.addInitScript(() => {
      Object.defineProperty(document, 'visibilityState', {
        get: () => document.documentElement.title || 'visible',
      });
    });
    for (let i = 0; i < 7; i += 1) {
      const other = await context.newPage();
      await other.goto(`${served.origin}/admin`, { timeout: 60_000 });
      await other.evaluate(() => {
        document.documentElement.title = 'hidden';
        document.dispatchEvent(new Event('visibilitychange'));
      });
    }
    expect(await page.evaluate(() => fetch('/health/live').then(({ status }) => status))).toBe(200);
    await context.close();
  });

  test('says since when it is not up to date, until it is again', async () => {
    const { context, page } = await open('/admin');
    const stale = page.locator('#stale');
    expect(await stale.isVisible()).toBe(false);
    const isPage = (url: URL) => url.pathname === '/admin';
    await page.route(isPage, (route) =>
      route.fulfill({ status: 503, body: 'The database does not answer.' }),
    );
    await startRecording(app.database, 'Unseen');
    await stale.waitFor();
    expect(await stale.innerText()).toMatch(
      /^Not up to date since \d\d:\d\d:\d\d UTC: the server answered with the status 503\.$/,
    );
    await page.unroute(isPage);
    // It asks again by itself after a quarter of a minute.
    await eventually(async () => expect(await stale.isVisible()).toBe(false), 60_000);
    expect(await page.getByText('Unseen').count()).toBe(1);
    await context.close();
  });

  test('keeps what somebody has typed, and the focus', async () => {
    const { context, page } = await open('/admin/parts');
    const lane = page.locator('#lane-heavy');
    await lane.getByRole('spinbutton').fill('7');
    await page.keyboard.press('Tab');
    const { workflowId } = await startRecording(app.database, 'Begun');
    const fresh = page.waitForResponse(`${served.origin}/admin/parts`);
    await claimReady(app.database, workflowId);
    await fresh;
    await page.waitForTimeout(200);
    expect(await lane.getByRole('spinbutton').inputValue()).toBe('7');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Set');
    await page.keyboard.press('Enter');
    await page.getByText('The lane heavy does 7 at once in each worker.').waitFor();
    await context.close();
  });

  test('keeps what somebody has opened and closed, and what has the focus while others come before it', async () => {
    const { workflowId, eventId } = await startRecording(app.database, 'Failed');
    await endOperation(app.database, await claimReady(app.database, workflowId), 'It broke.');
    const { context, page } = await open('/admin');
    const [log, remove] = [page.locator(`#log-${workflowId}`), page.locator(`#delete-${eventId} summary`)];
    await log.locator('summary').click();
    await remove.click();
    const later = await startRecording(app.database, 'Failed later');
    await endOperation(app.database, await claimReady(app.database, later.workflowId), 'It broke.');
    await page.locator(`#failed-${later.workflowId}`).waitFor();
    expect(await log.getAttribute('open')).toBeNull();
    expect(await page.locator(`#delete-${eventId}`).getAttribute('open')).not.toBeNull();
    expect(await remove.evaluate((summary) => document.activeElement === summary)).toBe(true);

    await page.goto(`${served.origin}/admin/recordings/${eventId}`);
    const details = page.locator('#workflows details').first();
    await details.locator('summary').click();
    await app.request('/api/workflows', {
      method: 'POST',
      body: new URLSearchParams({ event_identifier: eventId, workflow_definition_identifier: 'publish' }),
    });
    await eventually(async () => expect(await page.locator('#workflows article').count()).toBe(2), 60_000);
    expect(await page.locator('#workflows details[open]').count()).toBe(1);
    await context.close();
  });

  test('says that its recording has been deleted, and offers no buttons for it any more', async () => {
    const { eventId, workflowId } = await startRecording(app.database, 'To be deleted');
    await endOperation(app.database, await claimReady(app.database, workflowId), 'It broke.');
    const { context, page } = await open(`/admin/recordings/${eventId}`);
    expect(await page.locator('#actions').getByRole('button', { name: 'Retry' }).count()).toBe(1);
    await app.request(`/api/events/${eventId}`, { method: 'DELETE' });
    await page.getByText('The recording has been deleted.').waitFor();
    expect(await page.locator('#actions').getByRole('button').count()).toBe(0);
    await context.close();
  });

  test('leads back from what was refused to where it was asked for', async () => {
    const { eventId, workflowId } = await startRecording(app.database, 'Retried elsewhere');
    await endOperation(app.database, await claimReady(app.database, workflowId), 'It broke.');
    const { context, page } = await open(`/admin/recordings/${eventId}`);
    // Of what happens it hears nothing, neither by the updates nor by asking for itself anew.
    await page.route('**/*', (route) =>
      route.request().isNavigationRequest() ? route.continue() : route.abort(),
    );
    await page.reload();
    await app.request(`/api/events/${eventId}`, { method: 'DELETE' });
    await page.locator(`#delete-${eventId} summary`).click();
    await page.getByRole('button', { name: 'Delete the recording for good' }).click();
    await page.getByText('The recording has been deleted already.').waitFor();
    await page.getByRole('link', { name: 'Back' }).click();
    await page.waitForURL(`${served.origin}/admin/recordings/${eventId}`);
    await context.close();
  });

  test('shows nothing as done that only a link of another site says', async () => {
    const { context, page } = await open('/admin');
    await page.goto(`${served.origin}/admin?done=All+is+lost`);
    expect(await page.getByText('All is lost').count()).toBe(0);
    await context.close();
  });
});
