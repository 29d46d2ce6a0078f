import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { heartbeat } from '../../src/workflows/claims.ts';
import { insertManyStates } from '../support/agents-page.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { browserAvailable } from '../support/chromium.ts';
import { eventually } from '../support/eventually.ts';
import { inBrowser } from '../support/in-browser.ts';
import { LOOKS, openLook } from '../support/looks.ts';
import {
  claimReady,
  endOperation,
  operatorScene,
  REASONS,
  startRecording,
} from '../support/operator-scene.ts';
import { signIn } from '../support/upload-page.ts';
import { processingState } from '../support/workflows.ts';

/** As many as a page is to be quick with; fewer unless somebody measures. */
const FINISHED = Number(process.env.FINISHED ?? 2_000);

let app: TestApp;
let scene: Awaited<ReturnType<typeof operatorScene>>;
beforeAll(async () => {
  app = await createTestApp(undefined, {}, { streamMs: 600_000 });
  await insertManyStates(app.database);
  scene = await operatorScene(app.database, FINISHED);
}, 300_000);
afterAll(() => app?.close());

const read = async (path: string) => {
  const answer = await app.request(path);
  expect(answer.status).toBe(200);
  return answer.text();
};

const post = (path: string, fields: Record<string, string>) =>
  app.request(path, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });

describe("the operator's page", () => {
  test('says without a click what has failed, why, and how often for each reason', async () => {
    const text = await read('/admin');
    for (const [reason, count] of REASONS) {
      expect(text).toContain(`<h3 class="alarm">${reason}</h3>`);
      if (count > 1) expect(text).toContain(`${count} recordings`);
    }
    expect(text.indexOf(REASONS[2][0])).toBeLessThan(text.indexOf(REASONS[0][0]));
    expect(text).toContain('moov atom not found');
    expect(text).toContain('1 track, 2.2 GiB · 1:30:00');
  });

  test('tells what runs and how far, what waits, what waits for somebody, and how the halls are', async () => {
    const text = await read('/admin');
    expect(text).toMatch(/Running \(1\)[\s\S]*Analysis I, lecture 12[\s\S]*encode[\s\S]*value="0.37"/);
    expect(text).toMatch(
      /Waiting \(4\)[\s\S]*Waiting lecture 1[\s\S]*Waiting for somebody \(1\)[\s\S]*under review/,
    );
    expect(text).toMatch(/Halls \(10, <span class="alarm">\d+ need somebody/);
  });

  test('a button tries one recording again, and another all of a reason', async () => {
    const [first] = scene.failed;
    const one = await post(`/admin/recordings/${first?.eventId}/workflow`, {
      ...{ workflow: String(first?.workflowId), state: 'retry', back: 'now' },
    });
    expect([one.status, one.headers.get('Location')]).toEqual([
      303,
      '../../../admin?done=It+is+tried+again.',
    ]);
    const text = await read('/admin');
    const key = /name="reason" value="([^"]*breaks off[^"]*)"/.exec(text)?.[1] ?? '';
    const all = await post('/admin/failed/retry', { reason: key });
    expect(all.headers.get('Location')).toBe('../../admin?done=3+recordings+are+tried+again.');
    const states = await Promise.all(
      scene.failed.map(({ eventId }) => processingState(app.database, eventId)),
    );
    expect(states).toEqual([...Array(4).fill('RUNNING'), ...Array(3).fill('FAILED')]);
    expect(await read('/admin')).not.toContain('breaks off');
  });

  test('of many that failed for one reason all are shown where they are asked for', async () => {
    const ids = await Promise.all(
      Array.from({ length: 7 }, async (_, i) => {
        const { workflowId } = await startRecording(app.database, `One of many ${i}`);
        await endOperation(app.database, await claimReady(app.database, workflowId), 'Much is wrong.');
        return workflowId;
      }),
    );
    const shown = async (path: string) => {
      const text = await read(path);
      return ids.filter((id) => text.includes(`id="failed-${id}"`)).length;
    };
    expect(await shown('/admin')).toBe(5);
    const link = /href="([^"]*)"[^>]*>And 2 more/.exec(await read('/admin'))?.[1] ?? '';
    const { pathname, search } = new URL(link, 'http://x/admin');
    expect(await shown(pathname + search)).toBe(7);
    await post('/admin/failed/retry', { reason: 'Much is wrong.' });
  });

  test('a button of one recording does nothing to a workflow of another', async () => {
    const { workflowId } = await startRecording(app.database, 'Not this one');
    const fields = { workflow: String(workflowId), state: 'stopped' };
    const answer = await post(`/admin/recordings/${scene.failed[0]?.eventId}/workflow`, fields);
    expect([answer.status, await answer.text()]).toEqual([
      404,
      `Cannot find workflow instance with id '${workflowId}'.`,
    ]);
    const body = new URLSearchParams({ state: 'stopped' });
    await app.request(`/api/workflows/${workflowId}`, { method: 'PUT', body });
  });

  test('what a state does not allow, and what nobody knows, is refused in a sentence', async () => {
    const { eventId, workflowId } = scene.running;
    const wish = (fields: Record<string, string>) => post(`/admin/recordings/${eventId}/workflow`, fields);
    const refused = await wish({ workflow: String(workflowId), state: 'retry' });
    expect([refused.status, await refused.text()]).toEqual([
      409,
      'The workflow cannot go from RUNNING to RUNNING.',
    ]);
    expect((await wish({ workflow: '0', state: 'retry' })).status).toBe(400);
    expect((await wish({ workflow: '999999999', state: 'retry' })).status).toBe(404);
    const busy = await post(`/admin/recordings/${eventId}/start`, { definition: 'publish' });
    expect(busy.status).toBe(409);
  });

  test('a page of another site can press none of them', async () => {
    const answer = await app.request(`/admin/recordings/${scene.running.eventId}/delete`, {
      method: 'POST',
      headers: { Origin: 'https://elsewhere.example.org' },
    });
    expect(answer.status).toBe(403);
  });

  test('a recording is found by its title, its identifier and the request that started it', async () => {
    const { eventId } = scene.paused;
    for (const search of ['lecture review', eventId, 'request-Lecture-under-review']) {
      const text = await read(`/admin/recordings?q=${encodeURIComponent(search)}`);
      expect(text).toContain(`admin/recordings/${eventId}`);
    }
    expect(await read('/admin/recordings?q=nothing+of+that+kind')).toContain('No recording has');
    expect((await app.request('/admin/recordings?q=%00')).status).toBe(400);
  });

  test('a recording tells its whole story, also when it has been deleted', async () => {
    const { eventId } = scene.paused;
    const text = await read(`/admin/recordings/${eventId}`);
    expect(text).toContain('Lecture under review');
    expect(text).toMatch(/“schedule-and-upload” started[\s\S]*by <bdi>ada<\/bdi>/);
    expect(text.match(/class="succeeded" x=/g)).toHaveLength(5);
    expect(text).toContain('h264 1920×1080 25 fps');
    const gone = await post(`/admin/recordings/${eventId}/delete`, { back: 'recording' });
    expect(gone.status).toBe(303);
    const after = await read(`/admin/recordings/${eventId}`);
    expect(after).toContain('The recording has been deleted.');
    expect(after).toMatch(/Deleted <span class="faint">by <bdi>admin/);
    expect(await read(`/admin/recordings?q=${eventId}`)).toContain('Lecture under review');
    expect((await app.request('/admin/recordings/nobody')).status).toBe(404);
  });
});

