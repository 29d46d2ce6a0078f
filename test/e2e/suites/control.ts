import { expect, test } from 'vitest';
import type { Client } from '../../support/client.ts';
import { recording } from '../../support/clips.ts';
import { eventually } from '../../support/eventually.ts';
import { eventFields, file } from '../../support/form.ts';
import { expectNothingLeftOver } from '../../support/leftovers.ts';
import { processesWith } from '../../support/media.ts';
import { ENDLESS_SECONDS } from '../../support/site-folders.ts';
import { operationsOfEvent } from '../../support/workflows.ts';
import type { Suite } from '../suite.ts';

interface WorkflowJson {
  identifier: number;
  state: string;
  operations: { operation: string; state: string; progress: number }[];
}

/** Control of processing (compatibility 6) on what really runs. */
export const control: Suite = (product) => {
  test('stopping ends a running ffmpeg and cleans up; trying again goes on there', async () => {
    const { admin, server } = product();
    // Much work in few bytes.
    const long = await recording({ container: 'avi', seconds: 8, video: { size: '1280x720' }, audio: true });
    const id = await admin.create([...eventFields(), file('presenter', 'long.avi', long)]);
    const tools = () => processesWith(`${server.dataDir}/work`);
    const workflow = await eventually(async () => {
      const [found] = await workflowsOf(admin, id);
      expect(found?.operations.findLast(({ operation }) => operation === 'encode')?.state).toBe('running');
      expect(tools().length).toBeGreaterThan(0);
      return found as WorkflowJson;
    });
    const stopped = await put(admin, workflow.identifier, 'stopped');
    expect([stopped.status, (await stopped.json()).state]).toEqual([200, 'stopped']);
    await eventually(() => expect(tools()).toEqual([]));
    expect((await admin.event(id)).processing_state).toBe('STOPPED');
    await expectNothingLeftOver(server);
    const before = await operationsOfEvent(server.database, id);
    expect((await put(admin, workflow.identifier, 'retry')).status).toBe(200);
    expect(await admin.processed(id)).toMatchObject({
      processing_state: 'SUCCEEDED',
      publication_status: ['engage-player'],
    });
    const after = await operationsOfEvent(server.database, id);
    // Inspection was done and is not done again.
    expect(after.find(({ operation }) => operation === 'inspect')).toEqual(
      before.find(({ operation }) => operation === 'inspect'),
    );
  });

  test("a site's own program makes captions that are published with the recording", async () => {
    const { admin } = product();
    const clip = await recording({ seconds: 1 });
    const fields = eventFields({ workflow: 'subtitled' });
    const id = await admin.create([...fields, file('presenter', 'lecture.mp4', clip)]);
    expect((await admin.processed(id)).processing_state).toBe('SUCCEEDED');
    const [publication] = await admin.publications(id);
    expect(publication?.media.map(({ mediatype }) => mediatype)).toContain('text/vtt');
  });

  test("stopping ends a site's program with all that it has started", async () => {
    const { admin } = product();
    const clip = await recording({ seconds: 1 });
    const fields = eventFields({ workflow: 'endless' });
    const id = await admin.create([...fields, file('presenter', 'lecture.mp4', clip)]);
    const child = `sleep\0${ENDLESS_SECONDS}`;
    await eventually(() => expect(processesWith(child).length).toBeGreaterThan(0));
    const [workflow] = await workflowsOf(admin, id);
    expect((await put(admin, workflow?.identifier ?? 0, 'stopped')).status).toBe(200);
    await eventually(() => expect(processesWith(child)).toEqual([]));
  });

  test('what is published is taken back, and published again at another address', async () => {
    const { admin, server } = product();
    const clip = await recording({ seconds: 1 });
    const id = await admin.create([...eventFields(), file('presenter', 'lecture.mp4', clip)]);
    expect((await admin.processed(id)).publication_status).toEqual(['engage-player']);
    for (const [definition, channels] of [
      ['retract', []],
      ['publish', ['engage-player']],
    ] as const) {
      const started = await admin.fetch('/api/workflows', {
        method: 'POST',
        body: new URLSearchParams({
          event_identifier: id,
          workflow_definition_identifier: definition,
        }),
      });
      expect(started.status).toBe(201);
      const event = await eventually(async () => {
        const [latest] = await workflowsOf(admin, id);
        expect(latest?.state).toBe('succeeded');
        return admin.event(id);
      }, 60_000);
      expect(event.publication_status).toEqual(channels);
    }
    expect(await workflowsOf(admin, id)).toHaveLength(3);
    await expectNothingLeftOver(server);
  });
};

function put(admin: Client, workflow: number, state: string): Promise<Response> {
  return admin.fetch(`/api/workflows/${workflow}`, { method: 'PUT', body: new URLSearchParams({ state }) });
}

function workflowsOf(admin: Client, id: string): Promise<WorkflowJson[]> {
  return admin.json(`/api/workflows?filter=event:${id}&withoperations=true`);
}
