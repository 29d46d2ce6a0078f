import { beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '#app/app.ts';
import { heartbeat } from '#processing/operation-claims.ts';
import { reportWorkerProcess } from '#processing/worker-processes.ts';
import { insertManyStates } from '../support/agents-page.ts';
import { ownApp } from '../support/app.ts';
import { bytes } from '../support/bytes.ts';
import { browserAvailable } from '../support/chromium.ts';
import { inBrowser, LOOKS, openLook } from '../support/in-browser.ts';
import { claimReady, endOperation, operatorScene, REASONS, startRecording } from '../support/operator-scene.ts';
import { fillStatistics, fillStorageSizes } from '../support/statistics.ts';
import { uploadOf } from '../support/tus.ts';
import { signIn } from '../support/upload-page.ts';
import { processingState } from '../support/workflows.ts';

/** As long as they come, and as hostile. */
const LONG = `https://lms.${'very-long-name.'.repeat(12)}example.org/${'a'.repeat(200)}?<b>`;
const WORD = `Donaudampfschifffahrtsgesellschaftskapitän${'ä'.repeat(120)}.mp4`;
const RIGHT_TO_LEFT = 'محاضرة في الرياضيات (7)';
const HOSTILE = `script>'"&amp;.mp4${'x'.repeat(200)}`;

const app = await ownApp(undefined, {}, { streamMs: 600_000 });
const { database } = app;
let scene: Awaited<ReturnType<typeof operatorScene>>;
beforeAll(async () => {
  await insertManyStates(database);
  scene = await operatorScene(database);
  await fillStatistics(database, { days: 40, events: 9_000 });
  await fillStorageSizes(database, { days: 40 });
  const { workflowId } = await startRecording(database, RIGHT_TO_LEFT);
  await startRecording(database, WORD);
  for (const name of ['worker-hall-17-a1b2c3d4', 'worker-hall-18-a1b2c3d4']) {
    const facts = { host: 'hall-17.media.example.org', pid: 42, runtime: 'Deno 2.9.6', version: '0.1.0' };
    await reportWorkerProcess(database, { ...facts, name, concurrency: 2 });
  }
  await claimReady(database, workflowId);
  const silent = database.updateTable('worker_processes').set({ seen_at: new Date(Date.now() - 60_000) });
  await silent.where('name', 'like', 'worker-hall-18%').execute();
  const lane = new URLSearchParams({ lane: 'long', paused: 'true' });
  await app.request('/admin/parts/lanes', { method: 'POST', body: lane });
  const { id } = await database
    .insertInto('webhooks')
    .values({ url: LONG, secret: 'whsec_x', since: 0, filter: 'kind:event,kind:workflow', failures: 7 })
    .returning('id')
    .executeTakeFirstOrThrow();
  await database
    .insertInto('webhook_deliveries')
    .values({
      ...{ webhook_id: id, message_id: 'msg_1', kind: 'event.deleted', body: '{}', order_key: 'event x' },
      ...{ state: 'parked', attempts: 31, last_error: `There was no answer. ${'x'.repeat(300)}` },
    })
    .execute();
  await uploadOf(app, bytes(2048), { metadata: { filename: WORD }, until: 1536 });
  const hostile = { filename: HOSTILE, owner: 'a'.repeat(200), changed_at: new Date(Date.now() + 60_000) };
  const id2 = await uploadOf(app, bytes(10), { metadata: { filename: 'x' }, until: 5 });
  await database.updateTable('uploads').set(hostile).where('id', '=', id2).execute();
});

describe.skipIf(!browserAvailable())("operators' pages in a browser", () => {
  const served = inBrowser(createApp(app.context).fetch);

  test.each(LOOKS)('fit whatever is in them, and ask no other host, in %s and %i pixels wide', async (...how) => {
    const { page, faults, look, close } = await openLook(served, how);
    await page.goto(`${served.origin}/admin`);
    await signIn(page, 'admin', 'opencast');
    await page.getByRole('heading', { name: REASONS[1][0] }).waitFor();
    const recording = `/recordings/${scene.failed.at(-1)?.eventId}`;
    for (const path of [
      ...['', '/uploads', '/trends', '/parts', '/webhooks', '/agents', '/agents?agent=Hall+1'],
      ...['/recordings?q=lecture', recording, '/trends?period=month'],
    ]) {
      await page.goto(`${served.origin}/admin${path}`);
      await look(`pages${path.replaceAll(/\W+/g, '-')}`);
    }
    await page.getByRole('img', { name: /^Bars: uploaded recordings/ }).waitFor();
    await page.locator('#waiting summary').click();
    expect(await page.locator('#waiting tbody tr').count()).toBe(30);
    await look('trends-table');
    expect(faults).toEqual([]);
    await close();
  });

  test.each(LOOKS)('lead from one to the other without scripts, in %s and %i pixels wide', async (...how) => {
    const { page, faults, look, close } = await openLook(served, how, { javaScriptEnabled: false });
    page.on('dialog', (dialog) => faults.push(dialog.message()));
    await page.goto(`${served.origin}/admin`);
    await signIn(page, 'admin', 'opencast');
    await page.getByRole('link', { name: /^Uploads/ }).click();
    await page.waitForURL(`${served.origin}/admin/uploads`);
    expect(await page.getByRole('row').count()).toBe(3);
    expect(await page.locator('td').first().innerText()).toBe(HOSTILE);
    const body = await page.locator('body').boundingBox();
    const table = await page.getByRole('region', { name: 'Resumable uploads' }).boundingBox();
    expect((table?.x ?? 0) + (table?.width ?? Number.NaN)).toBeLessThanOrEqual(body?.width ?? 0);
    await page.getByRole('link', { name: 'Dashboard', exact: true }).click();
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await page.waitForURL(`${served.origin}/admin/agents`);
    await page.getByRole('link', { name: 'Hall 1', exact: true }).first().click();
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Hall 1');
    // An hour and a half of a plan in which an hour has three times the size of its letters; on a phone, a line of a list.
    const { height = 0 } = (await page.locator('.block.recording').boundingBox()) ?? {};
    if (how[1] > 800) expect(Math.abs(height - 72)).toBeLessThan(3);
    else expect(height).toBeLessThan(50);
    await page.getByRole('link', { name: 'Previous week' }).click();
    await page.getByRole('link', { name: 'Analysis I' }).first().waitFor();
    await look('previous-week');
    expect(faults).toEqual([]);
    await close();
  });
});

describe.skipIf(!browserAvailable())("an operator's page that stays open", () => {
  const served = inBrowser(createApp(app.context).fetch);

  async function open(path: string) {
    const context = await served.browser.newContext();
    const page = await context.newPage();
    await page.goto(`${served.origin}${path}`);
    await signIn(page, 'admin', 'opencast');
    await page.waitForURL(`${served.origin}${path}`);
    return { context, page };
  }
  /** A recording whose first operation has failed. */
  async function failedRecording(title: string) {
    const recording = await startRecording(database, title);
    await endOperation(database, await claimReady(database, recording.workflowId), 'It broke.');
    return recording;
  }

  test('progress moves and what is tried again leaves the failed ones, without loading the page anew', async () => {
    const { context, page } = await open('/admin');
    await page.evaluate(() => document.body.setAttribute('data-same', 'yes'));
    const bar = page.locator(`progress[data-workflow="${scene.running.workflowId}"]`);
    await heartbeat(database, scene.claim, 0.71);
    // What happened before it listened it finds out when it asks by itself, after a quarter of a minute.
    await expect.poll(() => bar.getAttribute('value'), { timeout: 60_000 }).toBe('0.71');
    const failed = scene.failed.at(-1);
    const row = page.locator(`#retry-${failed?.workflowId}`);
    expect(await row.isVisible()).toBe(true);
    await app.request(`/api/workflows/${failed?.workflowId}`, {
      method: 'PUT',
      body: new URLSearchParams({ state: 'retry' }),
    });
    await row.waitFor({ state: 'detached' });
    expect(await page.locator('body').getAttribute('data-same')).toBe('yes');
    await context.close();
  });

  test('retry works with a key of the keyboard and the session of a person', async () => {
    const { context, page } = await open('/admin');
    const failed = scene.failed.at(-2);
    await page.locator(`#retry-${failed?.workflowId}`).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('status').waitFor();
    expect(await page.getByRole('status').innerText()).toBe('The workflow is retried.');
    await page.reload();
    expect(await page.getByText('The workflow is retried.').count()).toBe(0);
    expect(await processingState(database, failed?.eventId ?? '')).toBe('RUNNING');
    await context.close();
  });

  test('recordings are selected by keyboard, all of a page too, and deleted after they have been named', async () => {
    for (const i of [1, 2, 3]) await startRecording(database, `Obsolete ${i}`);
    const { context, page } = await open('/admin/recordings?q=obsolete&sort=title%3Aasc');
    const selected = page.locator('[data-selected]');
    expect(await selected.innerText()).toBe('0 selected:');
    expect(await page.getByRole('button', { name: 'Delete …' }).isDisabled()).toBe(true);
    await page.getByRole('checkbox', { name: 'Select all on this page' }).focus();
    await page.keyboard.press('Space');
    expect(await selected.innerText()).toBe('3 selected:');
    await page.keyboard.press('Enter');
    await page.getByRole('checkbox', { name: 'Select Obsolete 2' }).focus();
    await page.keyboard.press('Space');
    expect(await selected.innerText()).toBe('2 selected:');
    await page.getByRole('button', { name: 'Delete …' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Delete 2 recordings?' }).waitFor();
    expect(await page.locator('ol a').allInnerTexts()).toEqual(['Obsolete 1', 'Obsolete 3']);
    await page.getByRole('button', { name: 'Delete 2 recordings permanently' }).press('Enter');
    await page.getByText('Deleted: 2 recordings.').waitFor();
    await page.getByRole('link', { name: 'Back to the list' }).click();
    expect(await page.getByRole('checkbox', { name: /^Select Obsolete/ }).count()).toBe(1);
    await context.close();
  });

  test('going back selects no other recording than before', async () => {
    for (const i of [2, 3]) await startRecording(database, `Returned to ${i}`);
    const { context, page } = await open('/admin/recordings?q=returned&sort=title%3Aasc');
    await page.getByRole('checkbox', { name: 'Select Returned to 2' }).check();
    await page.getByRole('link', { name: 'Returned to 2' }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await startRecording(database, 'Returned to 1');
    await page.goBack();
    await page.getByRole('checkbox', { name: 'Select Returned to 1' }).waitFor();
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0);
    expect(await page.locator('[data-selected]').innerText()).toBe('0 selected:');
    await context.close();
  });

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
    await page.route(isPage, (route) => route.fulfill({ status: 503, body: 'The database is away.' }));
    await startRecording(database, 'Unseen');
    await stale.waitFor();
    expect(await stale.innerText()).toMatch(/^Not updated since \d\d:\d\d:\d\d UTC: the server answered 503\.$/);
    await page.unroute(isPage);
    // It asks again by itself after a quarter of a minute.
    await stale.waitFor({ state: 'hidden' });
    expect(await page.getByText('Unseen').count()).toBe(1);
    await context.close();
  });

  test('keeps what somebody has typed, and the focus', async () => {
    const { context, page } = await open('/admin/parts');
    const lane = page.locator('#lane-heavy');
    await lane.getByRole('spinbutton').fill('7');
    await page.keyboard.press('Tab');
    const { workflowId } = await startRecording(database, 'Begun');
    await claimReady(database, workflowId);
    await page.getByText('Begun').waitFor();
    expect(await lane.getByRole('spinbutton').inputValue()).toBe('7');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Set');
    await page.keyboard.press('Enter');
    await page.getByText('The lane heavy has a concurrency of 7 per worker.').waitFor();
    await context.close();
  });

  test('keeps what somebody has opened and closed, and what has the focus while others come before it', async () => {
    const { workflowId, eventId } = await failedRecording('Failed');
    const { context, page } = await open('/admin');
    const [log, remove] = [page.locator(`#log-${workflowId}`), page.locator(`#delete-${eventId} summary`)];
    await log.locator('summary').click();
    await remove.click();
    const later = await failedRecording('Failed later');
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
    await page.locator('#workflows article').nth(1).waitFor();
    expect(await page.locator('#workflows details[open]').count()).toBe(1);
    await context.close();
  });

  test('says that its recording has been deleted, and offers no buttons for it any more', async () => {
    const { eventId } = await failedRecording('To be deleted');
    const { context, page } = await open(`/admin/recordings/${eventId}`);
    expect(await page.locator('#actions').getByRole('button', { name: 'Retry' }).count()).toBe(1);
    await app.request(`/api/events/${eventId}`, { method: 'DELETE' });
    await page.getByText('The recording has been deleted.').waitFor();
    expect(await page.locator('#actions').getByRole('button').count()).toBe(0);
    await context.close();
  });

  test('leads back from what was refused to where it was asked for', async () => {
    const { eventId } = await failedRecording('Retried elsewhere');
    const { context, page } = await open(`/admin/recordings/${eventId}`);
    // Of what happens it hears nothing, neither by the updates nor by asking for itself anew.
    await page.route('**/*', (route) => (route.request().isNavigationRequest() ? route.continue() : route.abort()));
    await page.reload();
    await app.request(`/api/events/${eventId}`, { method: 'DELETE' });
    await page.locator(`#delete-${eventId} summary`).click();
    await page.getByRole('button', { name: 'Delete permanently' }).click();
    await page.getByText('The recording has already been deleted.').waitFor();
    await page.getByRole('link', { name: 'Back' }).click();
    await page.waitForURL(`${served.origin}/admin/recordings/${eventId}`);
    await context.close();
  });
});
