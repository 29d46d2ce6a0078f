import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { SourceError } from '#maintenance/import/catalogue-source.ts';
import { importFrom, json, reference } from '../support/import-from.ts';
import { untilOneWaits } from '../support/lock-waits.ts';
import { insertEvent } from '../support/publication.ts';
import type { EventFault } from '../support/reference-catalogue.ts';
import { eventId, kindOf, seriesId } from '../support/reference-catalogue.ts';
import type { ReferenceServer } from '../support/reference-server.ts';
import { openUpkeep, type Upkeep } from '../support/upkeep.ts';

const WORKFLOW = {
  definition: 'fast',
  title: '',
  configuration: '{}',
  state: 'SUCCEEDED',
  creator: 'admin',
  request_id: '',
};

interface Publications {
  id: string;
  channel: string;
  media: { flavor: string; tags: string[]; url: string; mediatype: string; size: number }[];
  attachments: { flavor: string; ref: string }[];
}
/** Returns the publications of an event at the source, as it shows them to everyone with an account. */
async function publicationsAt({ url }: ReferenceServer, number: number): Promise<Publications[]> {
  const headers = { Authorization: `Basic ${Buffer.from('import:secret').toString('base64')}` };
  const answer = await fetch(`${url}/api/events/${eventId(number)}?withpublications=true`, { headers });
  return ((await answer.json()) as { publications: Publications[] }).publications;
}
const publicationsOf = (up: Upkeep, number: number) =>
  json<Publications[]>(up, `/api/events/${eventId(number)}/publications`);

test('everything of the reference server comes along but what it cannot deliver, and that is named', async () => {
  const faults: Record<number, EventFault> = {
    ...{ 8: 'broken', 9: 'unreadable', 16: 'tracks-broken', 18: 'file-missing', 24: 'file-cut', 26: 'file-changed' },
  };
  const isSeriesBroken = (number: number) => number === 2;
  const server = await reference({ events: 40, series: 5, faultOf: (number) => faults[number], isSeriesBroken });
  const up = await openUpkeep();
  const { isComplete, lines } = await importFrom(up, server);
  expect(isComplete).toBe(false);
  const failed = lines.filter((line) => line.includes(': failed.'));
  expect(failed.map((line) => line.split(' ', 2)[1]).sort()).toEqual(
    [seriesId(2), ...Object.keys(faults).map((number) => eventId(Number(number)))].sort(),
  );
  expect(lines.slice(-4, -1)).toEqual([
    `Source: ${server.url}`,
    'Series: 4 copied, 1 failed, 0 skipped, 0 pending',
    'Events: 34 copied, 6 failed, 0 skipped, 0 pending',
  ]);
  expect(lines).toContainEqual(
    expect.stringMatching(
      new RegExp(
        `^event ${eventId(4)} .*: copied. The publication on the channel youtube has no files at the source: it refers to https:`,
      ),
    ),
  );
  expect(await up.verify('--digests')).toEqual({ code: 0, lines: [] });
});

test('what was watchable at the reference server is watchable, without encoding', async () => {
  const server = await reference({ events: 16, series: 2 });
  const up = await openUpkeep();
  expect(await importFrom(up, server)).toMatchObject({ isComplete: true });
  const players = await Promise.all(Array.from({ length: 16 }, (_, number) => publicationsOf(up, number)));
  for (const [number, publications] of players.entries()) {
    const [player] = publications;
    const expected = { player: 2, captions: 2, streams: 6, odd: 1 }[kindOf(number) as string];
    expect([number, player?.channel, player?.media.length]).toEqual([
      number,
      expected === undefined ? undefined : 'engage-player',
      expected,
    ]);
  }
  const [captioned] = players[2] ?? [];
  expect(captioned?.media.map(({ flavor }) => flavor)).toEqual(['presenter/delivery', 'captions/delivery']);
  const page = await up.app.request(new URL(`/watch/${captioned && (await watchId(up, 2))}`, 'http://x').pathname);
  expect(await page.text()).toMatch(/kind="captions".*srclang="de".*srclang="en"/s);
  expect(await up.app.database.selectFrom('workflows').select('id').execute()).toEqual([]);
  const scheduled = await json(up, `/api/events/${eventId(6)}?withscheduling=true`);
  expect(scheduled).toMatchObject({ status: 'EVENTS.EVENTS.STATUS.SCHEDULED', scheduling: { agent_id: 'hall-1' } });
});

const watchId = async (up: Upkeep, number: number) =>
  (await json<{ id: string }[]>(up, `/api/events/${eventId(number)}/publications`))[0]?.id;

