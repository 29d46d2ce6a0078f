import { describe, expect, test } from 'vitest';
import { bytes } from '../../support/bytes.ts';
import { eventFields, field, file, form, type Part } from '../../support/form.ts';
import { countEvents, expectNothingLeftOver } from '../../support/leftovers.ts';
import type { Suite } from '../suite.ts';

const [acl, metadata, processing] = eventFields().map(({ content }) => content as string) as [string, string, string];

/** A form with these fields; those that are not named are as they should be, those set to null are missing. */
function parts(changes: Record<string, unknown>): Part[] {
  const fields = { acl, metadata, processing, ...changes };
  return Object.entries(fields).flatMap(([name, value]) =>
    value === null ? [] : [field(name, typeof value === 'string' ? value : JSON.stringify(value))],
  );
}

const catalog = (...fields: unknown[]) => [{ flavor: 'dublincore/episode', fields }];

/** In the order in which the faults are looked for: what every request has as well is a later fault. */
const REFUSALS: [string, Record<string, unknown>, string | RegExp][] = [
  ['an ACL that is no JSON', { acl: '[', metadata: null }, 'Unable to parse acl'],
  ['an ACL entry without a role', { acl: [{ action: 'read' }], metadata: null }, 'Unable to parse acl'],
  ['metadata that are no JSON', { metadata: '{', acl: null }, /^Unable to parse event metadata because: '.*'$/],
  [
    'a catalog without a flavor',
    { metadata: [{ fields: [] }], acl: null },
    'Unable to create new event as no flavor was given for one of the metadata collections',
  ],
  [
    'a catalog nobody knows',
    { metadata: [{ flavor: 'a/b', fields: [] }], acl: null },
    "Unable to find an EventCatalogUIAdapter with Flavor 'a/b'",
  ],
  [
    'a field nobody knows',
    { metadata: catalog({ id: 'colour', value: 'red' }), acl: null },
    "Cannot find a metadata field with id 'colour' from Catalog with Flavor 'dublincore/episode'.",
  ],
  [
    'subjects that are no list',
    { metadata: catalog({ id: 'subjects', value: 'x' }), acl: null },
    /^Unable to parse the 'subjects' metadata array field because: /,
  ],
  [
    'a field without a value',
    { metadata: catalog({ id: 'title' }), acl: null },
    "One of the metadata fields is missing an id or value. The id was 'title' and the value was ''.",
  ],
  [
    'processing instructions that are no JSON',
    { processing: '{', acl: null },
    'Unable to parse processing configuration',
  ],
  [
    'scheduling without an end',
    { scheduling: { agent_id: 'hall', start: '2026-04-13T08:15:00Z' }, acl: null },
    "Either 'end' or 'duration' must be specified",
  ],
  ['scheduling that is no JSON', { scheduling: '{', acl: null }, 'Unable to parse scheduling information'],
  [
    'an impossible date',
    { metadata: catalog({ id: 'startDate', value: '2026-02-30' }), acl: null },
    /^Unable to parse event metadata because: '.*2026-02-30.*'$/,
  ],
  [
    'no ACL, and an empty title as well',
    { acl: null, metadata: catalog({ id: 'title', value: '' }) },
    'No access control list available to create new event.',
  ],
  [
    'nothing at all',
    { acl: null, metadata: null, processing: null },
    'No access control list available to create new event.',
  ],
  ['an empty ACL part', { acl: '' }, 'No access control list available to create new event.'],
  ['no metadata', { metadata: null, processing: null }, 'No metadata list available to create new event.'],
  ['no processing instructions', { processing: null }, 'No processing metadata available to create new event.'],
  [
    'processing instructions without a workflow',
    {
      processing: { configuration: {} },
      metadata: catalog({ id: 'title', value: '' }, { id: 'isPartOf', value: 'nowhere' }),
    },
    'No workflow template in metadata',
  ],
  [
    'an empty title',
    { metadata: catalog({ id: 'title', value: '' }, { id: 'isPartOf', value: 'nowhere' }) },
    "The event metadata field with id 'title' and the metadata type 'TEXT' is required and can not be empty!.",
  ],
  [
    'a series that does not exist',
    { metadata: catalog({ id: 'title', value: 'x' }, { id: 'isPartOf', value: 'nowhere' }) },
    'Unable to retrieve series dublincore catalog for the series nowhere',
  ],
];

