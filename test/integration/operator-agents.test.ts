import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { fromNow, insertAgent, insertPackage, insertRecording } from '../support/agents-page.ts';
import { ownApp, workerApp } from '../support/app.ts';

const PATH = '/admin/agents';
/** Would be more than a name if it was not escaped. */
const HOSTILE = `</bdi><script>alert(1)</script>"' onload='x' <img src=x>&amp;`;

// The page lists all agents, and each test has its own.
const app = await ownApp();
const { database } = app;
afterEach(async () => {
  for (const table of ['events', 'capture_agents', 'drafts'] as const) await database.deleteFrom(table).execute();
});

type Values = Parameters<typeof insertRecording>[3];
type Times = Parameters<typeof insertRecording>[2];
const agent = (id: string, values?: Parameters<typeof insertAgent>[2]) => insertAgent(database, id, values);
const recording = (id: string, times: Times, values?: Values) => insertRecording(database, id, times, values);
/** The page, by the query of its address. */
const text = async (query = '') => {
  const answer = await app.request(PATH + query);
  expect(answer.status).toBe(200);
  return answer.text();
};
/** The words of a piece of the page, without its tags. */
const words = (html: string) =>
  html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
/** The words about each agent, in the order of the page. */
const agents = (html: string) =>
  (/<ul class="agents">(.*?)<\/ul>/s.exec(html)?.[1] ?? '').split('<li>').slice(1).map(words);
const section = (html: string, id: string) =>
  words(new RegExp(`<section aria-labelledby="${id}">(.*?)</section>`, 's').exec(html)?.[1] ?? '');
const blocks = (html: string) =>
  [...html.matchAll(/<li class="block ([^"]*)" title="([^"]*)">/g)].map(([, classes = '', title = '']) => [
    classes,
    title,
  ]);

