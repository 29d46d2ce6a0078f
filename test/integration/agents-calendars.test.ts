import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { parseAsPyca } from '../support/pyca.ts';
import { newAgent, type SchedulingJson, schedule } from '../support/scheduling.ts';
import { send } from '../support/series.ts';

let app: TestApp;
let agent: string;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

const PROPERTIES = 'org.opencastproject.capture.agent.properties';
const in_ = (minutes: number) => new Date(Math.floor(Date.now() / 1000) * 1000 + minutes * 60_000);
const iso = (date: Date) => date.toISOString().replace('.000', '');
const planned = (from: number, to: number, more: SchedulingJson = {}, title?: string) =>
  schedule(app, { agent_id: agent, start: iso(in_(from)), end: iso(in_(to)), ...more }, title);
const ask = async (more = '', headers: Record<string, string> = {}) => {
  const answer = await app.request(`/recordings/calendars?agentid=${encodeURIComponent(agent)}${more}`, {
    headers,
  });
  const text = await answer.text();
  return {
    status: answer.status,
    etag: answer.headers.get('ETag') ?? '',
    type: answer.headers.get('Content-Type'),
    text,
  };
};
const uids = async (more?: string) => parseAsPyca((await ask(more)).text).map(({ uid }) => uid);
const change = (id: string, values: Record<string, unknown>) =>
  app.database.updateTable('events').set(values).where('id', '=', id).execute();

