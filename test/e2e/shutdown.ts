import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Runtime } from '#cli/role.ts';
import { bytes, readAll, sha256 } from '../support/bytes.ts';
import { Client } from '../support/client.ts';
import { recording } from '../support/clips.ts';
import { eventually } from '../support/eventually.ts';
import { samplesOf, sumOf } from '../support/exposition.ts';
import { eventFields, file, form } from '../support/form.ts';
import { createHeldEncoder, type HeldEncoder } from '../support/held-encoder.ts';
import { countEvents, expectNothingLeftOver, isRemembered } from '../support/leftovers.ts';
import { processesWith } from '../support/media.ts';
import { OpenUpload } from '../support/open-upload.ts';
import { Resumable, rowOf } from '../support/resumable.ts';
import type { RoleProcess } from '../support/role-process.ts';
import { showLogsOnFailure, startServer, type TestServer } from '../support/server.ts';
import { encodingOf } from '../support/workflows.ts';

const SIGTERM_EXIT = 143;

const PATIENCE_MS = 60_000;

const STOPPING = 'a second signal stops immediately';

/** An upload of which the API has received half. */
async function halfAnUpload(server: TestServer) {
  const { type, body } = form([...eventFields(), file('presenter', 'a.mp4', bytes(8 * 2 ** 20))]);
  const upload = new OpenUpload(new Client(server.url), { type, length: body.length });
  await upload.write(body.subarray(0, body.length / 2));
  await eventually(async () => {
    expect(await Array.fromAsync(server.storage.unfinished())).toHaveLength(1);
  });
  return { upload, rest: body.subarray(body.length / 2) };
}

/**
 * Tests how roles end when they are told to. Each runtime has its own signals, sockets and processes.
 *
 * @param which `first`: what every deployment needs; `rest`: everything else
 */
