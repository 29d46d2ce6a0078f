import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createApp } from '#app/app.ts';
import { exportCommand } from '#cli/inlet/export.ts';
import { serve } from '#platform/http/server/serve.ts';
import { bytes } from '../support/bytes.ts';
import { recording } from '../support/clips.ts';
import { field, file, form, type Part } from '../support/form.ts';
import { processEvent } from '../support/process-event.ts';
import { ace, createPlaylist, createSeries } from '../support/series.ts';
import { openUpkeep, type Upkeep } from '../support/upkeep.ts';

const SYSTEM = 'a'.repeat(64);
const PARTS =
  'withacl=true&withmetadata=true&withpublications=true&withscheduling=true&includeInternalPublication=true';

interface Address {
  url: string;
  /** The requests for items: method, path and length. */
  sent: number[];
}

/** Serves an application over HTTP. */
async function served({ app }: Upkeep, answer?: (request: Request) => Response | undefined): Promise<Address> {
  const sent: number[] = [];
  const product = createApp(app.context);
  const handle = (request: Request, env?: object) => {
    if (request.method === 'PUT') sent.push(Number(request.headers.get('Content-Length')));
    return answer?.(request) ?? product.fetch(request, env);
  };
  const server = await serve(handle, { host: '127.0.0.1', port: 0 });
  onTestFinished(() => server.close());
  return { url: `http://127.0.0.1:${server.port}`, sent };
}

