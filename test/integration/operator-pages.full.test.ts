import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signOfLife } from '../../src/workflows/worker-processes.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bytes } from '../support/bytes.ts';
import { browserAvailable } from '../support/chromium.ts';
import { inBrowser } from '../support/in-browser.ts';
import { LOOKS, openLook } from '../support/looks.ts';
import { claimReady, startRecording } from '../support/operator-scene.ts';
import { fillStatistics, fillStorageSizes } from '../support/statistics.ts';
import { uploadOf } from '../support/tus.ts';
import { signIn } from '../support/upload-page.ts';

/** As long as they come, and as hostile. */
const LONG = `https://lms.${'very-long-name.'.repeat(12)}example.org/${'a'.repeat(200)}?<b>`;
const WORD = `Donaudampfschifffahrtsgesellschaftskapitän${'ä'.repeat(120)}.mp4`;
const RIGHT_TO_LEFT = 'محاضرة في الرياضيات (7)';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp(undefined, {}, { streamMs: 600_000 });
  const { database } = app;
  await fillStatistics(database, { days: 40, events: 2_000 });
  await fillStorageSizes(database, { days: 40 });
  const { workflowId } = await startRecording(database, RIGHT_TO_LEFT);
  await startRecording(database, WORD);
  for (const name of ['worker-hall-17-a1b2c3d4', 'worker-hall-18-a1b2c3d4']) {
    const facts = { host: 'hall-17.media.example.org', pid: 42, runtime: 'Deno 2.9.6', version: '0.1.0' };
    await signOfLife(database, { ...facts, name, concurrency: 2 });
  }
  await claimReady(database, workflowId);
  const silent = { seen_at: new Date(Date.now() - 60_000) };
  await database
    .updateTable('worker_processes')
    .set(silent)
    .where('name', 'like', 'worker-hall-18%')
    .execute();
  const lane = new URLSearchParams({ lane: 'heavy', paused: 'true' });
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
});
afterAll(() => app?.close());

describe.skipIf(!browserAvailable())("operators' pages in a browser", () => {
  const served = inBrowser(() => app);
  test.each(LOOKS)(
    'fit whatever is in them, and ask no other host, in %s and %i pixels wide',
    async (...how) => {
      const { page, faults, look, close } = await openLook(served, how);
      await page.goto(`${served.origin}/admin`);
      await signIn(page, 'admin', 'opencast');
      await page.getByRole('heading', { name: 'Now' }).waitFor();
      for (const name of ['', '/uploads', '/trends', '/parts', '/webhooks', '/agents', '/recordings?q=x']) {
        await page.goto(`${served.origin}/admin${name}`);
        await look(`pages${name.replaceAll(/\W+/g, '-')}`);
      }
      expect(faults).toEqual([]);
      await close();
    },
  );
});
