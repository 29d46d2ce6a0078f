import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { counts, created, post } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { eventFields, field, file, type Part } from '../support/form.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

describe('POST /api/events', () => {
  test('answers 201 with Location and the identifier', async () => {
    const answer = await post(app, eventFields(), { Accept: 'application/v1.2.0+json' });
    const text = await answer.text();
    const { identifier } = JSON.parse(text) as { identifier: string };
    expect(answer.status).toBe(201);
    expect(answer.headers.get('Content-Type')).toBe('application/v1.2.0+json');
    expect(answer.headers.get('Location')).toBe(`http://inlet.test/api/events/${identifier}`);
    expect(text).toBe(JSON.stringify({ identifier }));
    expect((await app.request(`/api/events/${identifier}`)).status).toBe(200);
  });

  test('keeps presenter, presentation and audio apart by their flavors', async () => {
    const names = ['presenter', 'presentation', 'audio'];
    const event_id = await created(
      await post(app, [...eventFields(), ...names.map((name) => file(name, `${name}.mp4`, bytes(100)))]),
    );
    const tracks = await app.database
      .selectFrom('tracks')
      .select(['flavor', 'filename'])
      .where('event_id', '=', event_id)
      .orderBy('position')
      .execute();
    expect(tracks).toEqual([
      { flavor: 'presenter/source', filename: 'presenter.mp4' },
      { flavor: 'presentation/source', filename: 'presentation.mp4' },
      { flavor: 'presenter-audio/source', filename: 'audio.mp4' },
    ]);
  });

  test('starts the workflow of processing with its configuration', async () => {
    const event_id = await created(
      await post(app, eventFields({ configuration: { flagForReview: 'true' } })),
    );
    const workflow = await app.database
      .selectFrom('workflows')
      .select(['definition', 'configuration'])
      .where('event_id', '=', event_id)
      .executeTakeFirstOrThrow();
    expect(workflow).toMatchObject({
      definition: 'schedule-and-upload',
      configuration: { flagForReview: 'true' },
    });
  });

  test('takes ACL entries without allow, which allow', async () => {
    const acl = [{ role: 'ROLE_A', action: 'read' }];
    const id = await created(await post(app, eventFields({ acl })));
    expect(await (await app.request(`/api/events/${id}/acl`)).json()).toEqual([
      { allow: true, action: 'read', role: 'ROLE_A' },
    ]);
  });

  test('takes catalogs with a label, a title or neither', async () => {
    for (const more of [{ label: 'x' }, { title: 'x' }, {}]) {
      const catalog = { ...more, flavor: 'dublincore/episode', fields: [{ id: 'title', value: 'Lecture' }] };
      const [acl, , processing] = eventFields();
      const parts = [acl, field('metadata', JSON.stringify([catalog])), processing].filter((part) => !!part);
      expect((await post(app, parts)).status).toBe(201);
    }
  });

  const processing = field('processing', '{"workflow":"schedule-and-upload"}');
  const [acl = processing, metadata = processing] = eventFields();
  const emptyTitle = field(
    'metadata',
    '[{"flavor":"dublincore/episode","fields":[{"id":"title","value":""}]}]',
  );
  const noFlavor = field('metadata', '[{"fields":[]}]');

  // Each lacks also what is asked for later.
  test.each<[string, Part[], string]>([
    ['an ACL that cannot be read', [field('acl', '[')], 'Unable to parse acl'],
    [
      'processing that cannot be read',
      [acl, metadata, field('processing', '[')],
      'Unable to parse processing configuration',
    ],
    [
      'a catalog without a flavor',
      [noFlavor],
      'Unable to create new event as no flavor was given for one of the metadata collections',
    ],
    ['no ACL', [emptyTitle], 'No access control list available to create new event.'],
    [
      'an empty ACL part',
      [field('acl', ''), emptyTitle],
      'No access control list available to create new event.',
    ],
    ['no metadata', [acl, field('processing', '{}')], 'No metadata list available to create new event.'],
    ['no processing', [acl, emptyTitle], 'No processing metadata available to create new event.'],
    ['no workflow', [acl, emptyTitle, field('processing', '{}')], 'No workflow template in metadata'],
    [
      'an empty title',
      [acl, emptyTitle, processing],
      "The event metadata field with id 'title' and the metadata type 'TEXT' is required and can not be empty!.",
    ],
  ])('is 400 for %s, and nothing stays', async (_what, parts, sentence) => {
    const before = await counts(app);
    const answer = await post(app, [...parts, file('presenter', 'a.mp4', bytes(100))]);
    expect([answer.status, await answer.text()]).toEqual([400, sentence]);
    expect(answer.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
    expect(await counts(app)).toEqual(before);
  });

  test('is 400 for a series that does not exist', async () => {
    const answer = await post(app, eventFields({ metadata: { isPartOf: 'nowhere' } }));
    expect([answer.status, await answer.text()]).toEqual([
      400,
      'Unable to retrieve series dublincore catalog for the series nowhere',
    ]);
  });
});