export const refusals: Suite = (product) => {
  describe('refused with 400 and the sentence that clients know', () => {
    test.each(REFUSALS)('%s', async (_name, changes, sentence) => {
      const { admin } = product();
      const answer = await admin.upload([file('presenter', 'a.mp4', bytes(1000)), ...parts(changes)]);
      const text = await answer.text();
      expect(answer.status, text).toBe(400);
      if (typeof sentence === 'string') expect(text).toBe(sentence);
      else expect(text).toMatch(sentence);
      expect(answer.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
    });

    test('JSON sent as a file, which does not count as the field', async () => {
      const [, ...others] = eventFields();
      const answer = await product().admin.upload([file('acl', 'acl.json', Buffer.from(acl)), ...others]);
      expect(answer.status).toBe(400);
      expect(await answer.text()).toBe('No access control list available to create new event.');
    });

    test('an empty recording', async () => {
      const answer = await product().admin.upload([
        ...eventFields(),
        file('presenter', 'lecture.mp4', new Uint8Array()),
      ]);
      expect(answer.status).toBe(400);
      expect(await answer.text()).toBe("The file 'lecture.mp4' in the part 'presenter' is empty.");
    });
  });

  test('nothing stays of what was refused', async () => {
    const { admin, server } = product();
    const before = await countEvents(server);
    await admin.upload([file('presenter', 'a.mp4', bytes(1000)), ...parts({ acl: null })]);
    expect(await countEvents(server)).toBe(before);
    await expectNothingLeftOver(server);
  });

  test.each(['application/json', 'application/x-www-form-urlencoded', 'text/plain'])(
    'a body of the type %s is refused with 415',
    async (type) => {
      const answer = await product().admin.fetch('/api/events', {
        method: 'POST',
        headers: { 'Content-Type': type },
        body: '{}',
      });
      expect(answer.status).toBe(415);
      expect(await answer.text()).toBe('The content type must be multipart/form-data.');
    },
  );

  test('a form without a boundary is refused with 400', async () => {
    const { body } = form(eventFields());
    const answer = await product().admin.fetch('/api/events', {
      method: 'POST',
      headers: { 'Content-Type': 'multipart/form-data' },
      body,
    });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toMatch(/^The multipart form is broken or was cut short: /);
  });

  test('a series whose form was cut short is refused, and not made without its ACL', async () => {
    const catalogs = [{ flavor: 'dublincore/series', fields: [{ id: 'title', value: 'Cut short' }] }];
    const { type, body } = form([field('metadata', JSON.stringify(catalogs)), field('acl', acl)]);
    const answer = await product().admin.fetch('/api/series', {
      method: 'POST',
      headers: { 'Content-Type': type },
      body: body.subarray(0, body.lastIndexOf('\r\n--')),
    });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toMatch(/^The multipart form is broken or was cut short: /);
  });

  test.each([
    ['GET', '/nowhere', 404],
    ['GET', '/api/nowhere', 404],
    ['GET', '/api/events/nowhere', 404],
    ['GET', '/api/events/nowhere/publications', 404],
    ['GET', '/api/events/%00', 400],
    ['GET', '/api/events/%ff', 404],
    ['DELETE', '/api/events/nowhere', 404],
    ['PATCH', '/api/events', 405],
    ['GET', '/api/events?limit=-1', 400],
    ['GET', '/api/events?offset=x', 400],
    ['GET', '/publications/x/y/z', 404],
    ['GET', '/publications/../../etc/passwd', 404],
    ['GET', '/watch/nowhere', 404],
  ])('%s %s is answered with %i and tells nothing of the inside', async (method, path, status) => {
    const answer = await product().admin.fetch(path, { method });
    const text = await answer.text();
    expect(answer.status, text).toBe(status);
    expect(text).not.toMatch(/^\s*at \S|\.ts:\d|node_modules|SELECT |sql/m);
    expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff');
  });
};
