import { describe, expect, test } from 'vitest';
import { fromNow, insertAgent, insertRecording } from '../support/agents-page.ts';
import { agentsPageForThisFile } from '../support/agents-page-app.ts';
import { agents, HOSTILE, section, words } from '../support/agents-page-words.ts';

const page = agentsPageForThisFile();
const { text } = page;

describe('agents', () => {
  test('are none in the beginning, which the page says', async () => {
    const shown = await text();
    expect(words(shown)).toContain('No capture agent has reported yet, and nothing is scheduled on any.');
    expect(section(shown, 'failed')).toBe('Recordings that failed None within the last seven days.');
  });

  test('are in the state they report, since they do, and offline when they are silent', async () => {
    await insertAgent(page.app.database, 'a', { state: 'capturing', state_since: fromNow(-35) });
    await insertAgent(page.app.database, 'b', {
      state: 'uploading',
      state_since: fromNow(-1.5),
      seen_at: fromNow(-1.5),
    });
    await insertAgent(page.app.database, 'c', { state: 'idle', seen_at: fromNow(-11) });
    await insertAgent(page.app.database, 'd', { state: 'shutting_down' });
    await insertAgent(page.app.database, 'e', {
      seen_at: null,
      state_since: null,
      known_since: fromNow(-60 * 72),
    });
    await insertAgent(page.app.database, 'f', { state: 'error' });
    await insertAgent(page.app.database, 'g', {
      state: 'offline',
      state_since: fromNow(-7),
      seen_at: fromNow(-6),
    });
    const shown = await text();
    expect(words(shown)).toContain('7 capture agents, 3 need somebody .');
    expect(agents(shown)).toEqual(
      [
        'f UTC error 45 min seen < 1 min ago Now nothing Next nothing',
        'c UTC offline 11 min Now nothing Next nothing',
        'g UTC offline 7 min Now nothing Next nothing',
        'a UTC capturing 35 min seen < 1 min ago Now nothing Next nothing',
        'b UTC uploading 1 min seen 1 min ago Now nothing Next nothing',
        'd UTC shutting down 45 min seen < 1 min ago Now nothing Next nothing',
        'e UTC unknown 3 days never seen Now nothing Next nothing',
      ].map((line) => line.replaceAll('<', '&lt;')),
    );
  });

  test('show what they have to record now and next, by the clock of their zone', async () => {
    await insertAgent(page.app.database, 'Hall', { state: 'capturing', time_zone: 'Asia/Kolkata' });
    await insertRecording(page.app.database, 'Hall', [-30, 60], { title: 'Optics', state: 'capturing' });
    await insertRecording(page.app.database, 'Hall', [4000, 4060], { title: 'Later' });
    await insertRecording(page.app.database, 'Hall', [90, 150], { title: 'Ethics' });
    await insertRecording(page.app.database, 'Hall', [-90, -31], { title: 'Over', state: 'upload_finished' });
    const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'Asia/Kolkata' });
    const [hall] = agents(await text());
    expect(hall).toMatch(/^Hall Asia\/Kolkata capturing .* Now Optics .* Next Ethics /);
    const recordings = await page.app.database
      .selectFrom('schedules')
      .innerJoin('events', 'events.id', 'schedules.event_id')
      .select(['schedules.start_date', 'schedules.end_date'])
      .where('title', 'in', ['Optics', 'Ethics'])
      .execute();
    for (const date of recordings.flatMap((each) => [each.start_date, each.end_date])) {
      expect(hall).toContain(clock.format(date));
    }
    expect(hall).not.toMatch(/Later|Over|Should be/);
  });

  test.each<
    [
      string,
      Parameters<typeof insertAgent>[2],
      Parameters<typeof insertRecording>[3],
      number,
      RegExp | undefined,
    ]
  >([
    ['idle three minutes after the start', {}, {}, -3, /Should be recording, and nothing is heard of it\./],
    ['idle one minute after the start', {}, {}, -1, undefined],
    ['recording', {}, { state: 'capturing' }, -30, undefined],
    ['offline and never began', { seen_at: fromNow(-11) }, {}, -5, /Should be recording/],
    [
      'offline since it records',
      { seen_at: fromNow(-11) },
      { state: 'capturing' },
      -30,
      /Was recording, and is silent since\./,
    ],
    [
      'offline after it has recorded',
      { seen_at: fromNow(-11) },
      { state: 'capture_finished' },
      -30,
      undefined,
    ],
    ['never seen', { seen_at: null }, {}, -5, /Should be recording/],
    ['still to begin', {}, {}, 5, undefined],
  ])('should be looked after or not: %s', async (_, agent, recording, start, trouble) => {
    await insertAgent(page.app.database, 'a quiet one');
    await insertAgent(page.app.database, 'Hall', agent);
    await insertRecording(page.app.database, 'Hall', [start, 60], { title: 'Lecture', ...recording });
    const shown = agents(await text());
    const hall = shown.find((line) => line.startsWith('Hall'));
    if (trouble) {
      expect(hall).toMatch(trouble);
      expect(shown[0]).toBe(hall);
    } else {
      expect(hall).not.toMatch(/Should be|Was recording/);
    }
  });

  test('in trouble come first, then those with failures, then by name', async () => {
    for (const id of ['a', 'b', 'c', 'd', 'e']) await insertAgent(page.app.database, id);
    await insertRecording(page.app.database, 'e', [-30, 30]);
    await insertRecording(page.app.database, 'd', [-90, -30], { state: 'upload_error', since: fromNow(-10) });
    await insertRecording(page.app.database, 'd', [-190, -130], {
      state: 'capture_error',
      since: fromNow(-140),
    });
    await insertRecording(page.app.database, 'c', [-9 * 1440, -9 * 1440 + 60], {
      state: 'capture_error',
      since: fromNow(-8 * 1440),
    });
    await page.app.database
      .updateTable('capture_agents')
      .set({ state: 'error' })
      .where('id', '=', 'b')
      .execute();
    const shown = agents(await text());
    expect(shown.map((line) => line[0])).toEqual(['e', 'b', 'd', 'a', 'c']);
    expect(shown[2]).toContain('2 recordings failed lately');
    expect(shown[4]).not.toContain('failed');
  });

  test('are found by a part of their name, as they are, and no more than two hundred are shown', async () => {
    await page.app.database
      .insertInto('capture_agents')
      .values(Array.from({ length: 250 }, (_, i) => ({ id: `Hörsaal ${i}` })))
      .execute();
    await insertAgent(page.app.database, '100%_x');
    const all = await text();
    expect(words(all)).toContain(
      '251 capture agents, none needs anybody. These are 200 of them, those in trouble first.',
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
    ['javascript:alert(1)', '<bdi>javascript:alert(1)</bdi>'],
    [' javascript:alert(1)', '<bdi> javascript:alert(1)</bdi>'],
    ['data:text/html,x', '<bdi>data:text/html,x</bdi>'],
    ['//elsewhere.example.org', '<bdi>//elsewhere.example.org</bdi>'],
    ['hall 1', '<bdi>hall 1</bdi>'],
    ['http://x" onclick="y', '<bdi>http://x&quot; onclick=&quot;y</bdi>'],
  ])('lead to their address only if it is one of the web: %j', async (url, shown) => {
    await insertAgent(page.app.database, 'Hall', { url });
    expect(await text()).toContain(`<small>${shown}</small>`);
  });
});