describe('agents', () => {
  test('are none in the beginning, which the page says', async () => {
    const shown = await text();
    expect(words(shown)).toContain('No capture agent has reported, and nothing is scheduled.');
    expect(section(shown, 'failed')).toBe('Failed recordings None in the last seven days.');
  });

  test('are in the state they report, since they do, and offline when they are silent', async () => {
    await agent('a', { state: 'capturing', state_since: fromNow(-35) });
    await agent('b', { state: 'uploading', state_since: fromNow(-1.5), seen_at: fromNow(-1.5) });
    await agent('c', { seen_at: fromNow(-11) });
    await agent('d', { state: 'shutting_down' });
    await agent('e', { seen_at: null, state_since: null, known_since: fromNow(-60 * 72) });
    await agent('f', { state: 'error' });
    await agent('g', { state: 'offline', state_since: fromNow(-7), seen_at: fromNow(-6) });
    const shown = await text();
    expect(words(shown)).toContain('7 capture agents, 3 need attention .');
    expect(agents(shown)).toEqual(
      [
        'f UTC error 45 min seen &lt; 1 min ago',
        'c UTC offline 11 min',
        'g UTC offline 7 min',
        'a UTC capturing 35 min seen &lt; 1 min ago',
        'b UTC uploading 1 min seen 1 min ago',
        'd UTC shutting down 45 min seen &lt; 1 min ago',
        'e UTC unknown 3 days never seen',
      ].map((line) => `${line} Now nothing Next nothing`),
    );
  });

  test('show what they have to record now and next, by the clock of their zone', async () => {
    await agent('Hall', { state: 'capturing', time_zone: 'Asia/Kolkata' });
    await recording('Hall', [-30, 60], { title: 'Optics', state: 'capturing' });
    await recording('Hall', [4000, 4060], { title: 'Later' });
    await recording('Hall', [90, 150], { title: 'Ethics' });
    await recording('Hall', [-90, -31], { title: 'Over', state: 'upload_finished' });
    const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'Asia/Kolkata' });
    const [hall] = agents(await text());
    expect(hall).toMatch(/^Hall Asia\/Kolkata capturing .* Now Optics .* Next Ethics /);
    const planned = database.selectFrom('events').select(['technical_start', 'technical_end']);
    const recordings = await planned.where('title', 'in', ['Optics', 'Ethics']).execute();
    for (const { technical_start, technical_end } of recordings)
      for (const date of [technical_start, technical_end]) expect(hall).toContain(clock.format(date));
    expect(hall).not.toMatch(/Later|Over|Should be/);
  });

  const SILENT = { seen_at: fromNow(-11) };
  test.each<[string, Parameters<typeof insertAgent>[2], Values, number, RegExp | undefined]>([
    ['idle three minutes after the start', {}, {}, -3, /Should be recording, but has not reported it\./],
    ['idle one minute after the start', {}, {}, -1, undefined],
    ['recording', {}, { state: 'capturing' }, -30, undefined],
    ['offline and never began', SILENT, {}, -5, /Should be recording/],
    ['offline since it records', SILENT, { state: 'capturing' }, -30, /Was recording, then went silent\./],
    ['offline after it has recorded', SILENT, { state: 'capture_finished' }, -30, undefined],
    ['never seen', { seen_at: null }, {}, -5, /Should be recording/],
    ['still to begin', {}, {}, 5, undefined],
  ])('should be looked after or not: %s', async (_, values, lecture, start, trouble) => {
    await agent('a quiet one');
    await agent('Hall', values);
    await recording('Hall', [start, 60], { title: 'Lecture', ...lecture });
    const shown = agents(await text());
    const hall = shown.find((line) => line.startsWith('Hall'));
    if (!trouble) return expect(hall).not.toMatch(/Should be|Was recording/);
    expect(hall).toMatch(trouble);
    expect(shown[0]).toBe(hall);
  });

  test('in trouble come first, then those with failures, then by name', async () => {
    for (const id of ['a', 'c', 'd', 'e']) await agent(id);
    await agent('b', { state: 'error' });
    const failed = (id: string, hoursAgo: number, since: number) =>
      recording(id, [-60 * hoursAgo, -60 * hoursAgo + 50], { state: 'upload_error', since: fromNow(since) });
    await recording('e', [-30, 30]);
    await failed('d', 2, -10);
    await failed('d', 4, -140);
    await failed('c', 24 * 9, -8 * 1440);
    const shown = agents(await text());
    expect(shown.map((line) => line[0])).toEqual(['e', 'b', 'd', 'a', 'c']);
    expect(shown[2]).toContain('2 recordings failed recently');
    expect(shown[4]).not.toContain('failed');
  });

  test('are found by a part of their name, as they are, and no more than two hundred are shown', async () => {
    const many = Array.from({ length: 250 }, (_, i) => ({ id: `Hörsaal ${i}` }));
    await database.insertInto('capture_agents').values(many).execute();
    await agent('100%_x');
    const all = await text();
    expect(words(all)).toContain(
      '251 capture agents, none needs attention. 200 are shown, those that need attention first.',
    );
    expect(agents(all)).toHaveLength(200);
    expect(agents(await text(`?q=${encodeURIComponent('HÖRSAAL 24')}`))).toHaveLength(11);
    expect(agents(await text('?q=%25_'))).toHaveLength(1);
    expect(words(await text(`?q=${encodeURIComponent(HOSTILE)}`))).toContain('No capture agent has');
  });

  test.each([
    [
      'https://hall.example.org:8443/ui?x=1',
      '<a href="https://hall.example.org:8443/ui?x=1" rel="noreferrer"><bdi>hall.example.org:8443</bdi></a>',
    ],
    ['http://10.0.0.7', '<a href="http://10.0.0.7/" rel="noreferrer"><bdi>10.0.0.7</bdi></a>'],
    [' javascript:alert(1)', '<bdi> javascript:alert(1)</bdi>'],
    ['//elsewhere.example.org', '<bdi>//elsewhere.example.org</bdi>'],
    ['hall 1', '<bdi>hall 1</bdi>'],
    ['http://x" onclick="y', '<bdi>http://x&quot; onclick=&quot;y</bdi>'],
  ])('lead to their address only if it is one of the web: %j', async (url, shown) => {
    await agent('Hall', { url });
    expect(await text()).toContain(`<small>${shown}</small>`);
  });
});

