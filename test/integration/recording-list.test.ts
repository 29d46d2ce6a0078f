import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { ownApp } from '../support/app.ts';
import { bytes } from '../support/bytes.ts';
import { claimReady, endOperation, startRecording } from '../support/operator-scene.ts';
import { insertElement, insertEvent, insertPublication } from '../support/publication.ts';
import { processingState } from '../support/workflows.ts';

const PAGE = 50;
const EARLIEST = new Date('2026-03-02T10:00:00Z');

const app = await ownApp();
const { database } = app;

const read = async (query = '') => {
  const answer = await app.request(`/admin/recordings${query}`);
  expect(answer.status).toBe(200);
  return answer.text();
};
/** The titles on a page, in order. */
const titles = (text: string) => [...text.matchAll(/aria-label="Select ([^"]*)"/g)].map(([, title]) => title);
const link = (text: string, name: string) => {
  const [, address] = new RegExp(`href="recordings([^"]*)">${name}`).exec(text) ?? [];
  return address?.replaceAll('&amp;', '&');
};
const refused = async (query: string) => {
  const answer = await app.request(`/admin/recordings${query}`);
  return [answer.status, await answer.text()];
};

/** Identifiers are in the order of titles. */
const insert = (title: string, values: Parameters<typeof insertEvent>[1] = {}) =>
  insertEvent(database, { id: `${title}-${randomUUID()}`, title, creator: 'Ada L.', start_date: EARLIEST, ...values });