async function listening(handle: RequestListener): Promise<string> {
  const server = createServer(handle).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An Inlet with another key than the first one of a test. */
async function openReceiver(environment: Record<string, string> = {}): Promise<Upkeep> {
  const up = await openUpkeep(environment);
  await up.app.database
    .updateTable('nonce_key')
    .set({ key: Buffer.alloc(32, 7) })
    .execute();
  return up;
}

/** Ends the processing of everything, without results. */
async function finish({ app: { database } }: Upkeep): Promise<void> {
  await database.deleteFrom('workflows').execute();
  await database.updateTable('events').set({ processing_state: 'SUCCEEDED' }).execute();
}

const sendTo = (up: Upkeep, url: string, ...args: string[]) => {
  up.system.env.INLET_PASSWORD ??= 'opencast';
  return up.run(exportCommand, url, '--user', 'admin', ...args);
};
const read = async ({ app }: Upkeep, path: string) => (await app.request(path)).json();
const withoutHosts = (json: unknown) => JSON.parse(JSON.stringify(json).replaceAll(/http:\/\/[^/]+/g, ''));

describe('an export to another Inlet', () => {
  test('copies series, events with files, and playlists; repeated, it sends no file', async () => {
    const from = await openUpkeep();
    const to = await openReceiver();
    const series = await createSeries(from.app, {}, [ace('ROLE_STUDENT')]);
    const published = await from.upload(await recording());
    await processEvent(from.app, published);
    const plain = await from.upload(bytes(200_000));
    const playlist = await createPlaylist(from.app, { entries: [{ contentId: plain }] });
    await finish(from);
    const target = await served(to);
    const done = await sendTo(from, target.url);
    expect(done).toMatchObject({
      code: 0,
      lines: expect.arrayContaining([expect.stringMatching(/^events: 2 copied, 0/)]),
    });
    const paths = [plain, published].flatMap((id) => [`/api/events/${id}?${PARTS}`, `/api/events/${id}/media`]);
    for (const path of [...paths, `/api/series/${series}?withacl=true`, `/api/playlists/${playlist}`])
      expect(withoutHosts(await read(to, path)), path).toEqual(withoutHosts(await read(from, path)));
    expect(await to.verify('--digests')).toEqual({ code: 0, lines: [] });
    expect(await to.app.database.selectFrom('workflows').select('id').execute()).toEqual([]);
    expect(await to.app.database.selectFrom('staging').select('object_key').execute()).toEqual([]);
    target.sent.length = 0;
    const again = await sendTo(from, target.url);
    expect(again).toMatchObject({ code: 0, lines: expect.arrayContaining(['0 bytes of files were sent.']) });
    expect(target.sent).toHaveLength(4);
  });

  test('sends changes without files that are there, and leaves alone what was changed there, but with --theirs', async () => {
    const from = await openUpkeep();
    const to = await openReceiver();
    const [first, second] = [await from.upload(bytes(100_000)), await from.upload(bytes(100_000))];
    await finish(from);
    const target = await served(to);
    expect(await sendTo(from, target.url)).toMatchObject({ code: 0 });
    const rename = ({ app }: Upkeep, id: string, title: string) =>
      app.request(`/api/events/${id}/metadata?type=dublincore/episode`, {
        method: 'PUT',
        body: new URLSearchParams({ metadata: JSON.stringify([{ id: 'title', value: title }]) }),
      });
    await rename(from, first, 'Changed here');
    await rename(from, second, 'Changed on both sides');
    await rename(to, second, 'Changed there');
    target.sent.length = 0;
    const { code, lines } = await sendTo(from, target.url);
    expect({ code, lines }).toMatchObject({ code: 0, lines: expect.arrayContaining(['0 bytes of files were sent.']) });
    expect(lines).toContain(
      `events ${second}: skipped. It was changed here since it was copied. Run with --theirs to overwrite it.`,
    );
    expect(Math.max(...target.sent)).toBeLessThan(100_000);
    expect(await to.read(first)).toMatchObject({ title: 'Changed here' });
    expect(await to.read(second)).toMatchObject({ title: 'Changed there' });
    expect(await sendTo(from, target.url, '--theirs')).toMatchObject({ code: 0 });
    expect(await to.read(second)).toMatchObject({ title: 'Changed on both sides' });
  });

  test('copies groups only with --groups', async () => {
    const from = await openUpkeep();
    const to = await openReceiver();
    await from.app.request('/api/groups', {
      method: 'POST',
      body: new URLSearchParams({ name: 'Lecturers', roles: 'ROLE_LECTURER', members: '' }),
    });
    const { url } = await served(to);
    expect(await sendTo(from, url)).toMatchObject({ code: 0 });
    expect((await to.app.request('/api/groups/lecturers')).status).toBe(404);
    expect(await sendTo(from, url, '--groups')).toMatchObject({ code: 0 });
    expect((await to.app.request('/api/groups/lecturers')).status).toBe(200);
  });

  test('names damaged and missing files, and events that are too large there, and exits with 1', async () => {
    const from = await openUpkeep();
    const to = await openReceiver({ MAX_UPLOAD_BYTES: '300000' });
    const [sound, damaged, missing, large] = [
      await from.upload(),
      await from.upload(),
      await from.upload(),
      await from.upload(bytes(40_000_000)),
    ];
    await finish(from);
    await from.put(await from.trackOf(damaged), bytes(999));
    await from.app.storage.remove([await from.trackOf(missing)]);
    const { code, lines } = await sendTo(from, (await served(to)).url);
    expect(code).toBe(1);
    expect(lines).toContain('events: 1 copied, 3 failed, 0 skipped, 0 pending');
    const about = (id: string) => lines.find((line) => line.startsWith(`events ${id}`));
    expect(about(damaged)).toMatch(/failed\. .+ it does not have 1000 bytes\.$/);
    expect(about(missing)).toMatch(/failed\. .+: it is not in the storage\.$/);
    expect(about(large)).toContain('status 413: The files of the request are longer than 300000 bytes together.');
    expect(await to.read(sound)).toMatchObject({ identifier: sound });
    expect((await to.app.request(`/api/events/${large}`)).status).toBe(404);
  });

  test('waits while the other Inlet does not answer', async () => {
    const from = await openUpkeep();
    const to = await openReceiver();
    const id = await from.upload();
    await finish(from);
    let refused = 0;
    // The first item, and two questions whether the other Inlet answers again.
    const { url } = await served(to, ({ method }) => {
      const isAway = refused < 3 && (refused > 0 || method === 'PUT');
      if (isAway) refused += 1;
      return isAway ? new Response('Restarting.', { status: 503 }) : undefined;
    });
    expect(await sendTo(from, url)).toMatchObject({ code: 0 });
    expect(await to.read(id)).toMatchObject({ identifier: id });
  });

  test('says in one sentence why it cannot begin', async () => {
    const from = await openUpkeep();
    await from.app.account('ada', 'ROLE_API');
    const own = await served(from);
    const { url } = await served(await openReceiver());
    await expect(sendTo(from, own.url)).rejects.toThrow(`${own.url} is this Inlet itself`);
    from.system.env.INLET_PASSWORD = 'wrong';
    await expect(sendTo(from, url)).rejects.toThrow(`${url} refuses the user name or the password. Check both.`);
    from.system.env.INLET_PASSWORD = 'secret';
    await expect(from.run(exportCommand, own.url, '--user', 'ada')).rejects.toThrow('is not an administrator');
    const old = await listening((_, response) => void response.writeHead(404).end());
    await expect(sendTo(from, old)).rejects.toThrow(/is not an Inlet, or one of a version that receives no export/);
    const page = await listening((_, response) => void response.end('<html></html>'));
    await expect(sendTo(from, page)).rejects.toThrow(`${page} is not an Inlet. Check the URL.`);
    const moved = await listening((_, response) => void response.writeHead(302, { Location: '/x' }).end());
    await expect(sendTo(from, moved)).rejects.toThrow(`${moved}/admin/import is answered with status 302`);
    await expect(sendTo(from, url.replace('http', 'https'))).rejects.toThrow('the TLS connection to its host failed');
    await expect(sendTo(from, 'ftp://127.0.0.1')).rejects.toThrow('must begin with http:// or https://');
  });
});

describe('a sent item', () => {
  const put = async ({ app }: Upkeep, path: string, parts: Part[], headers: Record<string, string> = {}) => {
    const { type, body } = form(parts);
    const answer = await app.request(path, { method: 'PUT', headers: { 'Content-Type': type, ...headers }, body });
    return { status: answer.status, text: await answer.text() };
  };
  const series = (more: object = {}) => field('item', JSON.stringify({ identifier: 'ab', title: 'A', ...more }));

  test('is refused unless an administrator sends it, in the format of an export, with files that it names', async () => {
    const to = await openReceiver();
    const path = `/admin/import/series/ab?source=${SYSTEM}`;
    const Authorization = await to.app.account('ada', 'ROLE_API', 'ROLE_ADMIN_UI');
    expect(await put(to, path, [series()], { Authorization })).toMatchObject({ status: 403 });
    expect((await to.app.anonymous(path, { method: 'PUT' })).status).toBe(401);
    const refusals: [string, Part[], RegExp][] = [
      ['/admin/import/series/ab', [series()], /`source` is missing/],
      ['/admin/import/series/ab?source=x', [series()], /`source` must be the identifier/],
      [`/admin/import/users/ab?source=${SYSTEM}`, [series()], /must be one of series, events, playlists, groups/],
      [path, [field('item', '{')], /`item` is not valid JSON/],
      [path, [series({ title: 7 })], /`item` is not valid: `title`/],
      [`/admin/import/series/other?source=${SYSTEM}`, [series()], /`item` describes "ab" instead of "other"/],
      [path, [file('file', 'a.mp4', bytes(10))], /`item` must come before the files/],
      [path, [series(), file('file', '../x', bytes(10))], /`item` does not name the file/],
      [path, [series(), file('file', 'a.mp4', bytes(10))], /`item` does not name the file "?a\.mp4/],
      [path, [field('other', 'x')], /`item` is missing/],
    ];
    for (const [address, parts, reason] of refusals)
      expect(await put(to, address, parts), address).toEqual({ status: 400, text: expect.stringMatching(reason) });
    expect(await put(to, path, [series({ description: 'a'.repeat(17 * 2 ** 20) })])).toMatchObject({ status: 413 });
    expect(await to.app.database.selectFrom('series').select('id').where('id', '=', 'ab').execute()).toEqual([]);
    expect(await to.app.database.selectFrom('staging').select('object_key').execute()).toEqual([]);
  });

  test('that cannot be stored fails, however odd it is', async () => {
    const to = await openReceiver();
    const path = `/admin/import/events/ab?source=${SYSTEM}`;
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const event = (members: string) => field('item', `{"identifier":"ab","title":"A"${members}}`);
    const track = (members: string) => event(`,"tracks":[{"flavor":"a/b","uri":"x.mp4"${members}}]`);
    for (const item of [
      event(',"title":"\\u0000"'),
      event(`,"more":${deep}`),
      track(`,"streams":{"video-1":{"more":${deep}}}`),
      track(`,"size":-1`),
      event(',"start":"never"'),
      event(',"is_part_of":"missing"'),
    ]) {
      const answer = await put(to, path, [item]);
      expect([200, 400], answer.text.slice(0, 300)).toContain(answer.status);
    }
  });

  test('may arrive twice concurrently', async () => {
    const to = await openReceiver();
    for (const [kind, item] of Object.entries({
      series: { identifier: 'ab', title: 'A' },
      events: { identifier: 'ab', title: 'A' },
      groups: { identifier: 'ab', name: 'A', roles: 'ROLE_A', members: '' },
    })) {
      const path = `/admin/import/${kind}/ab?source=${SYSTEM}`;
      const send = () => put(to, path, [field('item', JSON.stringify(item))]);
      for (const answer of await Promise.all([send(), send(), send(), send()])) {
        expect(answer).toMatchObject({ status: 200 });
        expect(JSON.parse(answer.text)).toMatchObject({ state: 'copied' });
      }
    }
  });
});