describe('GET /recordings/calendars', () => {
  beforeAll(() => {
    agent = newAgent();
  });

  test('rule 5: CRLF, times in UTC, unquoted parameters, and the properties file with two line ends', async () => {
    const id = await planned(
      60,
      120,
      { inputs: ['Channel A', 'Channel B'] },
      'Größe, Zahl; 100 % — ein langer Titel \\ mit 日本語 über mehr als fünfundsiebzig Bytes',
    );
    const { status, type, text } = await ask();
    expect([status, type]).toEqual([200, 'text/calendar; charset=UTF-8']);
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    for (const line of text.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
    const [event] = parseAsPyca(text);
    expect(event).toMatchObject({
      uid: id,
      dtstart: expect.stringMatching(/^\d{8}T\d{6}Z$/),
      dtend: expect.stringMatching(/^\d{8}T\d{6}Z$/),
      location: agent,
      summary: 'Größe\\, Zahl\\; 100 % — ein langer Titel \\\\ mit 日本語 über mehr als fünfundsiebzig Bytes',
    });
    expect(text).not.toContain('"');
    expect(event?.attach.map(({ fmttype, filename }) => [fmttype, filename])).toEqual([
      ['application/xml', 'episode.xml'],
      ['application/text', PROPERTIES],
    ]);
    const properties = event?.attach[1]?.data ?? '';
    expect(properties.split('\n').length).toBeGreaterThanOrEqual(3);
    expect(properties).toContain('capture.device.names=Channel A,Channel B\n');
    expect(properties).toContain('org.opencastproject.workflow.definition=schedule-and-upload\n');
    expect(event?.attach[0]?.data).toContain('<dcterms:title>Größe, Zahl; 100 %');
  });

  test('line ends in a title make no other property', async () => {
    agent = newAgent();
    const id = await planned(60, 120);
    await change(id, { title: 'a\nevil.key=1\r\nEND:VEVENT' });
    const [event] = parseAsPyca((await ask()).text);
    expect(event?.attach[1]?.data).toContain('event.title=a evil.key=1 END:VEVENT\n');
    expect(event?.attach[1]?.data).toContain('capture.device.names=default\n');
    expect(event?.summary).toBe('a\\nevil.key=1\\nEND:VEVENT');
  });

  test('an event in a series brings it along', async () => {
    agent = newAgent();
    const id = await planned(60, 120);
    await app.database.insertInto('series').values({ id: 'algebra', title: 'Algebra <1>' }).execute();
    await change(id, { series_id: 'algebra' });
    const [event] = parseAsPyca((await ask()).text);
    expect(event?.['related-to']).toBe('algebra');
    expect(event?.attach.map(({ filename }) => filename)).toEqual(['episode.xml', 'series.xml', PROPERTIES]);
    expect(event?.attach[1]?.data).toContain('Algebra &lt;1&gt;');
    expect(await uids('&seriesid=algebra')).toEqual([id]);
    expect(await uids('&seriesid=other')).toEqual([]);
  });

  test('a series that there cannot be is refused as an agent is, and not by an answer that breaks off', async () => {
    agent = newAgent();
    expect(await ask('&seriesid=%00')).toMatchObject({ status: 400 });
    agent = '\0';
    expect(await ask()).toMatchObject({ status: 400 });
  });

  test('the window: until an hour after the end, up to the cutoff, by start', async () => {
    agent = newAgent();
    await planned(-200, -61);
    const [late, now, next, far] = [
      await planned(-60, -30),
      await planned(-10, 30),
      await planned(40, 50),
      await planned(5000, 5010),
    ];
    expect(await uids()).toEqual([late, now, next, far]);
    expect(await uids(`&cutoff=${in_(1000).getTime()}`)).toEqual([late, now, next]);
    expect(await uids(`&cutoff=${in_(-5).getTime()}`)).toEqual([late, now]);
  });

  test('what has come stays in the window: displays show what goes on', async () => {
    agent = newAgent();
    const id = await planned(-10, 30);
    for (const recording_state of ['capturing', 'upload_finished'] as const) {
      await app.database
        .updateTable('schedules')
        .set({ recording_state })
        .where('event_id', '=', id)
        .execute();
      expect(await uids()).toEqual([id]);
    }
  });

  test('an unknown agent has an empty calendar', async () => {
    agent = 'Hörsaal_1/2_ä nobody';
    const { status, text } = await ask();
    expect([status, parseAsPyca(text)]).toEqual([200, []]);
    expect(text).toMatch(/^BEGIN:VCALENDAR\r\n[\s\S]*END:VCALENDAR\r\n$/);
  });

  test.each(['tomorrow', '-1', '1.5', '9'.repeat(15)])('the cutoff %s is refused', async (cutoff) => {
    const { status, text } = await ask(`&cutoff=${cutoff}`);
    expect(status).toBe(400);
    expect(text).toContain('cutoff');
  });

  test('rule 17 and 2.3: the tag is known again raw and quoted, and changes with what is shown alone', async () => {
    agent = newAgent();
    const id = await planned(60, 120);
    const cutoff = in_(100_000).getTime();
    let { etag } = await ask(`&cutoff=${cutoff}`);
    const known = async () =>
      (await ask(`&cutoff=${in_(100_000).getTime()}`, { 'If-None-Match': etag })).status;
    expect(await known()).toBe(304);
    expect((await ask(`&cutoff=${cutoff}`, { 'If-None-Match': etag.slice(1, -1) })).status).toBe(304);
    expect((await ask(`&cutoff=${cutoff}`, { 'If-None-Match': '-1' })).status).toBe(200);
    const changes: [string, () => Promise<unknown>][] = [
      ['title', () => change(id, { title: 'Other' })],
      ['new', () => planned(200, 300)],
      [
        'inputs',
        () =>
          app.database
            .updateTable('schedules')
            .set({ inputs: ['x'] })
            .where('event_id', '=', id)
            .execute(),
      ],
      [
        'moved',
        () =>
          app.database
            .updateTable('schedules')
            .set({ end_date: in_(130) })
            .where('event_id', '=', id)
            .execute(),
      ],
      ['deleted', () => send(app, 'DELETE', `/api/events/${id}`)],
    ];
    for (const [what, make] of changes) {
      expect(await known(), `before ${what}`).toBe(304);
      await make();
      expect(await known(), what).toBe(200);
      ({ etag } = await ask(`&cutoff=${in_(100_000).getTime()}`));
    }
    const other = newAgent();
    await schedule(app, { agent_id: other, start: iso(in_(60)), end: iso(in_(70)) });
    await app.database.updateTable('capture_agents').set({ seen_at: new Date() }).execute();
    expect(await known()).toBe(304);
  });

  test('without an agent the tag is that of all that is shown', async () => {
    agent = newAgent();
    const id = await planned(60, 120);
    await app.database.insertInto('series').values({ id: 'tagged', title: 'Tagged' }).execute();
    await change(id, { series_id: 'tagged' });
    const path = '/recordings/calendars?seriesid=tagged';
    const tag = async () => (await app.request(path)).headers.get('ETag') ?? '';
    const first = await tag();
    expect((await app.request(path, { headers: { 'If-None-Match': first } })).status).toBe(304);
    await change(id, { title: 'Another' });
    expect(await tag()).not.toBe(first);
  });

  test('the tag changes when a recording slides into the window, or out of it', async () => {
    agent = newAgent();
    const id = await planned(60, 120);
    const { etag } = await ask(`&cutoff=${in_(30).getTime()}`);
    expect((await ask(`&cutoff=${in_(50).getTime()}`, { 'If-None-Match': etag })).status).toBe(304);
    const later = await ask(`&cutoff=${in_(61).getTime()}`, { 'If-None-Match': etag });
    expect(later.status).toBe(200);
    expect(later.text).toContain(id);
    const { etag: all } = await ask();
    await sql`ALTER TABLE schedules DISABLE TRIGGER USER`.execute(app.database);
    await sql`UPDATE schedules SET start_date = now() - interval '3 hours', end_date = now() - interval '2 hours'
      WHERE event_id = ${id}`.execute(app.database);
    await sql`ALTER TABLE schedules ENABLE TRIGGER USER`.execute(app.database);
    expect((await ask('', { 'If-None-Match': all })).status).toBe(200);
  });
});

describe('GET /recordings/calendar.json', () => {
  test('moments in milliseconds for displays, names of months for cameras', async () => {
    agent = newAgent();
    const [start, end] = [new Date('2031-03-07T10:00:00Z'), new Date('2031-03-07T11:30:00Z')];
    await schedule(app, { agent_id: agent, start: iso(start), end: iso(end) }, 'Algebra');
    const read = async (more: string) =>
      JSON.parse(
        (await send(app, 'GET', `/recordings/calendar.json?agentid=${encodeURIComponent(agent)}${more}`))
          .text,
      );
    expect(await read('&timestamp=true')).toMatchObject([
      {
        data: {
          startDate: start.getTime(),
          endDate: end.getTime(),
          agentConfig: { 'event.title': 'Algebra' },
        },
      },
    ]);
    const [{ data }] = await read('');
    expect(data.startDate).toBe('Mar 7, 2031, 10:00:00 AM UTC');
    expect(Date.parse(data.endDate)).toBe(end.getTime());
    expect(await read('&cutoff=0')).toEqual([]);
  });
});