describe('the list of recordings', () => {
  // Titles, states and starts have different orders.
  beforeAll(async () => {
    await sql`TRUNCATE events, workflows, series, capture_agents CASCADE`.execute(database);
    for (const id of ['series-1', 'series-2'])
      await database
        .insertInto('series')
        .values({ id, title: `Title of ${id}`, creator: 'Ada L.', created: new Date() })
        .execute();
    await database.insertInto('capture_agents').values({ id: 'Hall <7>' }).execute();
    const midnight = new Date('2026-03-04T00:00:00Z');
    await insert('Algebra', { series_id: 'series-1', start_date: midnight, duration: 5_400_000 });
    await insert('Drawing', { series_id: 'series-2', start_date: new Date('2026-03-03T23:59:59Z') });
    await insert('Chemistry', { processing_state: 'FAILED', start_date: new Date('2026-03-05T10:00:00Z') });
    const id = await insert('Botany');
    const at = (hour: number) => new Date(`2026-03-02T${hour}:00:00Z`);
    const schedule = { event_id: id, agent_id: 'Hall <7>', workflow: 'none' };
    await database
      .insertInto('schedules')
      .values({ ...schedule, start_date: at(10), end_date: at(11) })
      .execute();
  });

  test.each([
    ['', ['Chemistry', 'Algebra', 'Drawing', 'Botany']],
    ['?sort=start:asc', ['Botany', 'Drawing', 'Algebra', 'Chemistry']],
    ['?sort=title:desc', ['Drawing', 'Chemistry', 'Botany', 'Algebra']],
    ['?sort=series:desc', ['Drawing', 'Algebra', 'Chemistry', 'Botany']],
    ['?sort=state:desc', ['Botany', 'Chemistry', 'Algebra', 'Drawing']],
    ['?state=failed', ['Chemistry']],
    ['?state=failed&sort=state:asc', ['Chemistry']],
    ['?state=scheduled', ['Botany']],
    ['?state=processed', ['Algebra', 'Drawing']],
    ['?series=series-1', ['Algebra']],
    ['?series=Title+of+series-2', ['Drawing']],
    ['?agent=Hall+%3C7%3E', ['Botany']],
    ['?from=2026-03-03', ['Chemistry', 'Algebra', 'Drawing']],
    ['?to=2026-03-03', ['Drawing', 'Botany']],
    ['?from=2026-03-04&to=2026-03-04', ['Algebra']],
    ['?q=ALGEBRA+series-1', ['Algebra']],
    ['?q=ada&state=processed&series=series-2&from=2026-03-01&sort=title:asc', ['Drawing']],
    ['?q=&state=&series=&agent=&from=&to=&sort=', ['Chemistry', 'Algebra', 'Drawing', 'Botany']],
    ['?q=ada&state=paused', []],
  ])('of %s has %j', async (query, expected) => {
    expect(titles(await read(query))).toEqual(expected);
  });

  test('shows length, state, series and how many there are, and keeps the filters in its form', async () => {
    const text = await read('?series=series-1');
    expect(text).toContain('<p class="faint">1 recording.</p>');
    expect(text).toMatch(/<td>1:30:00<\/td><td><span class="state processed">processed/);
    expect(text).toContain('<a href="recordings?series=series-1"><bdi>Title of series-1</bdi></a>');
    expect(text).toContain('<input name="series" value="series-1"');
    expect(await read('?state=failed&sort=title:asc')).toMatch(
      /<option value="failed" selected>[\s\S]*name="sort" value="title:asc"[\s\S]*aria-sort="ascending"/,
    );
    expect(await read()).toContain('<option value="Hall &lt;7&gt;">');
  });

  test('shows the thumbnail of what is published', async () => {
    const eventId = await insert('Pictured');
    const publicationId = await insertPublication(database, eventId);
    const image = { event_id: eventId, publication_id: publicationId, kind: 'attachment' } as const;
    const element = (flavor: string) =>
      insertElement(database, app.context.storage, bytes(10), { ...image, flavor, filename: 'image.jpg' });
    await element('presenter/player+preview');
    const { id: elementId } = await element('presenter/search+preview');
    const text = await read('?q=Pictured');
    expect(text).toContain(`<img src="../publications/${publicationId}/${elementId}/image.jpg" alt=""`);
    await database.deleteFrom('events').where('id', '=', eventId).execute();
  });

  test.each([
    [
      'state=broken',
      'The parameter \'state\' is "broken"; allowed are failed, recording_failure, paused, running, queued',
    ],
    ['sort=length:asc', 'The parameter \'sort\' is "length:asc"; allowed are title:asc, title:desc'],
    ['from=yesterday', 'The parameter \'from\' is "yesterday"; it must be a date such as 2026-11-25.'],
    ['to=2026-02-30', 'The parameter \'to\' is "2026-02-30"; it must be a date such as 2026-11-25.'],
    ['from=2026-03-02&to=2026-03-01', "The parameter 'from' is \"2026-03-02\"; it must not be after 'to'"],
    ['cursor=nonsense', "The parameter 'cursor' does not come from a list sorted like this one."],
    ['q=%00', "The parameter 'q' is"],
    ['series=%00', "The parameter 'series' is"],
    ['agent=%00', "The parameter 'agent' is"],
    [`q=${'w'.repeat(256)}`, "The parameter 'q' is"],
    [`q=${Array.from({ length: 21 }, (_, i) => i).join('+')}`, "The parameter 'q' has 21 words; allowed are 20."],
  ])('refuses %s and names the parameter', async (query, sentence) => {
    expect(await refused(`?${query}`)).toEqual([400, expect.stringContaining(sentence)]);
  });

  test('pages stay as they are while rows come and go', async () => {
    await sql`INSERT INTO events (id, title, start_date, created, creator, description)
      SELECT 'paged-' || i, 'Paged ' || i, '2020-01-01Z'::timestamptz + i * interval '1 hour', now(), 'Ada L.', 'manifold'
      FROM generate_series(1, 120) AS i`.execute(database);
    const first = await read('?q=manifold');
    expect(titles(first)).toEqual(Array.from({ length: PAGE }, (_, i) => `Paged ${120 - i}`));
    expect(link(first, 'Previous page')).toBeUndefined();
    // One before, the last of the page, and one of the next page.
    await insert('Newest', { description: 'manifold' });
    await database.deleteFrom('events').where('id', 'in', ['paged-71', 'paged-60']).execute();
    const second = await read(link(first, 'Next page'));
    const rest = Array.from({ length: 70 }, (_, i) => `Paged ${70 - i}`).filter((title) => title !== 'Paged 60');
    expect(titles(second)).toEqual(rest.slice(0, PAGE));
    const third = await read(link(second, 'Next page'));
    expect(titles(third)).toEqual(rest.slice(PAGE));
    expect(link(third, 'Next page')).toBeUndefined();
    expect(titles(await read(link(third, 'Previous page')))).toEqual(rest.slice(0, PAGE));
    const start = await read(link(second, 'First page'));
    expect(titles(start)[0]).toBe('Newest');
    expect(start).toContain('<p class="faint">119 recordings.</p>');
    await sql`DELETE FROM events WHERE description = 'manifold'`.execute(database);
    expect(await read(link(second, 'Next page'))).toContain('No further recordings.');
  });

  test('a last page with one recording says so', async () => {
    for (let i = 0; i <= PAGE; i += 1) await insert(`Row ${i}`, { description: 'lonesome' });
    const last = await read(link(await read('?q=lonesome'), 'Next page'));
    expect(titles(last)).toHaveLength(1);
    expect(last).toContain('<p class="faint">1 recording on this page.</p>');
    await sql`DELETE FROM events WHERE description = 'lonesome'`.execute(database);
  });

  test('is found by the request that started a workflow, beside what has its words', async () => {
    const { eventId } = await startRecording(database, 'Requested');
    await insert('Other', { description: 'request-requested' });
    expect(titles(await read('?q=request-Requested'))).toEqual(['Requested', 'Other']);
    await sql`DELETE FROM events WHERE id = ${eventId} OR title = 'Other'`.execute(database);
  });
});