export function describeShutdown(runtime: Runtime, which: 'first' | 'rest' | 'all'): void {
  describe(`shutdown on ${runtime}`, () => {
    let server: TestServer;
    let admin: Client;
    let worker: RoleProcess;
    let encoder: HeldEncoder;
    beforeAll(async () => {
      encoder = await createHeldEncoder();
      server = await startServer({ runtime, roles: ['api', 'worker'], env: encoder.env });
      admin = new Client(server.url);
      worker = server.process('worker');
    });
    afterAll(() => server?.stop());
    beforeEach((test) => showLogsOnFailure(test, server));

    async function restartWorker(shutdownSeconds: number): Promise<void> {
      await worker.kill();
      worker.start({ SHUTDOWN_SECONDS: String(shutdownSeconds) });
    }

    /** How many bytes of uploads the API has read since it was started. */
    const read = async () => sumOf(samplesOf(await (await admin.fetch('/metrics')).text()), 'inlet_upload_bytes_total');

    /** Uploads a recording whose encoding has begun and ends when it is released. */
    async function encoding(): Promise<string> {
      await encoder.hold();
      const source = await recording({ container: 'mpg' });
      const id = await admin.create([...eventFields(), file('presenter', 'a.mpg', source)]);
      // A worker that was just started may take its time on a busy machine.
      await eventually(
        async () => expect(await encodingOf(server.database, id)).toMatchObject({ state: 'running' }),
        PATIENCE_MS,
      );
      return id;
    }

    if (which !== 'rest') {
      test('a worker told to end finishes what can be finished in time', async () => {
        await restartWorker(60);
        const id = await encoding();
        const said = worker.output.length;
        worker.signal('SIGTERM');
        await eventually(() => expect(worker.output.slice(said)).toContain(STOPPING));
        await encoder.release();
        expect(await worker.ended()).toBe(0);
        expect(await encodingOf(server.database, id)).toMatchObject({ state: 'succeeded', fencing_token: 1 });
        worker.start();
        expect((await admin.processed(id)).processing_state).toBe('SUCCEEDED');
      });

      test('an API told to end lets the uploads under way finish', async () => {
        const { upload, rest } = await halfAnUpload(server);
        server.api.signal('SIGTERM');
        await eventually(() => expect(server.api.output).toContain(STOPPING));
        // No further request is taken: refused by the one runtime, answered so by the other.
        await eventually(async () => {
          const late = await fetch(`${server.url}/health/live`).catch(() => undefined);
          expect(late?.status ?? 503).toBe(503);
        });
        await upload.write(rest);
        upload.end();
        expect((await upload.answer).status).toBe(201);
        expect(await server.api.ended()).toBe(0);
        server.api.start();
        await server.ready();
      });
    }
    if (which === 'first') return;

    test('a worker told to end hands back what takes longer, and another takes it', async () => {
      await restartWorker(6);
      const id = await encoding();
      worker.signal('SIGTERM');
      expect(await worker.ended()).toBe(0);
      expect(await encodingOf(server.database, id)).toMatchObject({ state: 'ready', attempts: 0, losses: 0 });
      expect(processesWith(join(server.dataDir, 'work'))).toEqual([]);
      await encoder.release();
      worker.start();
      expect((await admin.processed(id)).processing_state).toBe('SUCCEEDED');
      expect(await encodingOf(server.database, id)).toMatchObject({ fencing_token: 2, losses: 0 });
      await expectNothingLeftOver(server, { atOnce: true });
    });

    test('a worker hands back at once what is ended together with it', async () => {
      await restartWorker(60);
      const id = await encoding();
      const tools = () => processesWith(join(server.dataDir, 'work'));
      await eventually(() => expect(tools()).not.toEqual([]));
      const begun = performance.now();
      worker.signal('SIGTERM');
      for (const pid of tools()) {
        try {
          process.kill(pid, 'SIGTERM');
        } catch {
          // A shell's child on its way to be another program.
        }
      }
      expect(await worker.ended()).toBe(0);
      expect(performance.now() - begun).toBeLessThan(30_000);
      expect(await encodingOf(server.database, id)).toMatchObject({
        state: 'ready',
        attempts: 0,
        losses: 0,
        fencing_token: 1,
      });
      await encoder.release();
      worker.start();
      expect((await admin.processed(id)).processing_state).toBe('SUCCEEDED');
    });

    test('a worker told again ends at once', async () => {
      await restartWorker(3600);
      const id = await encoding();
      // One right after the other counts as the same.
      await eventually(
        () => {
          worker.signal('SIGTERM');
          expect(worker.running).toBe(false);
        },
        20_000,
        500,
      );
      expect(await worker.ended()).toBe(SIGTERM_EXIT);
      expect(await encodingOf(server.database, id)).toMatchObject({ state: 'running' });
      await encoder.release();
      worker.start();
      expect((await admin.fetch(`/api/events/${id}`, { method: 'DELETE' })).status).toBe(204);
    });

    test('an API told to end lets go of uploads that can go on, and keeps what came', async () => {
      const data = bytes(40 * 2 ** 20);
      const client = new Resumable(admin);
      const path = await client.create(data.length);
      const before = await read();
      const sending = client.open(path, 0, data.length);
      const sent = 36 * 2 ** 20;
      await sending.write(data.subarray(0, sent));
      // Of the rest nobody knows before the end.
      await eventually(async () => expect((await rowOf(server.database, path)).stored).toBe(32 * 2 ** 20));
      // What the system holds for a process that is busy has not come.
      await eventually(async () => expect((await read()) - before).toBe(sent));
      server.api.signal('SIGTERM');
      const { status, headers } = await sending.answer;
      expect([status, headers['upload-offset']]).toEqual([204, String(sent)]);
      expect(await server.api.ended()).toBe(0);
      server.api.start();
      await server.ready();
      expect((await client.finish(path, data)).status).toBe(204);
      const { object_key } = await rowOf(server.database, path);
      expect(sha256(await readAll(await server.storage.get(object_key)))).toBe(sha256(data));
      expect((await client.fetch(path, { method: 'DELETE' })).status).toBe(204);
      await expectNothingLeftOver(server, { atOnce: true });
    });

    test('an API that is killed leaves an upload behind, and the worker sweeps it', async () => {
      const events = await countEvents(server);
      const { upload } = await halfAnUpload(server);
      await server.api.kill();
      await expect(upload.answer).rejects.toThrow();
      const staged = await server.database.selectFrom('staging').selectAll().execute();
      expect(staged.filter((entry) => !isRemembered(entry))).toHaveLength(1);
      await expectNothingLeftOver(server, { atOnce: true });
      expect(await countEvents(server)).toBe(events);
    });
  });
}
