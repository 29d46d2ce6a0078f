import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { serve } from '../../src/http/server/serve.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { created, post } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { browserAvailable } from '../support/chromium.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, field, file, form } from '../support/form.ts';
import { inBrowser } from '../support/in-browser.ts';
import { LOOKS, openLook } from '../support/looks.ts';
import { OpenUpload } from '../support/open-upload.ts';
import { append, begin, uploadOf } from '../support/tus.ts';
import { signIn } from '../support/upload-page.ts';

const PATH = '/admin/uploads';
const HOSTILE = `<img src=x onerror="alert(1)"><script>alert(2)</script>'"&amp;.mp4`;
const KEPT = `script>'"&amp;.mp4`;

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());
afterEach(() => app.database.deleteFrom('uploads').execute());

const text = async (path = PATH) => {
  const answer = await app.request(path);
  expect(answer.status).toBe(200);
  return answer.text();
};
/** Rows as they would be after many uploads. */
const insert = (number: number, values: Record<string, unknown> = {}) =>
  app.database
    .insertInto('uploads')
    .values(
      Array.from({ length: number }, (_, i) => ({
        id: `upload-of-many-${String(i).padStart(6, '0')}`,
        owner: 'ada',
        filename: `lecture ${i}.mp4`,
        length: 2 ** 30,
        stored: 2 ** 20,
        object_key: `track/none-${i}`,
        handle: '',
        changed_at: new Date(Date.now() - i * 60_000),
        expires_at: new Date(Date.now() + 3_600_000),
        ...values,
      })),
    )
    .execute();

describe('uploads within a request', () => {
  test('are told with whose they are and how far, on the first page too, until an event has them', async () => {
    const server = await serve(createApp(app.context).fetch, { host: '127.0.0.1', port: 0 });
    try {
      const Authorization = await app.account('bare', 'ROLE_ADMIN');
      const client = { url: `http://127.0.0.1:${server.port}`, authorization: Authorization };
      const { type, body } = form([...eventFields(), file('presenter', 'hall <7>.mp4', bytes(3 * 2 ** 20))]);
      const upload = new OpenUpload(client, { type, length: body.length });
      void upload.write(body.subarray(0, 2 ** 20 + 2 ** 19));
      await eventually(async () => {
        await app.context.staging.renew();
        const [all, now] = await Promise.all([text(), text('/admin')]);
        expect(all).toContain('Within a request (1)');
        expect(all).toMatch(
          /<bdi>hall &lt;7&gt;\.mp4<\/bdi><\/td><td><bdi>bare<\/bdi>.*1\.\d MiB of at most 3\.0 MiB/s,
        );
        expect(now).toContain('Uploads on their way (1)');
        expect(now).toMatch(/<bdi>hall &lt;7&gt;\.mp4<\/bdi><\/div><div>1\.\d MiB of at most 3\.0 MiB/);
      });
      void upload.write(body.subarray(2 ** 20 + 2 ** 19));
      expect((await upload.answer).status).toBe(201);
      expect(await text('/admin')).toContain('Uploads on their way (0)');
      expect(await text()).toContain('Nothing comes in at this moment.');
    } finally {
      server.destroy();
    }
  });
});