describe('recordings that failed', () => {
  test('stand there with what happened and what to do, the last one first', async () => {
    await agent('Hall', { time_zone: 'Europe/Berlin', url: 'http://hall.test' });
    for (const [title, state, since, end] of [
      ['reported', 'capture_error', -100, -101],
      ['missed', 'capture_error', -5, -1446],
      ['missed before it had a date', 'capture_error', undefined, -2000],
      ['upload', 'upload_error', -50, -200],
      ['package', 'manifest_error', -60, -300],
      ['long ago', 'upload_error', -8 * 1440, -9 * 1440],
    ] as const) {
      const values = { title, state, since: since === undefined ? null : fromNow(since) };
      await recording('Hall', [end - 60, end], values);
    }
    await recording('Hall', [-4000, -3900], {
      ...{ title: 'came after all', since: fromNow(-1), processing_state: 'SUCCEEDED' },
      state: 'upload_error',
    });
    const failed = section(await text(), 'failed');
    expect(failed).toMatch(
      /missed Hall .*It was never uploaded or reported.* upload Hall .*The upload failed; the agent still has the files\. It does not retry: start the upload on the agent\. hall\.test 50 min ago package Hall .*package its files.* reported Hall .*The agent could not record it\..* missed before it had a date Hall .*It was never uploaded/,
    );
    expect(failed).not.toMatch(/long ago|came after all/);
    expect(section(await text('?agent=Hall'), 'failed')).toBe(failed);
    await agent('Other');
    expect(section(await text('?agent=Other'), 'failed')).toContain('None in');
  });

  test('are no more than fifty', async () => {
    for (let i = 1; i <= 51; i++) await recording('Hall', [-100 * i, 90 - 100 * i], { state: 'upload_error' });
    const shown = await text();
    expect(section(shown, 'failed').match(/The upload failed/g)).toHaveLength(50);
    expect(section(shown, 'failed')).toContain('The newest 50 are shown.');
    expect(agents(shown)[0]).toContain('51 recordings failed recently');
  });

  test('what is being uploaded stands there, and what was put together and left', async () => {
    await recording('Hall', [-120, -30], { title: 'Chemistry', state: 'uploading', since: fromNow(-4) });
    await recording('Hall', [-220, -130], { title: 'Physics', state: 'upload_finished' });
    const fresh = await insertPackage(database, 'hall-account', { bytes: 2 ** 30, minutes: 3 });
    const left = await insertPackage(database, 'studio', { bytes: 1014, minutes: 90 });
    await insertPackage(database, 'ingested', { bytes: 1, minutes: 90, event: 'event' });
    await insertPackage(database, 'elsewhere', { bytes: 1, minutes: 90, door: 'uploads' });
    const shown = await text();
    expect(section(shown, 'uploading')).toMatch(/Chemistry Hall .* for 4 min$/);
    expect(section(shown, 'uploading')).not.toContain('Physics');
    const packages = section(shown, 'packages');
    expect(packages).toContain(
      `hall-account ${fresh} 2 elements, 1.0 GiB started 33 min ago last change 3 min ago studio ${left} 2 elements, 1.0 KiB`,
    );
    expect(packages).toMatch(
      / 1\.0 KiB Nothing received for an hour or more\. started 2 h ago last change 90 min ago$/,
    );
    expect(packages).not.toContain('elsewhere');
  });
});