describe.skipIf(!browserAvailable())("the operator's page in a browser", () => {
  const served = inBrowser(() => app);
  const open = async (page: Page) => {
    await page.goto(`${served.origin}/admin`);
    await signIn(page, 'admin', 'opencast');
    await page.getByRole('heading', { name: 'Now' }).waitFor();
  };

  test.each(LOOKS)('fits and asks no other host, in %s and %i pixels wide', async (...how) => {
    const { page, faults, look, close } = await openLook(served, how);
    await open(page);
    await page.getByRole('heading', { name: REASONS[1][0] }).waitFor();
    await look('now');
    await page.getByRole('link', { name: 'Broken lecture 7' }).click();
    await page.getByRole('heading', { level: 1, name: 'Broken lecture 7' }).waitFor();
    await look('recording');
    await page.goto(`${served.origin}/admin/recordings?q=lecture`);
    await look('search');
    expect(faults).toEqual([]);
    await close();
  });

  test('progress moves and what is tried again leaves the failed ones, without loading the page anew', async () => {
    const context = await served.browser.newContext();
    const page = await context.newPage();
    await open(page);
    await page.evaluate(() => document.body.setAttribute('data-same', 'yes'));
    const bar = page.locator(`progress[data-workflow="${scene.running.workflowId}"]`);
    await heartbeat(app.database, scene.claim, 0.71);
    // What happened before it listened it finds out when it asks by itself, after a quarter of a minute.
    await eventually(async () => expect(Number(await bar.getAttribute('value'))).toBeCloseTo(0.71), 60_000);
    const failed = scene.failed.at(-1);
    const row = page.locator(`#retry-${failed?.workflowId}`);
    expect(await row.isVisible()).toBe(true);
    await app.request(`/api/workflows/${failed?.workflowId}`, {
      method: 'PUT',
      body: new URLSearchParams({ state: 'retry' }),
    });
    await eventually(async () => expect(await row.count()).toBe(0), 60_000);
    expect(await page.locator('body').getAttribute('data-same')).toBe('yes');
    await context.close();
  });

  test('retry works with a key of the keyboard and the session of a person', async () => {
    const context = await served.browser.newContext();
    const page = await context.newPage();
    await open(page);
    const failed = scene.failed.at(-2);
    await page.locator(`#retry-${failed?.workflowId}`).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('status').waitFor();
    expect(await page.getByRole('status').innerText()).toBe('It is tried again.');
    expect(await processingState(app.database, failed?.eventId ?? '')).toBe('RUNNING');
    await context.close();
  });
});