describe('an action on selected recordings', () => {
  /** Sends the form of the list. */
  const act = async (fields: Record<string, string>, ids: readonly string[], headers = {}) => {
    const body = new URLSearchParams([...Object.entries(fields), ...ids.map((id) => ['event', id])]);
    const answer = await app.request('/admin/recordings', { method: 'POST', body, headers });
    return { status: answer.status, text: await answer.text() };
  };
  /** What the page says of each recording, by title or identifier. */
  const outcomes = (text: string) =>
    Object.fromEntries(
      [...text.matchAll(/<li>.*?(?:<bdi>|<code>)(.*?)<.*<span class="(faint|alarm)">(.*?)<\/span><\/li>/g)].map(
        ([, name, , sentence]) => [name, sentence],
      ),
    );
  const failedRecording = async (title: string) => {
    const recording = await startRecording(database, title);
    await endOperation(database, await claimReady(database, recording.workflowId), 'It broke.');
    return recording;
  };
  const kinds = async (eventId: string) => {
    const changes = await database
      .selectFrom('changes')
      .select(['kind', 'actor', 'data'])
      .where('event_id', '=', eventId)
      .orderBy('id', 'desc')
      .execute();
    return changes.map(({ kind, actor }) => `${kind} ${actor}`);
  };

  test('retries what failed, and says of each other one why not', async () => {
    const failed = await failedRecording('Failed one');
    const running = await startRecording(database, 'Running one');
    const plain = await insert('Never processed');
    const ids = [failed.eventId, running.eventId, plain, 'nobody', failed.eventId];
    const { status, text } = await act({ action: 'retry' }, ids);
    expect(status).toBe(200);
    expect(text).toContain('Started again: 1 recording; 3 refused.');
    expect(outcomes(text)).toEqual({
      'Failed one': `Workflow ${failed.workflowId} is retried.`,
      'Running one': expect.stringMatching(/^The workflow cannot move from \w+ to RUNNING\.$/),
      'Never processed': 'No workflow has been started.',
      nobody: 'The recording does not exist.',
    });
    expect(await processingState(database, failed.eventId)).toBe('RUNNING');
    expect(await kinds(failed.eventId)).toContain('workflow.state admin');
  });

  test.each([
    ['publish', {}, 'publish'],
    ['retract', {}, 'retract'],
    ['start', { definition: 'republish-metadata' }, 'republish-metadata'],
  ])('%s starts a workflow for each that can be processed', async (action, more, definition) => {
    const ready = await insert(`Ready to ${action}`, { processing_state: 'SUCCEEDED' });
    const busy = await startRecording(database, `Busy with ${action}`);
    const { text } = await act({ action, ...more }, [ready, busy.eventId]);
    const workflow = database
      .selectFrom('workflows')
      .select(['id', 'definition', 'creator'])
      .where('event_id', '=', ready);
    const started = await workflow.executeTakeFirstOrThrow();
    expect(started).toMatchObject({ definition, creator: 'admin' });
    expect(outcomes(text)).toEqual({
      [`Ready to ${action}`]: `Workflow ${started.id} is started.`,
      [`Busy with ${action}`]: 'This event has an active workflow; wait for it to finish.',
    });
  });

  test('deletion names what it deletes first, and deletes then', async () => {
    const one = await insert('To <delete>');
    const other = await insert('');
    const list = 'q=delete&sort=title%3Aasc';
    const asked = await act({ action: 'delete', list }, [one, other, 'nobody']);
    expect(asked.text).toContain('Delete 3 recordings?');
    expect(asked.text).toContain('<bdi>To &lt;delete&gt;</bdi>');
    expect(asked.text).toContain('<code>nobody</code> <span class="alarm">does not exist</span>');
    expect(asked.text).toContain('<a href="recordings?q=delete&amp;sort=title%3Aasc">Cancel</a>');
    expect(await kinds(one)).not.toContain('event.deleted admin');
    expect(asked.text.match(/name="event" value=/g)).toHaveLength(3);
    const { text } = await act({ action: 'delete', confirmed: 'true', list }, [one, other, 'nobody']);
    expect(text).toContain('Deleted: 2 recordings; 1 refused.');
    expect(await kinds(one)).toContain('event.deleted admin');
    const left = database.selectFrom('events').select('id').where('id', 'in', [one, other]);
    expect(await left.execute()).toEqual([]);
  });

  test.each<[string, Error, string[]]>([
    [
      'an unexpected error stops the remaining ones',
      new Error('broken'),
      [
        'Deleted.',
        expect.stringMatching(/^Internal server error; /),
        'Not tried, because an earlier recording failed with an error.',
      ],
    ],
    [
      'a recording that is locked by another request stops no other one',
      Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' }),
      ['Deleted.', 'The resource is being changed by another request. Try again.', 'Deleted.'],
    ],
  ])('%s', async (_, error, expected) => {
    const ids = [await insert('First'), await insert('Second'), await insert('Third')];
    vi.spyOn(app.context.staging, 'discard').mockResolvedValueOnce().mockRejectedValueOnce(error);
    const { status, text } = await act({ action: 'delete', confirmed: 'true' }, ids);
    expect(status).toBe(200);
    const { First, Second, Third } = outcomes(text);
    expect([First, Second, Third]).toEqual(expected);
    const left = await database.deleteFrom('events').where('id', 'in', ids).returning('title').execute();
    expect(left.map(({ title }) => title)).toEqual(Third === 'Deleted.' ? [] : ['Third']);
  });

  test.each<[string, Record<string, string>, number, string]>([
    ['no recording', { action: 'retry' }, 0, "No recording is selected: the form parameter 'event' is missing"],
    ['too many', { action: 'retry' }, PAGE + 1, "The form parameter 'event' names 51 recordings; allowed are 1 to 50."],
    [
      'an unknown action',
      { action: 'paint' },
      1,
      'The form parameter \'action\' is "paint"; allowed are retry, publish',
    ],
    ['no action', {}, 1, "Missing form parameter 'action'"],
    ['an unknown workflow', { action: 'start', definition: 'x' }, 1, 'The form parameter \'definition\' is "x"'],
    ['no workflow', { action: 'start' }, 1, "The form parameter 'definition' is missing"],
  ])('%s is refused, and nothing is done', async (_, fields, count, sentence) => {
    const ids = Array.from({ length: count }, (_, i) => `recording-${i}`);
    expect(await act(fields, ids)).toEqual({ status: 400, text: expect.stringContaining(sentence) });
  });

  test('a whole page is accepted', async () => {
    const ids = Array.from({ length: PAGE }, (_, i) => `recording-${i}`);
    expect((await act({ action: 'delete', confirmed: 'true' }, ids)).text).toContain(
      'Deleted: 0 recordings; 50 refused.',
    );
  });

  test('is for administrators, and for pages of this site', async () => {
    const id = await insert('Kept');
    const fields = { action: 'delete', confirmed: 'true' };
    expect((await act(fields, [id], { Origin: 'https://elsewhere.example.org' })).status).toBe(403);
    const Authorization = await app.account('editor', 'ROLE_API', 'ROLE_ADMIN_UI', 'ROLE_API_EVENTS_DELETE');
    expect((await act(fields, [id], { Authorization })).status).toBe(403);
    const body = new URLSearchParams({ ...fields, event: id });
    expect((await app.anonymous('/admin/recordings', { method: 'POST', body })).status).toBe(401);
    expect(await kinds(id)).not.toContain('event.deleted admin');
  });

  test('the link back to the list leads nowhere else', async () => {
    const { text } = await act({ action: 'retry', list: '"><script>//evil.example.org/' }, ['nobody']);
    expect(text).toContain('<a href="recordings?%22%3E%3Cscript%3E%2F%2Fevil.example.org%2F=">Back to the list</a>');
  });
});
