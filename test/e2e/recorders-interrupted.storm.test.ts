import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Client } from '../support/client.ts';
import { recording } from '../support/clips.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, field, file, form } from '../support/form.ts';
import { countEvents, expectNothingLeftOver } from '../support/leftovers.ts';
import { OpenUpload } from '../support/open-upload.ts';
import { ok, packageId, Recorder, workflowId } from '../support/packages.ts';
import { showLogsOnFailure, startServer, type TestServer } from '../support/server.ts';

/** When the server is killed after an ingest has been sent, each in a run of its own. */
const KILLED_AFTER_MS = [0, 8, 30];
const PATIENCE_MS = 60_000;

// What a client sees of a kill depends on the HTTP server, which each runtime brings along.
describe.each(['deno', 'node'] as const)('a capture agent whose server on %s fails it', (runtime) => {
  let server: TestServer;
  let admin: Client;
  let agent: Recorder;
  beforeAll(async () => {
    server = await startServer({ runtime, roles: ['api', 'worker'], s3: true, proxy: true });
    admin = new Client(server.url);
    agent = new Recorder({ request: (path, init) => fetch(new URL(path, server.url), init) });
  });
  afterAll(() => server?.stop());
  beforeEach((test) => showLogsOnFailure(test, server));

  const restart = async () => {
    server.api.start();
    await server.ready();
  };
  const scheduled = () => {
    const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
    const scheduling = { agent_id: `hall ${Math.random()}`, start: at(-1), end: at(60) };
    return admin.create([...eventFields(), field('scheduling', JSON.stringify(scheduling))]);
  };
  /** One that has sent half of a track. */
  const halfSent = async (mediaPackage: string) => {
    const { type, body } = form([
      field('mediaPackage', mediaPackage),
      field('flavor', 'presentation/source'),
      file('BODY1', 'slides.mp4', Buffer.alloc(24 * 2 ** 20, 1)),
    ]);
    const upload = new OpenUpload(admin, { type, length: body.length, path: '/ingest/addTrack' });
    await upload.write(body.subarray(0, body.length / 2));
    await eventually(async () => expect(await Array.fromAsync(server.storage.unfinished())).not.toHaveLength(0));
    return { upload, rest: body.subarray(body.length / 2) };
  };
  const workflows = (id: string) =>
    server.database.selectFrom('workflows').select('id').where('event_id', '=', id).execute();
  const flavors = async (id: string) => {
    const tracks = await server.database
      .selectFrom('tracks')
      .select('flavor')
      .where('event_id', '=', id)
      .orderBy('flavor')
      .execute();
    return tracks.map(({ flavor }) => flavor);
  };

  test('by SIGKILL in a track and at ingest delivers each recording once', { timeout: 10 * PATIENCE_MS }, async () => {
    const events: string[] = [];
    for (const after of KILLED_AFTER_MS) {
      const id = await scheduled();
      events.push(id);
      let mediaPackage = ok(await agent.addTrack(await agent.create(), await recording()));
      const { upload } = await halfSent(mediaPackage);
      await server.api.kill();
      await expect(upload.answer).rejects.toThrow();
      await restart();
      mediaPackage = ok(await agent.addTrack(mediaPackage, await recording(), 'presentation/source'));
      const lost = agent.ingest(mediaPackage, { workflowInstanceId: id }).catch(() => undefined);
      await pause(after);
      await server.api.kill();
      await lost;
      await restart();
      const first = workflowId(ok(await agent.ingest(mediaPackage, { workflowInstanceId: id })));
      expect(await workflows(id)).toEqual([{ id: first }]);
      expect(await flavors(id)).toEqual(['presentation/source', 'presenter/source']);
    }
    expect(await countEvents(server)).toBe(events.length);
    for (const id of events) {
      expect(await admin.processed(id, PATIENCE_MS)).toMatchObject({ processing_state: 'SUCCEEDED' });
    }
    await expectNothingLeftOver(server, { timeoutMs: PATIENCE_MS, atOnce: true });
  });

  test('by a storage that goes away in a track keeps its package and takes the track later', async () => {
    const events = await countEvents(server);
    const mediaPackage = ok(await agent.addTrack(await agent.create(), await recording()));
    const { upload, rest } = await halfSent(mediaPackage);
    await server.s3.kill();
    await upload.write(rest).then(() => upload.end());
    expect((await upload.answer).status).toBe(503);
    const found = '/services/available.json?serviceType=org.opencastproject.ingest';
    expect((await agent.send('GET', found)).status).toBe(503);
    await server.s3.restart();
    await eventually(async () => expect((await agent.send('GET', found)).status).toBe(200), PATIENCE_MS);
    const complete = ok(await agent.addTrack(mediaPackage, await recording(), 'presentation/source'));
    const id = packageId(ok(await agent.ingest(complete)));
    expect(await flavors(id)).toEqual(['presentation/source', 'presenter/source']);
    expect(await countEvents(server)).toBe(events + 1);
    expect(await admin.processed(id)).toMatchObject({ processing_state: 'SUCCEEDED' });
    await expectNothingLeftOver(server, { timeoutMs: PATIENCE_MS, atOnce: true });
  });

  test('by a database that goes away at ingest gets the recording in when it asks again', async () => {
    const events = await countEvents(server);
    const mediaPackage = ok(await agent.addTrack(await agent.create(), await recording()));
    await server.proxy.part();
    const refused = await agent.ingest(mediaPackage);
    await server.proxy.join();
    expect(refused.status).toBe(503);
    await server.ready();
    const id = packageId(ok(await agent.ingest(mediaPackage)));
    expect(id).toBe(packageId(mediaPackage));
    expect(await countEvents(server)).toBe(events + 1);
    expect(await admin.processed(id)).toMatchObject({ processing_state: 'SUCCEEDED' });
  });

  test('by a connection that ends before the answer to ingest gets the same answer again', async () => {
    const events = await countEvents(server);
    const mediaPackage = ok(await agent.addTrack(await agent.create(), await recording()));
    const body = new URLSearchParams({ mediaPackage }).toString();
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write(
      `POST /ingest/ingest HTTP/1.1\r\nHost: inlet\r\nAuthorization: ${admin.authorization}\r\n` +
        `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      () => socket.resetAndDestroy(),
    );
    const answers = [await agent.ingest(mediaPackage), await agent.ingest(mediaPackage)];
    expect(new Set(answers.map((answer) => workflowId(ok(answer)))).size).toBe(1);
    expect(await countEvents(server)).toBe(events + 1);
    expect(await workflows(packageId(mediaPackage))).toHaveLength(1);
  });
});