describe('the week of an agent', () => {
  const week = (id: string, name: string) => text(`?agent=${encodeURIComponent(id)}&week=${name}`);

  test('has its recordings where the clocks of its zone show them, with what became of them', async () => {
    const id = 'Hörsaal 1/2 & co';
    await agent(id, { time_zone: 'Europe/Berlin' });
    const processed = { state: 'upload_finished', processing_state: 'SUCCEEDED' } as const;
    for (const [day, values] of [
      ['22', { title: 'Sunday before' }],
      ['23', { title: 'Monday', ...processed, published: true }],
      ['24', { title: 'Tuesday', ...processed, processing_state: 'RUNNING' }],
      ['25', { title: 'Wednesday', state: 'capture_error' }],
      ['26', { title: 'Thursday', state: 'uploading' }],
      ['27', { title: '', state: 'capturing' }],
      ['28', { title: 'Saturday', ...processed }],
      ['29', { title: 'Sunday' }],
      ['30', { title: 'Monday after' }],
    ] as const)
      await recording(id, [`2026-03-${day}T08:00:00Z`, `2026-03-${day}T09:30:00Z`], values);
    const shown = await week(id, '2026-W13');
    // Clocks are set forward in the night to Sunday.
    const sunday = expect.stringMatching(/^Sunday\n10:00–11:30\n/);
    expect(blocks(shown)).toEqual([
      ['published at-540 for-90', 'Monday\n09:00–10:30\npublished'],
      ['processing at-540 for-90', 'Tuesday\n09:00–10:30\nprocessing'],
      ['failed at-540 for-90', 'Wednesday\n09:00–10:30\nfailed'],
      ['ingesting at-540 for-90', 'Thursday\n09:00–10:30\nuploading'],
      ['recording at-540 for-90', 'Untitled\n09:00–10:30\nrecording'],
      ['done at-540 for-90', 'Saturday\n09:00–10:30\nprocessed, not published'],
      [expect.stringMatching(/^(scheduled|silent) at-600 for-90$/), sunday],
    ]);
    expect(shown).toContain('.at-540 { --at: 540; }');
    expect(shown).toContain('.for-90 { --for: 90; }');
    const publication = await database.selectFrom('publications').select('id').executeTakeFirstOrThrow();
    expect(shown.match(/href="([^"]*watch[^"]*)"/)?.[1]).toBe(`../watch/${publication.id}`);
    const escaped = encodeURIComponent(id).replaceAll('%20', '+');
    expect(shown).toContain(`href="?agent=${escaped}&amp;week=2026-W12#plan"`);
    expect(shown).toContain(`href="?agent=${escaped}&amp;week=2026-W14#plan"`);
    expect(blocks(await week(id, '2026-03-25'))).toEqual(blocks(shown));
    expect(blocks(await week(id, '2026-W12'))).toHaveLength(1);
  });

  test('has those that overlap, and those that reach in from outside', async () => {
    await agent('Hall');
    const add = (title: string, start: string, end: string) =>
      recording('Hall', [`${start}:00:00Z`, `${end}:00:00Z`], { title });
    await add('Night', '2026-11-22T22', '2026-11-23T01');
    await add('End', '2026-11-29T23', '2026-11-30T02');
    await add('First', '2026-11-25T08', '2026-11-25T10');
    const second = await add('Second', '2027-11-25T09', '2027-11-25T10');
    await sql`UPDATE schedules SET start_date = '2026-11-25T09:00Z', end_date = '2026-11-25T09:30Z', allow_conflict = true
      WHERE event_id = ${second}`.execute(database);
    const shown = blocks(await week('Hall', '2026-W48'));
    expect(shown.map(([classes, title]) => [classes?.replace(/^\w+ /, ''), title?.split('\n')[0]])).toEqual([
      ['at-0 for-60', 'Night'],
      ['at-480 for-120 lane-0 of-2', 'First'],
      ['at-540 for-30 lane-1 of-2', 'Second'],
      ['at-1380 for-60', 'End'],
    ]);
  });

  test('links to what is published by signed addresses, where Inlet signs', async () => {
    const signing = await workerApp({ URL_SIGNING_SECRET: 'x'.repeat(32) });
    const id = 'Hall of the agents page';
    await insertRecording(signing.database, id, ['2026-03-23T08:00:00Z', '2026-03-23T09:00:00Z'], {
      ...{ processing_state: 'SUCCEEDED', published: true },
      state: 'upload_finished',
    });
    const query = `?agent=${encodeURIComponent(id)}&week=2026-W13`;
    const shown = await (await signing.request(PATH + query)).text();
    const href = /href="\.\.(\/watch\/[^"]*)"/.exec(shown)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(href).toContain('signature=');
    expect((await signing.anonymous(href)).status).toBe(200);
    expect((await signing.anonymous(href.split('?')[0] ?? '')).status).not.toBe(200);
  });
});

