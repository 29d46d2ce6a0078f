import { beforeAll, describe, expect, test } from 'vitest';
import { bytes } from '../../support/bytes.ts';
import type { Client, PublicationJson } from '../../support/client.ts';
import { recording } from '../../support/clips.ts';
import { eventFields, file } from '../../support/form.ts';
import { expectNothingLeftOver } from '../../support/leftovers.ts';
import type { Suite } from '../suite.ts';

/** What a workflow's configuration says, and where that leads. */
const CASES: { configuration: Record<string, string>; state: string; channels: string[] }[] = [
  { configuration: {}, state: 'SUCCEEDED', channels: ['engage-player'] },
  { configuration: { straightToPublishing: 'false' }, state: 'SUCCEEDED', channels: ['internal'] },
  { configuration: { flagForCutting: 'true' }, state: 'PAUSED', channels: [] },
  { configuration: { straightToPublishing: 'true', flagForReview: 'true' }, state: 'PAUSED', channels: [] },
  { configuration: { publishToEngage: 'false' }, state: 'SUCCEEDED', channels: [] },
  {
    configuration: { straightToPublishing: 'true', flagForCutting: 'false', publishToEngage: 'true' },
    state: 'SUCCEEDED',
    channels: ['engage-player'],
  },
];

export const processing: Suite = (product) => {
  describe('the configuration of a workflow', () => {
    let ids: string[];
    beforeAll(async () => {
      const { admin } = product();
      const clip = await recording({ seconds: 1 });
      const uploads = CASES.map(({ configuration }) =>
        admin.create([...eventFields({ configuration }), file('presenter', 'lecture.mp4', clip)]),
      );
      ids = await Promise.all(uploads);
    });

    test.each(CASES.map((each, index) => ({ ...each, index })))(
      '$configuration leads to $state and the channels $channels',
      async ({ index, state, channels }) => {
        const event = await product().admin.processed(ids[index] ?? '');
        expect(event.processing_state).toBe(state);
        expect(event.publication_status).toEqual(channels);
      },
    );
  });

  test('a workflow that waits for somebody goes on to publish when it is resumed, or ends when it is stopped', async () => {
    const { admin } = product();
    const clip = await recording({ seconds: 1 });
    for (const [state, outcome, channels] of [
      ['running', 'SUCCEEDED', ['engage-player']],
      ['stopped', 'STOPPED', []],
    ] as const) {
      const id = await admin.create([
        ...eventFields({ configuration: { flagForReview: 'true' } }),
        file('presenter', 'lecture.mp4', clip),
      ]);
      await admin.reached(id, ['PAUSED']);
      const [workflow] = await workflowsOf(admin, id);
      const change = await admin.fetch(`/api/workflows/${workflow?.id}`, {
        method: 'PUT',
        body: new URLSearchParams({ state }),
      });
      expect(change.status).toBe(200);
      const event = await admin.reached(id, [outcome]);
      expect(event.publication_status).toEqual(channels);
    }
  });

  test.each([
    ['ng-schedule-and-upload', 'schedule-and-upload'],
    ['fast', 'fast'],
    ['a-workflow-nobody-knows', 'schedule-and-upload'],
  ])('a client that names the workflow %s and nothing else gets a publication', async (workflow, runs) => {
    const { admin, server } = product();
    const clip = await recording({ seconds: 1 });
    const id = await admin.create([...eventFields({ workflow }), file('presenter', 'lecture.mp4', clip)]);
    const { definition } = await server.database
      .selectFrom('workflows')
      .select('definition')
      .where('event_id', '=', id)
      .executeTakeFirstOrThrow();
    expect(definition).toBe(runs);
    expect(await admin.processed(id)).toMatchObject({
      processing_state: 'SUCCEEDED',
      publication_status: ['engage-player'],
    });
    expect(await admin.publications(id)).toMatchObject([{ channel: 'engage-player' }]);
  });

  test('what is not to be published yet is prepared, seen only by who asks for it, and deleted as a whole', async () => {
    const { admin, server } = product();
    const clip = await recording({ seconds: 1 });
    const id = await admin.create([
      ...eventFields({ configuration: { straightToPublishing: 'false' } }),
      file('presenter', 'lecture.mp4', clip),
    ]);
    const event = await admin.processed(id);
    expect(event).toMatchObject({ processing_state: 'SUCCEEDED', publication_status: ['internal'] });
    expect(event.duration).toBeGreaterThan(500);
    expect(await admin.publications(id)).toEqual([]);
    const [internal] = await admin.json<PublicationJson[]>(
      `/api/events/${id}/publications?includeInternalPublication=true`,
    );
    expect(internal).toMatchObject({
      channel: 'internal',
      media: [{ flavor: 'presenter/delivery', mediatype: 'video/mp4' }, {}],
      metadata: [{ flavor: 'dublincore/episode' }],
    });
    expect(internal?.attachments.length).toBeGreaterThan(0);
    const url = internal?.media[0]?.url ?? '';
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
    expect((await admin.fetch(`/api/events/${id}`, { method: 'DELETE' })).status).toBe(204);
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(404);
    await expectNothingLeftOver(server);
  });

  test('an event without tracks succeeds and has nothing to publish', async () => {
    const { admin } = product();
    const event = await admin.processed(await admin.create(eventFields()));
    expect(event).toMatchObject({ processing_state: 'SUCCEEDED', publication_status: [], duration: null });
  });

  test('random bytes called lecture.mp4 fail with a reason people understand, and nobody else notices', async () => {
    const { admin } = product();
    const broken = await admin.create([...eventFields(), file('presenter', 'lecture.mp4', bytes(100_000))]);
    const sound = await admin.create([
      ...eventFields(),
      file('presenter', 'lecture.mp4', await recording({ seconds: 1 })),
    ]);
    expect(await admin.processed(broken)).toMatchObject({
      processing_state: 'FAILED',
      status: 'EVENTS.EVENTS.STATUS.PROCESSING_FAILURE',
      publication_status: [],
    });
    const [workflow] = await workflowsOf(admin, broken);
    const operation = workflow?.operations.find(({ state }) => state === 'failed');
    // Trying again would not help.
    expect(operation).toMatchObject({ operation: 'inspect', attempts: 0 });
    expect(operation?.reason).toMatch(/^The file .*\.$/);
    expect(operation?.reason).not.toContain('/');
    expect((await admin.processed(sound)).processing_state).toBe('SUCCEEDED');
  });
};

interface WorkflowJson {
  id: number;
  operations: { operation: string; state: string; attempts: number; reason: string | null }[];
}

/** What operators are told about the processing of an event. */
function workflowsOf(admin: Client, id: string): Promise<WorkflowJson[]> {
  return admin.json(`/admin/events/${id}/workflows`);
}
