import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { giveAcl } from '../support/event-writes.ts';
import { insertEvent, insertPublication } from '../support/publication.ts';
import { ace, send } from '../support/series.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());
beforeEach(async () => {
  await app.database.deleteFrom('events').execute();
});

async function read(path: string, version = '1.11.0') {
  const answer = await send(app, 'GET', path, undefined, { Accept: `application/v${version}+json` });
  expect(answer, answer.text).toMatchObject({ status: 200, type: `application/v${version}+json` });
  return JSON.parse(answer.text);
}

/** An event with something in every field, and how the contract shows it. */
async function fullEvent() {
  const id = randomUUID();
  await app.database
    .insertInto('series')
    .values({ id: 'algebra', title: 'Algebra' })
    .onConflict((on) => on.doNothing())
    .execute();
  await insertEvent(app.database, {
    id,
    title: 'Groups',
    description: 'On symmetry',
    subjects: ['Maths', 'Symmetry'],
    presenters: ['Emmy N.'],
    contributors: ['Camera team'],
    language: 'deu',
    rights_holder: 'The university',
    license: 'CC-BY',
    location: 'Hall 1',
    source: 'Tape 7',
    series_id: 'algebra',
    creator: 'Video team',
    start_date: new Date('2026-04-13T08:15:30Z'),
    created: new Date('2026-04-12T10:00:00Z'),
    duration: 5_400_000,
    archive_version: 3,
    processing_state: 'SUCCEEDED',
  });
  await insertPublication(app.database, id);
  await giveAcl(app, id, [ace('ROLE_STUDENT')]);
  return {
    id,
    shown: {
      archive_version: 3,
      contributor: ['Camera team'],
      created: '2026-04-12T10:00:00Z',
      creator: 'Video team',
      description: 'On symmetry',
      duration: 5_400_000,
      has_previews: false,
      identifier: id,
      is_part_of: 'algebra',
      language: 'deu',
      license: 'CC-BY',
      location: 'Hall 1',
      presenter: ['Emmy N.'],
      processing_state: 'SUCCEEDED',
      publication_status: ['engage-player'],
      rightsholder: 'The university',
      series: 'Algebra',
      source: 'Tape 7',
      start: '2026-04-13T08:15:30Z',
      status: 'EVENTS.EVENTS.STATUS.PROCESSED',
      subjects: ['Maths', 'Symmetry'],
      title: 'Groups',
    },
  };
}

describe('GET /api/events', () => {
  test('is an empty array when there is nothing to see', async () => {
    expect(await read('/api/events')).toEqual([]);
  });

  test('has every field of the contract', async () => {
    const { shown } = await fullEvent();
    expect(await read('/api/events')).toEqual([shown]);
  });

  test('has empty texts and lists where nothing is known', async () => {
    await insertEvent(app.database, { title: '' });
    const [event] = await read('/api/events');
    const texts = ['title', 'description', 'location', 'language', 'rightsholder', 'license', 'is_part_of'];
    for (const name of [...texts, 'series', 'source', 'processing_state'])
      expect([name, event[name]]).toEqual([name, '']);
    for (const name of ['presenter', 'contributor', 'subjects', 'publication_status']) {
      expect([name, event[name]]).toEqual([name, []]);
    }
  });
});

describe('GET /api/events/{id}', () => {
  test('has every field of the contract', async () => {
    const { id, shown } = await fullEvent();
    expect(await read(`/api/events/${id}`)).toEqual(shown);
  });

  test('is 404 with a sentence for an event that does not exist', async () => {
    expect(await send(app, 'GET', '/api/events/nowhere')).toMatchObject({
      status: 404,
      type: 'text/plain; charset=utf-8',
      text: "Cannot find an event with id 'nowhere'.",
    });
  });

  test.each([
    ['withacl', 'acl', [{ allow: true, action: 'read', role: 'ROLE_STUDENT' }]],
    ['withmetadata', 'metadata', [expect.objectContaining({ flavor: 'dublincore/episode' })]],
    ['withpublications', 'publications', [expect.objectContaining({ channel: 'engage-player' })]],
    ['withscheduling', 'scheduling', {}],
  ])('and the list add %s when it is true', async (parameter, member, value) => {
    const { id, shown } = await fullEvent();
    expect(await read(`/api/events/${id}?${parameter}=true`)).toEqual({ ...shown, [member]: value });
    expect(await read(`/api/events?${parameter}=true`)).toEqual([{ ...shown, [member]: value }]);
    expect(await read(`/api/events/${id}?${parameter}=false`)).toEqual(shown);
  });

  test.each([
    ['INSTANTIATED', 'PENDING'],
    ['RUNNING', 'PROCESSING'],
    ['PAUSED', 'PAUSED'],
    ['STOPPED', 'PROCESSING_CANCELLED'],
    ['FAILING', 'PROCESSING'],
    ['FAILED', 'PROCESSING_FAILURE'],
    ['SUCCEEDED', 'PROCESSED'],
    ['', 'PROCESSED'],
  ])('with the processing_state "%s" has the status %s', async (processing_state, status) => {
    const id = await insertEvent(app.database, { processing_state });
    expect(await read(`/api/events/${id}`)).toMatchObject({
      processing_state,
      status: `EVENTS.EVENTS.STATUS.${status}`,
    });
  });
});