test('the day of all agents has each by the clock of its zone, and names those that are free', async () => {
  const zones = { Berlin: 'Europe/Berlin', Auckland: 'Pacific/Auckland', 'No such zone': 'Mars/Olympus' };
  for (const [hall, time_zone] of Object.entries(zones)) {
    await agent(hall, { time_zone });
    await recording(hall, ['2026-11-25T09:15:00Z', '2026-11-25T10:45:00Z'], { title: hall });
    await recording(hall, ['2026-11-25T11:15:00Z', '2026-11-25T12:00:00Z'], { title: `${hall} later` });
  }
  for (const id of ['Free 10', 'Free 9']) await agent(id);
  const early = { title: 'Early in Auckland' };
  await recording('Auckland', ['2026-11-24T20:00:00Z', '2026-11-24T21:00:00Z'], early);
  const shown = await text('?day=2026-11-25');
  expect(words(shown)).toContain('Wednesday 25 November 2026');
  expect(blocks(shown).map(([classes, title]) => [classes?.split(' ')[1], title?.split('\n')[0]])).toEqual([
    ['at-540', 'Early in Auckland'],
    ['at-1335', 'Auckland'],
    ['at-615', 'Berlin'],
    ['at-735', 'Berlin later'],
    ['at-555', 'No such zone'],
    ['at-675', 'No such zone later'],
  ]);
  expect(words(shown)).toContain('Nothing scheduled: Free 9 , Free 10 .');
  expect(shown).toContain('href="?day=2026-11-24#plan"');
  expect(shown).toContain('href="?day=2026-11-26#plan"');
});

describe('the page', () => {
  test('shows names as they are, whatever is in them', async () => {
    await agent(HOSTILE, { url: HOSTILE, state: 'capturing' });
    await recording(HOSTILE, [-30, 60], { title: HOSTILE, state: 'uploading' });
    await recording(HOSTILE, [70, 80], { title: HOSTILE });
    await recording(HOSTILE, [-90, -80], { title: HOSTILE, state: 'upload_error' });
    await insertPackage(database, HOSTILE, { bytes: 1, minutes: 1 });
    for (const query of ['', `?agent=${encodeURIComponent(HOSTILE)}`, `?q=${encodeURIComponent(HOSTILE)}`]) {
      const shown = await text(query);
      expect(shown).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
      expect(shown).not.toMatch(/<script|<img src=x|"[^"<]*' onload/);
      expect(shown).not.toMatch(/ style=|<script| on\w+="/);
    }
  });

  test.each([
    ['?week=2026-W54&agent=Hall', 400, /^The parameter 'week' is "2026-W54"; allowed is a week such as 202/],
    ['?day=2026-02-30', 400, /^The parameter 'day' is "2026-02-30"; allowed is a date such as 2026-11-25 b/],
    ['?refresh=1', 400, /^The parameter 'refresh' is "1"; allowed is 30\.$/],
    ['?q=%00', 400, /^The parameter 'q' is "\\u0000"; it must have at most 255 characters/],
    [`?q=${'x'.repeat(256)}`, 400, /^The parameter 'q' is "x{100}"/],
    ['?agent=a%0Ab', 400, /^The parameter 'agent' is "a\\nb"/],
    ['?agent=nobody', 404, /^Capture agent 'nobody' does not exist\.$/],
    ['?agent=', 404, /^Capture agent '' does not exist\.$/],
    ['?agent=%FF', 404, /^Capture agent '.*' does not exist\.$/],
  ])('refuses %s with %i and a sentence', async (query, status, sentence) => {
    await agent('Hall');
    const answer = await app.request(PATH + query);
    expect(answer.status).toBe(status);
    expect(await answer.text()).toMatch(sentence);
    const shown = await app.request(PATH + query, { headers: { Accept: 'text/html' } });
    expect(shown.status).toBe(status);
    expect(shown.headers.get('Content-Type')).toContain('text/html');
  });

  test.each([
    ...['?q=%FF', '?q=%ED%A0%80', '?agent=Hall&week=1970-01-02', '?agent=Hall&week=9998-12-31'],
    ...['?day=1970-01-02', '?day=9998-12-31', '?other=1', '?week=2026-W01'],
    `?q=${encodeURIComponent('😀'.repeat(255))}`,
  ])('takes bytes that are no text, dates at both ends, and the longest search: %s', async (query) => {
    await agent('Hall', { time_zone: 'Pacific/Kiritimati' });
    await text(query);
  });

  test('loads itself anew only when it is asked to', async () => {
    expect((await app.request(PATH)).headers.get('Refresh')).toBeNull();
    const answer = await app.request(`${PATH}?refresh=30&q=x`);
    expect(answer.headers.get('Refresh')).toBe('30');
    expect(await answer.text()).toContain('href="?q=x">Stop');
    expect(await text('?q=x')).toContain('href="?q=x&amp;refresh=30">Refresh');
  });
});
