import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bytes } from '../support/bytes.ts';
import { Client } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, file, form } from '../support/form.ts';
import { countEvents, expectNothingLeftOver } from '../support/leftovers.ts';
import { OpenUpload, type UploadAnswer } from '../support/open-upload.ts';
import { expectReadiness } from '../support/readiness.ts';
import { showLogsOnFailure, startServer, type TestServer } from '../support/server.ts';

const MIB = 2 ** 20;
const REFUSED = 'The recording could not be stored. Try again later.';
const FAILED = /^Internal server error; the log has the details under request id [\w-]+\.$/;
const UNREACHABLE = 'The database does not answer.';

// Request bodies that nobody reads any more end differently on each runtime.
describe.each(['deno', 'node'] as const)('uploads on %s when something behind them fails', (runtime) => {
  let server: TestServer;
  let admin: Client;
  beforeAll(async () => {
    server = await startServer({ runtime, s3: true, proxy: true });
    admin = new Client(server.url);
  });
  afterAll(() => server?.stop());
  beforeEach((test) => showLogsOnFailure(test, server));

  const uploadForm = (mib: number) => form([...eventFields(), file('presenter', 'a.mp4', bytes(mib * MIB))]);

  /** Sends half of an upload, lets something happen, and goes on until there is an answer. */
  async function interrupted(happens: () => Promise<unknown>): Promise<UploadAnswer> {
    const { type, body } = uploadForm(48);
    const upload = new OpenUpload(admin, { type, length: body.length });
    await upload.write(body.subarray(0, body.length / 2));
    await eventually(async () => {
      expect(await Array.fromAsync(server.storage.unfinished())).toHaveLength(1);
    });
    await happens();
    let answered = false;
    const stop = () => {
      answered = true;
    };
    upload.answer.then(stop, stop);
    for (let at = body.length / 2; at < body.length && !answered; at += MIB) {
      await upload.write(body.subarray(at, at + MIB));
    }
    if (!answered) upload.end();
    return upload.answer.finally(() => upload.cut());
  }

  async function nothingIsLeft(events: number): Promise<void> {
    await expectNothingLeftOver(server, { timeoutMs: 40_000, atOnce: true });
    expect(await countEvents(server)).toBe(events);
    const id = await admin.create([...eventFields(), file('presenter', 'a.mp4', bytes(1000))]);
    await admin.processed(id);
  }

  test('the object storage is gone in the middle: 503 at once, and what it kept is swept later', async () => {
    const events = await countEvents(server);
    const { status, body, headers } = await interrupted(() => server.s3.kill());
    const parts = { database: 'ok', queue: 'ok', storage: 'unavailable', worker: 'ok' };
    await expectReadiness(server, 503, parts).finally(() => server.s3.restart());
    expect({ status, body }).toEqual({ status: 503, body: REFUSED });
    expect(headers['retry-after']).toBe('30');
    await nothingIsLeft(events);
  });

  test('the object storage refuses from the middle on: 503, and it is left clean', async () => {
    const events = await countEvents(server);
    const { status, body } = await interrupted(() => server.s3.refuse());
    await server.s3.accept();
    expect({ status, body }).toEqual({ status: 503, body: REFUSED });
    await nothingIsLeft(events);
  });

  // Takes its time; on Node the adapter's own tests show it.
  const onDeno = test.runIf(runtime === 'deno');
  onDeno('the object storage falls silent in the middle: 503, and so for whoever reads a file', async () => {
    const id = await admin.create([...eventFields(), file('presenter', 'a.mp4', bytes(1000))]);
    const [track] = await admin.json<{ uri: string }[]>(`/api/events/${id}/media`);
    const events = await countEvents(server);
    let health: Promise<Response> | undefined;
    let reading: Promise<Response> | undefined;
    const { status, body, headers } = await interrupted(async () => {
      server.s3.pause();
      health = fetch(`${server.url}/health/ready`);
      reading = admin.fetch(track?.uri ?? '');
    });
    expect({ status, body, retryAfter: headers['retry-after'] }).toEqual({
      status: 503,
      body: REFUSED,
      retryAfter: '30',
    });
    expect(await (await health)?.json()).toMatchObject({ status: 'unavailable', storage: 'unavailable' });
    const read = await reading;
    expect([read?.status, await read?.text()]).toEqual([503, 'The object storage does not answer.']);
    server.s3.resume();
    await nothingIsLeft(events);
  });

  test('the client goes away in the middle: the storage is left clean', async () => {
    const events = await countEvents(server);
    const { type, body } = uploadForm(48);
    const upload = new OpenUpload(admin, { type, length: body.length });
    await upload.write(body.subarray(0, body.length / 2));
    await eventually(async () => {
      expect(await Array.fromAsync(server.storage.unfinished())).toHaveLength(1);
    });
    upload.cut();
    await nothingIsLeft(events);
  });

  const faults = {
    'a statement fails': {
      trigger: 'BEFORE INSERT ON events',
      does: "RAISE EXCEPTION 'no more events'",
      status: 500,
      sentence: FAILED,
    },
    'the commit itself fails': {
      trigger: 'AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED',
      does: "RAISE EXCEPTION 'no more events'",
      status: 500,
      sentence: FAILED,
    },
    'the connection breaks': {
      trigger: 'BEFORE INSERT ON events',
      does: 'PERFORM pg_terminate_backend(pg_backend_pid())',
      status: 503,
      sentence: UNREACHABLE,
    },
  };
  test.each(Object.entries(faults))('%s while the event is written: nothing of it stays', async (_name, fault) => {
    const { database } = server;
    const events = await countEvents(server);
    const kind = fault.trigger.includes('DEFERRABLE') ? 'CONSTRAINT TRIGGER' : 'TRIGGER';
    await sql`CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql
      AS ${sql.lit(`BEGIN ${fault.does}; RETURN NEW; END`)}`.execute(database);
    await sql`CREATE ${sql.raw(kind)} fault ${sql.raw(fault.trigger)}
      FOR EACH ROW EXECUTE FUNCTION fault()`.execute(database);
    const answer = await admin.upload([...eventFields(), file('presenter', 'a.mp4', bytes(2 * MIB))]);
    const text = await answer.text();
    await sql`DROP FUNCTION fault() CASCADE`.execute(database);
    expect(answer.status, text).toBe(fault.status);
    expect(text).toMatch(fault.sentence);
    await nothingIsLeft(events);
  });

  test('the database is gone when the upload is complete: 503, and the object is removed later', async () => {
    const events = await countEvents(server);
    const { status, body } = await interrupted(() => server.proxy.part());
    const parts = { database: 'unavailable', storage: 'ok' };
    await expectReadiness(server, 503, parts).finally(() => server.proxy.join());
    expect({ status, body }).toEqual({ status: 503, body: UNREACHABLE });
    await server.ready();
    await nothingIsLeft(events);
  });
});
