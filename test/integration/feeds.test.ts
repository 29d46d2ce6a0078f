import { beforeAll, describe, expect, test } from 'vitest';
import { childOf, parseXml, type XmlElement } from '#platform/text/xml.ts';
import { workerApp } from '../support/app.ts';
import { giveAcl } from '../support/event-writes.ts';
import { insertElement, insertEvent, insertPublication } from '../support/publication.ts';
import { ace, createSeries } from '../support/series.ts';

const app = await workerApp();
const { database, storage } = app;
const PUBLIC = [ace('ROLE_ANONYMOUS')];
const get = (id: string, headers: Record<string, string> = {}, on = app) =>
  on.anonymous(`/feeds/rss/2.0/series/${id}`, { headers });
const named = (parent: XmlElement, name: string) => parent.children.filter((child) => child.name === name);
const textOf = (parent: XmlElement, name: string) => childOf(parent, name)?.text;
/** The date of RFC 822 with four digits of the year, as RSS 2.0 asks for. */
const RFC_822 =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d \+0000$/;

async function published(series_id: string, title: string, heights: readonly number[], day = 1): Promise<string> {
  const start_date = new Date(Date.UTC(2031, 0, day));
  const id = await insertEvent(database, { series_id, title, start_date, duration: 61_000, presenters: ['Emmy N.'] });
  const publication_id = await insertPublication(database, id);
  for (const [position, height] of heights.entries()) {
    await insertElement(database, storage, Buffer.alloc(height), {
      ...{ event_id: id, publication_id, kind: 'media', position, filename: `${height}.mp4`, mediatype: 'video/mp4' },
      ...{ has_video: height > 0, has_audio: true, width: Math.round((height * 16) / 9), height, track: 1 },
    });
  }
  return id;
}
async function channelOf(id: string): Promise<XmlElement> {
  const answer = await get(id);
  expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'application/rss+xml; charset=utf-8']);
  const root = parseXml(await answer.text());
  expect([root.name, root.attributes.get('version')]).toEqual(['rss', '2.0']);
  const [channel, ...more] = root.children;
  if (channel?.name !== 'channel' || more.length > 0) throw new Error('There must be one channel.');
  return channel;
}

describe('the feed of a series', () => {
  let series: string;
  let lecture: string;
  beforeAll(async () => {
    series = await createSeries(app, { title: 'Algebra <& "I"', creator: ['Institute'] }, PUBLIC);
    await published(series, 'First', [1080, 480]);
    lecture = await published(series, 'Second & last', [1080, 720, 480], 2);
    await giveAcl(app, await published(series, 'Restricted', [720]), [ace('ROLE_STUDENT')]);
    await insertEvent(database, { series_id: series, title: 'Not published' });
  });

  test('follows the rules of RSS 2.0 and has the elements of podcast clients', async () => {
    const channel = await channelOf(series);
    for (const name of ['title', 'link', 'description']) expect(named(channel, name)[0]?.text, name).toBeTruthy();
    expect(textOf(channel, 'title')).toBe('Algebra <& "I"');
    expect(channel.children.some(({ name, attributes }) => name === 'link' && attributes.get('rel') === 'self')).toBe(
      true,
    );
    for (const item of named(channel, 'item')) {
      expect(textOf(item, 'title')).toBeTruthy();
      expect(textOf(item, 'pubDate')).toMatch(RFC_822);
      expect(childOf(item, 'guid')?.attributes.get('isPermaLink')).toBe('false');
      expect(URL.canParse(textOf(item, 'link') ?? '')).toBe(true);
      const [enclosure, ...more] = named(item, 'enclosure');
      expect(more).toEqual([]);
      expect(enclosure?.attributes.get('url')).toMatch(/^http:\/\/inlet\.test\/publications\//);
      expect(enclosure?.attributes.get('length')).toMatch(/^\d+$/);
      expect(enclosure?.attributes.get('type')).toBe('video/mp4');
      expect([textOf(item, 'duration'), textOf(item, 'author')]).toEqual(['61', 'Emmy N.']);
    }
  });

  test('has what everyone may read, the latest first, in 720p or what is nearest', async () => {
    const items = named(await channelOf(series), 'item');
    const shown = items.map((item) => [textOf(item, 'title'), childOf(item, 'enclosure')?.attributes.get('length')]);
    expect(shown).toEqual([
      ['Second & last', '720'],
      ['First', '480'],
    ]);
    expect(textOf(items[0] as XmlElement, 'guid')).toBe(lecture);
    const file = childOf(items[0] as XmlElement, 'enclosure')?.attributes.get('url') ?? '';
    expect((await app.anonymous(new URL(file).pathname)).status).toBe(200);
  });

  test('may be cached, and is not sent again while it is the same', async () => {
    const answer = await get(series);
    expect(answer.headers.get('Cache-Control')).toBe('public, max-age=300');
    const etag = answer.headers.get('ETag') ?? '';
    expect((await get(series, { 'If-None-Match': etag })).status).toBe(304);
    await published(series, 'Third', [720], 3);
    expect((await get(series, { 'If-None-Match': etag })).status).toBe(200);
  });

  test('holds 100 recordings at most', async () => {
    const long = await createSeries(app, { title: 'Long' }, PUBLIC);
    for (let i = 0; i < 101; i += 1) await published(long, `${i}`, []);
    expect(named(await channelOf(long), 'item').length).toBe(100);
  });

  test('is missing for a series that not everyone may read, an unknown one, and where addresses are signed', async () => {
    const closed = await createSeries(app, { title: 'Closed' }, [ace('ROLE_USER')]);
    for (const id of [closed, 'nowhere', '%00']) expect((await get(id)).status).toBeGreaterThanOrEqual(400);
    const signed = await workerApp({ URL_SIGNING_SECRET: 'secret' });
    const there = await createSeries(signed, { title: 'Open' }, PUBLIC);
    expect((await get(there, {}, signed)).status).toBe(404);
  });
});
