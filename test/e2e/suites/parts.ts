import { expect, test } from 'vitest';
import type { Client } from '../../support/client.ts';
import { recording } from '../../support/clips.ts';
import { eventually } from '../../support/eventually.ts';
import { eventFields, file } from '../../support/form.ts';
import { operationsOfEvent } from '../../support/workflows.ts';
import type { Suite } from '../suite.ts';

/** What operators set of parts that run. */
export const parts: Suite = (product) => {
  const post = (admin: Client, path: string, fields: Record<string, string>) =>
    admin.fetch(path, { method: 'POST', body: new URLSearchParams(fields) });

  test('recordings wait for a lane that is paused, and are processed when it is resumed', async ({
    onTestFinished,
  }) => {
    const { admin, server } = product();
    const pause = (paused: string) => post(admin, '/admin/parts/lanes', { lane: 'heavy', paused });
    onTestFinished(async () => void (await pause('false')));
    await pause('true');
    const clip = await recording({ seconds: 1 });
    const encoding = async (id: string) => {
      const operations = await operationsOfEvent(server.database, id);
      // The first one only copies, in another lane.
      return operations.findLast(({ operation }) => operation === 'encode')?.state;
    };
    const arrived = async () => {
      const id = await admin.create([...eventFields(), file('presenter', 'lecture.mp4', clip)]);
      await eventually(async () => expect(await encoding(id)).toBe('ready'));
      return id;
    };
    const id = await arrived();
    // Other lanes work meanwhile.
    await arrived();
    expect(await encoding(id)).toBe('ready');
    await pause('false');
    expect((await admin.processed(id)).processing_state).toBe('SUCCEEDED');
  });

  test('a worker that is drained takes nothing more, and works again when it is let', async () => {
    const { admin, server } = product();
    const [worker] = await server.database.selectFrom('worker_processes').select(['name', 'runtime']).execute();
    expect(worker?.runtime).toMatch(/^(Deno|Node) \d/);
    const drain = (draining: string) => post(admin, '/admin/parts/workers', { worker: worker?.name ?? '', draining });
    expect((await drain('true')).status).toBe(303);
    await eventually(() => {
      const told = server.processes.flatMap(({ log }) => log);
      expect(told.findLast(({ msg }) => msg === 'draining was changed')?.draining).toBe(true);
    });
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const id = await admin.create(eventFields({ workflow: 'fast' }));
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect((await admin.event(id)).processing_state).toBe('INSTANTIATED');
    await drain('false');
    expect((await admin.processed(id)).processing_state).toBe('SUCCEEDED');
  });
};