describe('the page about uploads that wait', () => {
  test('says that there are none', async () => {
    expect(await text()).toContain('No upload waits to be finished or to become part of an event.');
  });

  test('tells whose they are, since when and how much there is of each', async () => {
    const Authorization = await app.account('grace', 'ROLE_API_EVENTS_CREATE');
    const metadata = { filename: 'camera ü.mp4' };
    await uploadOf(app, bytes(2048), { metadata, headers: { Authorization }, until: 1536 });
    const shown = await text();
    expect(shown).toContain(
      '1 upload waits to be finished or to become part of an event, with 1.5 KiB stored.',
    );
    expect(shown).toContain('<bdi>camera ü.mp4</bdi></td><td><bdi>grace</bdi>');
    expect(shown).toContain(
      '<progress value="1536" max="2048" aria-label="75 percent"></progress>1.5 KiB of 2.0 KiB',
    );
    const row = await app.database.selectFrom('uploads').selectAll().executeTakeFirstOrThrow();
    for (const date of [row.created_at, row.changed_at, row.expires_at]) {
      expect(shown).toContain(`<time datetime="${date.toISOString()}">`);
    }
    // Whoever reads the page over somebody's shoulder cannot have the upload.
    expect(shown).not.toContain(row.id);
  });

  test('tells of those whose length nobody knows, and of those that no event has yet', async () => {
    const id = await begin(app, undefined, { headers: { 'Upload-Defer-Length': '1' } });
    await append(app, id, 0, bytes(100));
    const whole = await uploadOf(app, bytes(1024));
    const shown = await text();
    expect(shown).toContain('2 uploads wait');
    expect(shown).toContain('100 bytes of an unknown size');
    expect(shown).toContain('1.0 KiB, all of it');
    const uploads = field('uploads', JSON.stringify([{ id: whole, field: 'presenter' }]));
    await created(await post(app, [...eventFields(), uploads]));
    expect(await text()).not.toContain('all of it');
  });

  test('leaves out what has expired', async () => {
    await insert(1, { expires_at: new Date(0) });
    expect(await text()).toContain('No upload waits');
  });

  test('shows the last ones of many, and counts all of them', async () => {
    await insert(1000);
    const shown = await text();
    expect(shown).toContain('1000 uploads wait');
    expect(shown).toContain('with 1000.0 MiB stored. These are the 200 that changed last.');
    expect(shown.match(/<bdi>lecture \d+\.mp4<\/bdi>/g)).toHaveLength(200);
    expect(shown.indexOf('lecture 0.mp4')).toBeLessThan(shown.indexOf('lecture 199.mp4'));
    expect(shown).not.toContain('lecture 200.mp4');
  });

  test('shows names as they are, whatever is in them', async () => {
    await insert(1, { filename: HOSTILE, owner: '</bdi><script>alert(3)</script>' });
    const shown = await text();
    expect(shown).not.toMatch(/<(script|img src=x)/);
    expect(shown).toContain('&lt;script&gt;alert(3)&lt;/script&gt;');
    await app.database.deleteFrom('uploads').execute();
    await begin(app, 5, { metadata: { filename: HOSTILE } });
    expect(await text()).toContain('<bdi>script&gt;&#39;&quot;&amp;amp;.mp4</bdi>');
  });

  test('is for administrators, not kept, and may be put into no frame', async () => {
    const Authorization = await app.account('uploader', 'ROLE_API_EVENTS_CREATE', 'ROLE_ADMIN_UI');
    expect((await app.request(PATH, { headers: { Authorization } })).status).toBe(403);
    expect((await app.anonymous(PATH)).status).toBe(401);
    const answer = await app.request(PATH);
    expect(answer.headers.get('Cache-Control')).toBe('no-store');
    const policy = answer.headers.get('Content-Security-Policy');
    expect(policy).toMatch(/default-src 'none'; style-src 'sha256-[^']+'.*frame-ancestors 'none'/);
    expect(policy).not.toContain('unsafe');
    expect(await text('/admin')).toContain('<a href="./admin/uploads">Uploads</a>');
  });
});

describe.skipIf(!browserAvailable())('in a browser without scripts', () => {
  const served = inBrowser(() => app);
  test.each(LOOKS)('it is found from the home and fits, in %s and %i pixels wide', async (...how) => {
    await insert(3, { owner: 'a'.repeat(200), filename: KEPT + 'x'.repeat(200) });
    const { page, faults, look, close } = await openLook(served, how, { javaScriptEnabled: false });
    page.on('dialog', (dialog) => faults.push(dialog.message()));
    await page.goto(`${served.origin}/admin`);
    await signIn(page, 'admin', 'opencast');
    await page.getByRole('link', { name: /^Uploads/ }).click();
    await page.waitForURL(`${served.origin}${PATH}`);
    expect(await page.getByRole('row').count()).toBe(4);
    expect(await page.locator('td').first().innerText()).toBe(KEPT + 'x'.repeat(200));
    const body = await page.locator('body').boundingBox();
    const table = await page.getByRole('region', { name: 'Uploads that wait' }).boundingBox();
    expect((table?.x ?? 0) + (table?.width ?? Number.NaN)).toBeLessThanOrEqual(body?.width ?? 0);
    await look('uploads');
    await page.getByRole('link', { name: 'Now', exact: true }).click();
    await page.waitForURL(`${served.origin}/admin`);
    await look('home');
    expect(faults).toEqual([]);
    await close();
  });
});
