import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type TestApp, workerApp } from '../support/app.ts';
import { giveAcl } from '../support/event-writes.ts';
import { insertElement, insertEvent, insertPublication } from '../support/publication.ts';
import { ace } from '../support/series.ts';

/** Addresses of recordings in mails and courses, from another server. */
const app = await workerApp();
const PAGE = { Accept: 'text/html', 'Sec-Fetch-Site': 'none', 'Sec-Fetch-Mode': 'navigate' };
const PATHS = [
  (id: string) => `/play/${id}?x=1`,
  ...[
    ...['/paella8/ui/watch.html', '/paella7/ui/watch.html', '/paella/ui/watch.html', '/paella/ui/embed.html'],
    ...['/engage/theodul/ui/core.html', '/engage/ui/watch.html', '/engage/ui/embed.html'],
  ].map((path) => (id: string) => `${path}?id=${id}`),
];

async function published(on: TestApp, ...roles: string[]): Promise<{ event: string; watch: string }> {
  const event = await insertEvent(on.database, {});
  await giveAcl(
    on,
    event,
    roles.map((role) => ace(role)),
  );
  await insertPublication(on.database, event, 'internal');
  return { event, watch: `http://inlet.test/watch/${await insertPublication(on.database, event)}` };
}
const open = async (path: string, headers: Record<string, string> = PAGE, on = app) => {
  const answer = await on.anonymous(path, { headers });
  return { status: answer.status, location: answer.headers.get('Location'), text: await answer.text(), answer };
};

test('all lead to the watch page, with the start time, also in frames', async () => {
  const { event, watch } = await published(app, 'ROLE_ANONYMOUS');
  const framed = { ...PAGE, 'Sec-Fetch-Dest': 'iframe', 'Sec-Fetch-Site': 'cross-site' };
  for (const path of PATHS) {
    for (const headers of [PAGE, framed]) {
      expect(await open(path(event), headers)).toMatchObject({ status: 302, location: watch });
      for (const time of ['t=1m30s', 'time=1m30s', 'time=00:01:30', 'time=90s'])
        expect(await open(`${path(event)}&${time}`, headers)).toMatchObject({ status: 302, location: `${watch}?t=90` });
    }
  }
});

describe('an imported file', () => {
  const imported = async (on: TestApp, role = 'ROLE_ANONYMOUS', channel?: string) => {
    const event = await insertEvent(on.database, {});
    await giveAcl(on, event, [ace(role)]);
    const publicationId = await insertPublication(on.database, event, channel);
    const path = `/static/mh_default_org/engage-player/${randomUUID()}/lecture%20%C3%A4.mp4`;
    const { id } = await on.database
      .insertInto('import_sources')
      .values({ name: `https://${randomUUID()}.example.org` })
      .returning('id')
      .executeTakeFirstOrThrow();
    const values = { event_id: event, publication_id: publicationId, kind: 'attachment' as const, filename: 'a.jpg' };
    const element = await insertElement(on.database, on.storage, Buffer.from('x'), values);
    const place = { source_id: id, path, event_id: event, mark: '1' };
    await on.database
      .insertInto('import_files')
      .values({ ...place, file_id: element.id })
      .execute();
    return { event, path, file: `http://inlet.test/publications/${publicationId}/${element.id}/${element.filename}` };
  };

  test('is found by its address at the other server, with a signature of that server, too', async () => {
    const { path, file } = await imported(app);
    for (const each of [path, `${path}?policy=x&signature=y`]) {
      expect(await open(each)).toMatchObject({ status: 302, location: file });
    }
    for (const each of [`${path}.bak`, path.toUpperCase(), '/static/%00.mp4'])
      expect((await open(each)).status).toBe(404);
  });

  test('that not everyone may see is found by the page, because its old address may be guessed', async () => {
    const { event, path } = await imported(app, 'ROLE_NOBODY');
    expect(await open(path)).toMatchObject({ status: 302, location: `http://inlet.test/play/${event}` });
  });

  test('that waits for a review is found by the page, which does not exist yet', async () => {
    const { event, path } = await imported(app, 'ROLE_ANONYMOUS', 'internal');
    expect(await open(path)).toMatchObject({ status: 302, location: `http://inlet.test/play/${event}` });
  });

  test('is found by the page where its address must be signed, and with 301 where OLD_ADDRESSES=moved', async () => {
    const signed = await workerApp({ URL_SIGNING_SECRET: 'secret', OLD_ADDRESSES: 'moved' });
    const { event, path } = await imported(signed);
    expect(await open(path, PAGE, signed)).toMatchObject({ status: 301, location: `http://inlet.test/play/${event}` });
  });
});

describe('of a recording that not everyone may watch', () => {
  test('lead to the sign-in page, as those of unknown recordings do', async () => {
    const role = `ROLE_${randomUUID()}`;
    const { event, watch } = await published(app, role);
    for (const path of PATHS) {
      for (const id of [event, randomUUID()]) {
        const { status, location, answer } = await open(path(id));
        expect([status, location]).toEqual([303, expect.stringContaining(encodeURIComponent(path(id)))]);
        expect(answer.headers.get('Cache-Control')).toBe('no-store');
      }
      const reader = { ...PAGE, Authorization: await app.account(`reader-${randomUUID()}`, role) };
      expect(await open(path(event), reader)).toMatchObject({ status: 302, location: watch });
    }
  });

  test('tell nothing to another account, and offer a new tab in a frame', async () => {
    const { event } = await published(app, 'ROLE_NOBODY');
    const Authorization = await app.account(`other-${randomUUID()}`);
    const [theirs, none] = [await open(`/play/${event}`, { Authorization }), await open('/play/x', { Authorization })];
    expect([theirs.status, theirs.text]).toEqual([404, none.text]);
    const framed = await open(`/play/${event}`, { ...PAGE, 'Sec-Fetch-Dest': 'iframe' });
    expect([framed.status, framed.text]).toEqual([
      404,
      expect.stringContaining(`href="/play/${event}" target="_blank"`),
    ]);
    expect((await open('/play/%00', { Authorization })).status).toBeGreaterThanOrEqual(400);
  });

  test('lead everyone with the address to the page with WATCH_ACCESS=link', async () => {
    const shared = await workerApp({ WATCH_ACCESS: 'link' });
    const { event, watch } = await published(shared, 'ROLE_NOBODY');
    expect(await open(`/play/${event}`, PAGE, shared)).toMatchObject({ status: 302, location: watch });
  });

  test('lead readers to a signed address where every address must be signed', async () => {
    const signed = await workerApp({ URL_SIGNING_SECRET: 'secret' });
    const { event, watch } = await published(signed, 'ROLE_ANONYMOUS');
    const { location } = await open(`/play/${event}?t=90`, PAGE, signed);
    expect(location).toMatch(new RegExp(`^${watch}\\?policy=.*&signature=[0-9a-f]+#t=90$`));
    const path = new URL(location ?? '').pathname + new URL(location ?? '').search;
    expect((await open(path, PAGE, signed)).status).toBe(200);
  });
});