test('an update replaces only what has changed, and files that are no longer published are removed', async () => {
  const server = await reference({ events: 1, series: 0 });
  const up = await openUpkeep();
  await importFrom(up, server);
  const keys = await up.keys();
  const before = await publicationsOf(up, 0);
  const rows = () =>
    up.app.database
      .selectFrom('publication_elements')
      .select(['id', sql`xmin::text`.as('writer')])
      .execute();
  const written = await rows();
  server.change(0, { title: 'Changed', processing_state: 'FAILED', status: 'EVENTS.EVENTS.STATUS.PROCESSING_FAILURE' });
  expect(await importFrom(up, server)).toMatchObject({ isComplete: true });
  expect(await json(up, `/api/events/${eventId(0)}`)).toMatchObject({ processing_state: 'FAILED' });
  expect([await publicationsOf(up, 0), await up.keys()]).toEqual([before, keys]);
  expect(await rows()).toEqual(written);
  server.change(0, { publications: [] });
  await importFrom(up, server);
  expect(await publicationsOf(up, 0)).toEqual([]);
  const track = await up.trackOf(eventId(0));
  const left = await up.app.database.selectFrom('staging').select('object_key').execute();
  expect(left.map(({ object_key }) => object_key).sort()).toEqual(keys.filter((key) => key !== track).sort());
});

test('published files that move to another channel, or to a new publication, are kept', async () => {
  const server = await reference({ events: 1, series: 0 });
  const up = await openUpkeep();
  const [player] = await publicationsAt(server, 0);
  const media = player?.media.map((each, i) => ({ ...each, id: `f47ac10b-58cc-4372-a567-0e02b2c3d47${i}` }));
  server.change(0, { publications: [{ ...player, media }] });
  await importFrom(up, server);
  const [before] = await publicationsOf(up, 0);
  const moved = { ...player, media, channel: 'portal' };
  for (const publication of [moved, { ...moved, id: '7c9e6679-7425-40de-944b-e07fc1f90ae7' }]) {
    server.change(0, { publications: [publication] });
    await importFrom(up, server);
    const [after] = await publicationsOf(up, 0);
    expect(after).toMatchObject({
      channel: 'portal',
      media: before?.media.map(({ size, flavor }) => ({ size, flavor })),
    });
  }
  expect((await publicationsOf(up, 0))[0]).toMatchObject({ id: '7c9e6679-7425-40de-944b-e07fc1f90ae7' });
});

test('a changed file that the source cannot deliver keeps its earlier copy, and is copied by a later run', async () => {
  let fault: EventFault | undefined;
  const server = await reference({ events: 1, series: 0, faultOf: () => fault });
  const up = await openUpkeep();
  await importFrom(up, server);
  const [before, keys] = [await publicationsOf(up, 0), await up.keys()];
  // Other checksums than before, which the files do not have.
  fault = 'file-changed';
  server.change(0, { processing_state: 'FAILED' });
  expect(await importFrom(up, server)).toMatchObject({ isComplete: false });
  expect(await json(up, `/api/events/${eventId(0)}`)).toMatchObject({ processing_state: 'FAILED' });
  expect([await publicationsOf(up, 0), await up.keys()]).toEqual([before, keys]);
  fault = undefined;
  expect(await importFrom(up, server)).toMatchObject({ isComplete: true });
  expect(await up.keys()).toEqual(keys);
});

test('what has vanished at the source is deleted here, unless so much is missing that the account must have lost rights', async () => {
  const server = await reference({ events: 60, series: 0 });
  const up = await openUpkeep();
  await importFrom(up, server);
  const count = async () => (await json<unknown[]>(up, '/api/events')).length;
  for (const number of [1, 2]) server.delete(number);
  await importFrom(up, server);
  expect(await count()).toBe(58);
  for (let number = 3; number < 40; number++) server.delete(number);
  const { lines } = await importFrom(up, server);
  expect(await count()).toBe(58);
  expect(lines).toContainEqual(
    expect.stringContaining('The source no longer lists 37 of 58 items, among them this one.'),
  );
});

test('what has vanished at the source stays if the source does not say so, or if it is more than half of all', async () => {
  const server = await reference({ events: 3, series: 0 });
  const up = await openUpkeep();
  await importFrom(up, server);
  const count = async () => (await json<unknown[]>(up, '/api/events')).length;
  server.delete(0);
  const findEvent = () => Promise.reject(new SourceError('It cannot be read.'));
  const { lines } = await importFrom(up, server, { more: { findEvent } });
  expect(lines).toContainEqual(expect.stringMatching(`^event ${eventId(0)} .*: failed. It cannot be read.`));
  server.delete(1);
  await importFrom(up, server);
  expect(await count()).toBe(3);
});

