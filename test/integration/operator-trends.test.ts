import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publishElements } from '../../src/publications/publishing.ts';
import { startReconciler } from '../../workers/reconciler.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bytes } from '../support/bytes.ts';
import { browserAvailable } from '../support/chromium.ts';
import { sendForm } from '../support/event-writes.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, file } from '../support/form.ts';
import { inBrowser } from '../support/in-browser.ts';
import { LOOKS, openLook } from '../support/looks.ts';
import { claimReady, endOperation } from '../support/operator-scene.ts';
import { insertElement } from '../support/publication.ts';
import { fillStatistics, fillStorageSizes } from '../support/statistics.ts';
import { signIn } from '../support/upload-page.ts';

const read = async (app: TestApp, query = '') => {
  const answer = await app.request(`/admin/trends${query}`);
  expect(answer.status).toBe(200);
  return answer.text();
};

/** Lets workers come to what is to be counted. */
async function countedByWorkers({ database, context }: TestApp): Promise<void> {
  const reconciler = startReconciler({
    ...{
      database,
      watch: context.watch,
      staging: context.staging,
      storage: context.storage,
      direct: context,
      log: context.log,
    },
    workDir: join(context.config.dataDir, 'work'),
    recordingGraceMs: context.config.scheduling.recordingGraceMs,
    changesDays: context.config.changesDays,
  });
  await eventually(async () => {
    expect(await sql`SELECT FROM statistics_counts`.execute(database)).not.toHaveProperty('rows', []);
    expect(await sql`SELECT FROM storage_sizes`.execute(database)).not.toHaveProperty('rows', []);
  });
  await reconciler.close();
}

/** A section of the page as its words alone, which tags part. */
function sectionOf(text: string, id: string): string {
  const [, section = ''] =
    new RegExp(`<section class="sheet" id="${id}"([\\s\\S]*?)</section>`).exec(text) ?? [];
  return section.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
}

describe('the page about how it goes', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await createTestApp();
  });
  afterAll(() => app?.close());

  test('says so when nothing has been counted yet', async () => {
    expect(await read(app)).toContain('Nothing has been counted yet');
    expect(await read(app, '?period=month')).toContain('Nothing has been counted yet');
  });

  test('shows what has happened: what came, what waited, what was published, what failed, what is stored', async () => {
    const create = async (size: number) => {
      const parts = [...eventFields(), file('presenter', 'a.mp4', bytes(size))];
      const { text } = await sendForm(app, '/api/events', parts);
      const { identifier: eventId } = JSON.parse(text);
      const { id: workflowId } = await app.database
        .selectFrom('workflows')
        .select('id')
        .where('event_id', '=', eventId)
        .executeTakeFirstOrThrow();
      return { eventId, workflowId };
    };
    const [first, second] = [await create(3_000_000), await create(1_000_000)];
    // One that nothing was sent for.
    expect((await sendForm(app, '/api/events', eventFields())).status).toBe(201);
    // Both could have been begun minutes ago; one fails, and the other is published after half an hour.
    await sql`UPDATE workflow_operations SET ready_at = now() - interval '5 minutes' WHERE state = 'ready'`.execute(
      app.database,
    );
    await endOperation(app.database, await claimReady(app.database, first.workflowId), 'Track 7 is empty.');
    await endOperation(app.database, await claimReady(app.database, second.workflowId));
    const { eventId } = second;
    await sql`UPDATE workflows SET created_at = created_at - interval '30 minutes' WHERE event_id = ${eventId}`.execute(
      app.database,
    );
    await insertElement(app.database, app.storage, bytes(500_000), { event_id: eventId, kind: 'media' });
    const catalog = {
      objectKey: 'catalog',
      filename: 'dublincore.xml',
      size: 1_000,
      sha256: 'a1'.repeat(32),
    };
    await app.database
      .transaction()
      .execute((trx) => publishElements(trx, { eventId, channel: 'engage-player', catalog }));
    await countedByWorkers(app);

    for (const period of ['day', 'month']) {
      const text = await read(app, `?period=${period}`);
      expect(sectionOf(text, 'uploads')).toMatch(/ 2 recordings came .*so far: 2 recordings/);
      expect(sectionOf(text, 'received')).toContain('3.8 MiB in these recordings, 1.9 MiB each on average');
      expect(sectionOf(text, 'waiting')).toMatch(/ (4\.[5-9]|5\.[0-5]|5) min median .* 2 operations/);
      expect(sectionOf(text, 'publishing')).toMatch(/ (2[7-9]|3[0-3]) min median .* 1 publication/);
      expect(sectionOf(text, 'failures')).toMatch(
        / 1 of 1 workflow that ended \(100\.0 %\).* 1 Track … is empty\./,
      );
      expect(sectionOf(text, 'storage')).toMatch(
        / 4\.3 MiB 3\.8 MiB received 489\.3 KiB made by processing 0 bytes/,
      );
    }
  });

  test('refuses another period in a sentence', async () => {
    const answer = await app.request('/admin/trends?period=year');
    expect([answer.status, await answer.text()]).toEqual([
      ...[400, expect.stringContaining(`The parameter 'period' is "year"; allowed are day, month.`)],
    ]);
  });

  test('is for administrators', async () => {
    const Authorization = await app.account('reader', 'ROLE_API');
    expect((await app.request('/admin/trends', { headers: { Authorization } })).status).toBe(403);
  });

  test('shows what people write into reasons as text', async () => {
    await sql`INSERT INTO statistics_counts (period, start, measure, label, count)
      VALUES ('hour', date_trunc('hour', now(), 'UTC'), 'failure', '<script>alert(1)</script>', 1)`.execute(
      app.database,
    );
    expect(await read(app)).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  });
});

describe.skipIf(!browserAvailable())('the page about how it goes, in a browser', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await createTestApp();
    await fillStatistics(app.database, { days: 40, events: 9_000 });
    await fillStorageSizes(app.database, { days: 40 });
  });
  afterAll(() => app?.close());
  const served = inBrowser(() => app);

  test.each(LOOKS)('fits and asks no other host, in %s and %i pixels wide', async (...how) => {
    const { page, faults, look, close } = await openLook(served, how);
    await page.goto(`${served.origin}/admin/trends`);
    await signIn(page, 'admin', 'opencast');
    await page.getByRole('heading', { name: 'How it goes' }).waitFor();
    await page.getByRole('img', { name: /^Bars: how many recordings came/ }).waitFor();
    await look('trends-day');
    await page.getByRole('link', { name: 'Last month' }).click();
    await page.waitForURL(`${served.origin}/admin/trends?period=month`);
    await look('trends-month');
    await page.locator('#waiting summary').click();
    expect(await page.locator('#waiting tbody tr').count()).toBe(30);
    await look('trends-table');
    expect(faults).toEqual([]);
    await close();
  });
});
