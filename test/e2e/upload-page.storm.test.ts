import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { bytes, sha256 } from '../support/bytes.ts';
import { browserAvailable, connectBrowser } from '../support/chromium.ts';
import { clip, clipFolder } from '../support/clips.ts';
import { eventually } from '../support/eventually.ts';
import { countEvents, expectNothingLeftOver } from '../support/leftovers.ts';
import { startServerFor, type TestServer } from '../support/server.ts';
import { openUploadPage, throttle } from '../support/upload-page.ts';
import { played } from '../support/watch-page.ts';

const MIB = 2 ** 20;
/** Slow enough that the server can be killed in the middle. */
const THROTTLED = 4 * MIB;
/** Folders take note of what is durable in steps of this. */
const STEP = 32 * MIB;
const PATIENCE_MS = 120_000;

test.skipIf(!browserAvailable())(
  'the server is killed and the page loaded anew in the middle, and the recording plays',
  {
    timeout: 4 * PATIENCE_MS,
  },
  async (context) => {
    const browser = await connectBrowser();
    context.onTestFinished(() => browser.close());
    const camera = await padded(await clip({ seconds: 8 }), 64 * MIB);
    const slides = await clip({ seconds: 8, audio: false, video: { size: '320x180' } });
    const broken = join(clipFolder(), 'broken.mp4');
    await writeFile(broken, bytes(MIB));
    const server = await startServerFor(context, { runtime: 'node', s3: true });
    const opened = await openUploadPage(browser, server.url);
    const { page, faults, offsets, warnings } = opened;
    context.onTestFinished(() => opened.context.close());
    page.setDefaultTimeout(PATIENCE_MS);
    await throttle(opened, THROTTLED);
    await page.locator('[data-part=choose]').setInputFiles([camera, slides]);
    await page.getByLabel(`Content of ${basename(slides)}`).selectOption('presentation');
    await page.getByLabel('Title').fill('Optics');
    await page.getByLabel('Presenters').fill('Emmy N.\nDavid H.');
    await page.getByLabel('Start').fill('2026-11-20T10:15');
    await page.getByRole('button', { name: 'Upload' }).click();
    const card = opened.card('Optics');

    await durable(server, STEP);
    await server.api.kill();
    await card.getByText('Waiting for the server.').waitFor();
    const before = offsets.length;
    server.api.start();
    // Not until it is ready: what is left goes on before, and takes eight seconds.
    await eventually(() => expect(offsets.length).toBeGreaterThan(before), PATIENCE_MS);
    expect(Math.max(...offsets.slice(before))).toBeGreaterThanOrEqual(STEP);

    const resumed = offsets.length;
    await page.reload();
    expect(warnings).toEqual(['beforeunload']);
    await card.getByText('To resume, choose').waitFor();
    await card.locator('[data-part=again]').setInputFiles([camera, slides]);
    await eventually(() => expect(offsets.length).toBeGreaterThan(resumed), PATIENCE_MS);
    expect(Math.min(...offsets.slice(resumed))).toBeGreaterThan(0);

    const nothing = opened.card('Nothing');
    await page.locator('[data-part=choose]').setInputFiles(broken);
    await page.getByLabel('Title').fill('Nothing');
    await page.getByRole('button', { name: 'Upload' }).click();
    const link = card.getByRole('link', { name: 'Watch' });
    await link.waitFor();
    const [watch] = await Promise.all([opened.context.waitForEvent('page'), link.click()]);
    await watch.getByRole('button', { name: 'Play' }).click();
    await played(watch, 1);
    expect(await watch.locator('video').count()).toBe(2);
    expect(await watch.locator('h1').textContent()).toBe('Optics');
    await nothing.getByText('Processing failed.').waitFor();
    // The browser keeps no link: one may be good for a while only.
    await page.reload();
    await nothing.getByText('Processing failed.').waitFor();
    await link.waitFor();
    expect(faults).toEqual([]);

    expect(await countEvents(server)).toBe(2);
    const event = await server.database
      .selectFrom('events')
      .selectAll()
      .where('title', '=', 'Optics')
      .executeTakeFirstOrThrow();
    expect(event).toMatchObject({ presenters: ['Emmy N.', 'David H.'], processing_state: 'SUCCEEDED' });
    const tracks = await server.database
      .selectFrom('tracks')
      .select(['flavor', 'sha256'])
      .where('event_id', '=', event.id)
      .execute();
    expect(Object.fromEntries(tracks.map(({ flavor, sha256 }) => [flavor, sha256]))).toEqual({
      'presenter/source': sha256(await readFile(camera)),
      'presentation/source': sha256(await readFile(slides)),
    });
    await expectNothingLeftOver(server, { atOnce: true });
  },
);

/** The same recording with so many bytes after it that mean nothing: large, and soon processed. @returns its path */
async function padded(path: string, size: number): Promise<string> {
  const box = bytes(size);
  box.writeUInt32BE(size, 0);
  box.write('free', 4, 'latin1');
  const large = join(clipFolder(), 'large.mp4');
  await writeFile(large, Buffer.concat([await readFile(path), box]));
  return large;
}

/** Waits until so much of an upload would outlive the server. */
async function durable({ database }: TestServer, bytes: number): Promise<void> {
  await eventually(
    async () => {
      const uploads = await database.selectFrom('uploads').select('stored').execute();
      expect(Math.max(0, ...uploads.map(({ stored }) => stored))).toBeGreaterThanOrEqual(bytes);
    },
    PATIENCE_MS,
    50,
  );
}