test('an event that is changed or processed here while it is deleted at the source stays', async () => {
  const server = await reference({ events: 10, series: 0 });
  const up = await openUpkeep();
  const { database } = up.app;
  await importFrom(up, server);
  for (const number of [0, 1]) server.delete(number);
  await database
    .insertInto('workflows')
    .values({ ...WORKFLOW, event_id: eventId(1) })
    .execute();
  let importing: ReturnType<typeof importFrom> | undefined;
  await database.transaction().execute(async (trx) => {
    const event = trx.updateTable('events').set((eb) => ({ archive_version: eb('archive_version', '+', 1) }));
    await event.where('id', '=', eventId(0)).execute();
    importing = importFrom(up, server);
    await untilOneWaits(database);
  });
  const reason = 'It was deleted at the source, and changed here since it was copied.';
  expect((await importing)?.lines.filter((line) => line.includes(reason))).toHaveLength(2);
  expect(await json<unknown[]>(up, '/api/events')).toHaveLength(10);
});

test('an event that is being processed at the source waits', async () => {
  const server = await reference({ events: 2, series: 0 });
  server.change(1, { processing_state: 'RUNNING' });
  const up = await openUpkeep();
  expect(await importFrom(up, server)).toMatchObject({
    isComplete: false,
    lines: expect.arrayContaining([expect.stringContaining('pending. It is being processed at the source.')]),
  });
  server.change(1, { processing_state: 'SUCCEEDED' });
  expect(await importFrom(up, server)).toMatchObject({ isComplete: true });
});

test('an event that could not be read for a time is complete again', async () => {
  const faults: (EventFault | undefined)[] = [];
  const server = await reference({ events: 2, series: 0, faultOf: (number) => faults[number] });
  const up = await openUpkeep();
  await importFrom(up, server);
  faults[1] = 'broken';
  expect(await importFrom(up, server)).toMatchObject({ isComplete: false });
  faults[1] = undefined;
  expect(await importFrom(up, server)).toMatchObject({ isComplete: true });
});

test('a recording that is no longer scheduled at the source is not scheduled here', async () => {
  const server = await reference({ events: 7, series: 0 });
  const up = await openUpkeep();
  await importFrom(up, server);
  server.change(6, { scheduling: {}, status: 'EVENTS.EVENTS.STATUS.PROCESSED', processing_state: 'SUCCEEDED' });
  await importFrom(up, server);
  const { status, scheduling } = await json(up, `/api/events/${eventId(6)}?withscheduling=true`);
  expect({ status, scheduling }).toEqual({ status: 'EVENTS.EVENTS.STATUS.PROCESSED', scheduling: {} });
});

test('what was changed or deleted here is as at the source again with --theirs', async () => {
  const server = await reference({ events: 2, series: 1 });
  const up = await openUpkeep();
  await importFrom(up, server);
  const titles = async () =>
    (await json<{ title: string }[]>(up, '/api/events?sort=date:ASC')).map(({ title }) => title);
  const before = await titles();
  const form = new FormData();
  form.set('metadata', JSON.stringify([{ id: 'title', value: 'Changed here' }]));
  const path = `/api/events/${eventId(0)}/metadata?type=dublincore/episode`;
  expect((await up.app.request(path, { method: 'PUT', body: form })).ok).toBe(true);
  for (const gone of [`/api/events/${eventId(1)}`, `/api/series/${seriesId(0)}`])
    expect((await up.app.request(gone, { method: 'DELETE' })).ok).toBe(true);
  server.change(1, { archive_version: 7 });
  const { lines } = await importFrom(up, server);
  expect(lines).toContainEqual(expect.stringContaining('skipped. It was deleted here since it was copied.'));
  expect(await titles()).toEqual(['Changed here']);
  expect(await importFrom(up, server, { theirs: true })).toMatchObject({ isComplete: true });
  expect(await titles()).toEqual(before);
  expect((await up.app.request(`/api/series/${seriesId(0)}`)).status).toBe(200);
});

test('an event that exists here is left alone, and overwritten with --theirs', async () => {
  const server = await reference({ events: 1, series: 0 });
  const up = await openUpkeep();
  await insertEvent(up.app.database, { id: eventId(0), title: 'Ours' });
  const title = async () => (await json(up, `/api/events/${eventId(0)}`)).title;
  await importFrom(up, server);
  expect(await title()).toBe('Ours');
  await importFrom(up, server, { theirs: true });
  expect(await title()).not.toBe('Ours');
});
