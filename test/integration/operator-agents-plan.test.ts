import { describe, expect, test } from 'vitest';
import { insertAgent, insertRecording } from '../support/agents-page.ts';
import { agentsPageForThisFile } from '../support/agents-page-app.ts';
import { AGENTS_PATH, blocks, words } from '../support/agents-page-words.ts';
import { createTestApp } from '../support/app.ts';

const page = agentsPageForThisFile();
const { text } = page;

describe('the week of an agent', () => {
  const week = (id: string, name: string) => text(`?agent=${encodeURIComponent(id)}&week=${name}`);

  test('has its recordings where the clocks of its zone show them, with what became of them', async () => {
    const id = 'Hörsaal 1/2 & co';
    await insertAgent(page.app.database, id, { time_zone: 'Europe/Berlin' });
    const add = (day: string, values: Parameters<typeof insertRecording>[3]) =>
      insertRecording(
        page.app.database,
        id,
        [`2026-03-${day}T08:00:00Z`, `2026-03-${day}T09:30:00Z`],
        values,
      );
    await add('22', { title: 'Sunday before' });
    await add('23', {
      title: 'Monday',
      state: 'upload_finished',
      processing_state: 'SUCCEEDED',
      published: true,
    });
    await add('24', { title: 'Tuesday', state: 'upload_finished', processing_state: 'RUNNING' });
    await add('25', { title: 'Wednesday', state: 'capture_error' });
    await add('26', { title: 'Thursday', state: 'uploading' });
    await add('27', { title: '', state: 'capturing' });
    await add('28', { title: 'Saturday', state: 'upload_finished', processing_state: 'SUCCEEDED' });
    await add('29', { title: 'Sunday' });
    await add('30', { title: 'Monday after' });
    const shown = await week(id, '2026-W13');
    // Clocks are set forward in the night to Sunday.
    expect(blocks(shown)).toEqual([
      ['published at-540 for-90', 'Monday\n09:00–10:30\npublished'],
      ['processing at-540 for-90', 'Tuesday\n09:00–10:30\nbeing processed'],
      ['failed at-540 for-90', 'Wednesday\n09:00–10:30\nfailed'],
      ['ingesting at-540 for-90', 'Thursday\n09:00–10:30\ncoming in'],
      ['recording at-540 for-90', 'Untitled\n09:00–10:30\nrecording'],
      ['done at-540 for-90', 'Saturday\n09:00–10:30\nprocessed, not published'],
      [
        expect.stringMatching(/^(scheduled|silent) at-600 for-90$/),
        expect.stringMatching(/^Sunday\n10:00–11:30\n/),
      ],
    ]);
    expect(shown).toContain('.at-540 { --at: 540; }');
    expect(shown).toContain('.for-90 { --for: 90; }');
    const publication = await page.app.database
      .selectFrom('publications')
      .select('id')
      .executeTakeFirstOrThrow();
    expect(shown.match(/href="([^"]*watch[^"]*)"/)?.[1]).toBe(`../watch/${publication.id}`);
    const escaped = encodeURIComponent(id).replaceAll('%20', '+');
    expect(shown).toContain(`href="?agent=${escaped}&amp;week=2026-W12#plan"`);
    expect(shown).toContain(`href="?agent=${escaped}&amp;week=2026-W14#plan"`);
    expect(blocks(await week(id, '2026-03-25'))).toEqual(blocks(shown));
    expect(blocks(await week(id, '2026-W12'))).toHaveLength(1);
  });

  test('has those that overlap, and those that reach in from outside', async () => {
    await insertAgent(page.app.database, 'Hall');
    await insertRecording(page.app.database, 'Hall', ['2026-11-22T22:00:00Z', '2026-11-23T01:00:00Z'], {
      title: 'Night',
    });
    await insertRecording(page.app.database, 'Hall', ['2026-11-29T23:00:00Z', '2026-11-30T02:00:00Z'], {
      title: 'End',
    });
    await insertRecording(page.app.database, 'Hall', ['2026-11-25T08:00:00Z', '2026-11-25T10:00:00Z'], {
      title: 'First',
    });
    const second = await insertRecording(
      page.app.database,
      'Hall',
      ['2027-11-25T09:00:00Z', '2027-11-25T10:00:00Z'],
      { title: 'Second' },
    );
    await page.app.database
      .updateTable('schedules')
      .set({
        start_date: new Date('2026-11-25T09:00:00Z'),
        end_date: new Date('2026-11-25T09:30:00Z'),
        allow_conflict: true,
      })
      .where('event_id', '=', second)
      .execute();
    expect(
      blocks(await week('Hall', '2026-W48')).map(([classes, title]) => [
        classes?.replace(/^\w+ /, ''),
        title?.split('\n')[0],
      ]),
    ).toEqual([
      ['at-0 for-60', 'Night'],
      ['at-480 for-120 lane-0 of-2', 'First'],
      ['at-540 for-30 lane-1 of-2', 'Second'],
      ['at-1380 for-60', 'End'],
    ]);
  });

  test('links to what is published by signed addresses, where Inlet signs', async () => {
    const signing = await createTestApp(undefined, { URL_SIGNING_SECRET: 'x'.repeat(32) });
    try {
      await insertRecording(signing.database, 'Hall', ['2026-03-23T08:00:00Z', '2026-03-23T09:00:00Z'], {
        state: 'upload_finished',
        processing_state: 'SUCCEEDED',
        published: true,
      });
      const shown = await (await signing.request(`${AGENTS_PATH}?agent=Hall&week=2026-W13`)).text();
      const href = /href="\.\.(\/watch\/[^"]*)"/.exec(shown)?.[1]?.replaceAll('&amp;', '&') ?? '';
      expect(href).toContain('signature=');
      expect((await signing.anonymous(href)).status).toBe(200);
      expect((await signing.anonymous(href.split('?')[0] ?? '')).status).not.toBe(200);
    } finally {
      await signing.close();
    }
  });
});

test('the day of all agents has each by the clock of its zone, and names those that are free', async () => {
  await insertAgent(page.app.database, 'Berlin', { time_zone: 'Europe/Berlin' });
  await insertAgent(page.app.database, 'Auckland', { time_zone: 'Pacific/Auckland' });
  await insertAgent(page.app.database, 'No such zone', { time_zone: 'Mars/Olympus' });
  await insertAgent(page.app.database, 'Free 10');
  await insertAgent(page.app.database, 'Free 9');
  for (const hall of ['Berlin', 'Auckland', 'No such zone']) {
    await insertRecording(page.app.database, hall, ['2026-11-25T09:15:00Z', '2026-11-25T10:45:00Z'], {
      title: hall,
    });
    await insertRecording(page.app.database, hall, ['2026-11-25T11:15:00Z', '2026-11-25T12:00:00Z'], {
      title: `${hall} later`,
    });
  }
  await insertRecording(page.app.database, 'Auckland', ['2026-11-24T20:00:00Z', '2026-11-24T21:00:00Z'], {
    title: 'Early in Auckland',
  });
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
  expect(words(shown)).toContain('Nothing to record: Free 9 , Free 10 .');
  expect(shown).toContain('href="?day=2026-11-24#plan"');
  expect(shown).toContain('href="?day=2026-11-26#plan"');
});
