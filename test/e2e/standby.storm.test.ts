import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { bytes } from '../support/bytes.ts';
import { Client } from '../support/client.ts';
import { recording } from '../support/clips.ts';
import { debianPostgresAvailable } from '../support/debian-postgres.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, field, file, form, type Part } from '../support/form.ts';
import { createHeldEncoder } from '../support/held-encoder.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';
import { type Machines, startMachines } from '../support/machines.ts';
import { OpenUpload } from '../support/open-upload.ts';
import { redisAvailable } from '../support/redis.ts';
import { Resumable } from '../support/resumable.ts';
import { encodingOf } from '../support/workflows.ts';

const MIB = 2 ** 20;
/** Each uploads one recording after the other. */
const CLIENTS = 3;
const BETWEEN_UPLOADS_MS = 4_000;
const RETRY_MS = 200;
/** For each fault to be over, on a machine with much else to do. */
const PATIENCE_MS = 120_000;
/** Files of killed processes are theirs for a minute. */
const SWEPT_MS = 180_000;
/** Of the standby, for which commits wait: longer than workers may be silent. */
const AWAY_MS = 40_000;

const available = debianPostgresAvailable() && (await redisAvailable());

test.runIf(available)(
  'nothing that was answered is lost with the primary database, Redis, an API and a worker',
  { timeout: 600_000 },
  async (context) => {
    const encoder = await createHeldEncoder();
    const machines = await startMachines(context, encoder);
    const [first, second] = machines.apis.map(({ url }) => new Client(url)) as [Client, Client];
    const sound = file('presenter', 'a.mp3', await recording({ seconds: 1, video: false, container: 'mp3' }));
    const parts = [...eventFields(), sound];
    const uploads = new Uploads([first, second], parts);
    context.onTestFinished(() => uploads.stop());
    await encoder.hold();
    const encoding = await beginEncoding(machines, first, uploads);
    await uploads.more();

    const waited = await loseStandby(machines, uploads);
    const held = [await HeldUpload.begin(first, parts), await HeldUpload.begin(second, parts)];
    const resumable = await beginResumable(second);
    const promoted = await uploads.outage(machines.postgres.losePrimary, machines.postgres.failOver);
    for (const each of held) uploads.answered.push(await each.finish());
    await finishResumable(resumable, first, uploads);

    const redis = await loseRedis(machines, uploads);
    const api = await loseApi(machines, uploads, parts);
    expect(await encoding()).toMatchObject({ state: 'running', losses: 0 });
    const worker = await loseWorker(machines, encoding);
    await encoder.release();
    await uploads.stop();

    const ids = uploads.answered.map(({ id }) => id);
    expect(await processed(machines)).toEqual([...ids].sort());
    expect(await attempts(machines)).toBe(0);
    await expectNothingLeftOver(machines, { timeoutMs: SWEPT_MS });
    expect(await machines.inlet('verify', '--digests')).toMatchObject({ code: 0, stdout: '' });
    const measured = { uploads: ids.length, waited, promoted, redis, api, worker };
    console.log('Uploads, and milliseconds of each pause:', measured);
  },
);

/** Clients that send each recording to one API after the other until one answers 201. */
class Uploads {
  readonly answered: { id: string; begun: number; at: number }[] = [];
  readonly #apis: readonly Client[];
  readonly #body: ReturnType<typeof form>;
  readonly #clients: Promise<unknown>;
  #awaited = 0;
  #isOver = false;

  constructor(apis: readonly Client[], parts: readonly Part[]) {
    this.#apis = apis;
    this.#body = form(parts);
    this.#clients = Promise.all(Array.from({ length: CLIENTS }, (_, i) => this.#uploadAll(i)));
    this.#clients.catch(() => undefined);
  }

  async #uploadAll(client: number): Promise<void> {
    for (let tries = client; !this.#isOver; await this.#pause()) {
      const key = randomUUID();
      for (; !(await this.#upload(tries, key)); tries += 1) await pause(RETRY_MS);
    }
  }

  /** Less while somebody waits for an upload: workers have to keep up. */
  async #pause(): Promise<void> {
    const until = performance.now() + BETWEEN_UPLOADS_MS;
    while (performance.now() < until && this.#awaited === 0 && !this.#isOver) await pause(RETRY_MS);
  }

  /** @returns false when the client has to try again. @throws when an API answers what it should not */
  async #upload(tries: number, key: string): Promise<boolean> {
    const { type, body } = this.#body;
    const begun = performance.now();
    const headers = { 'Content-Type': type, 'Idempotency-Key': key };
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const api = this.#apis[tries % this.#apis.length] as Client;
    const request = api.fetch('/api/events', { method: 'POST', headers, body, signal });
    const answer = await request.catch((error: Error) => {
      if (error instanceof TypeError) return undefined;
      throw error;
    });
    const text = await answer?.text().catch(() => undefined);
    if (!answer || text === undefined) return false;
    expect([201, 409, 503], text).toContain(answer.status);
    if (answer.status !== 201) return false;
    this.answered.push({ id: JSON.parse(text).identifier, begun, at: performance.now() });
    return true;
  }

  /** Waits for answers to as many uploads that begin later as there are clients. @returns the time of the first one */
  async more(): Promise<number> {
    const since = performance.now();
    const later = () => this.answered.filter(({ begun }) => begun >= since);
    this.#awaited += 1;
    try {
      const all = eventually(() => expect(later().length).toBeGreaterThanOrEqual(CLIENTS), PATIENCE_MS);
      await Promise.race([all, this.#clients]);
    } finally {
      this.#awaited -= 1;
    }
    return Math.min(...later().map(({ at }) => at));
  }

  /** @returns the milliseconds from a loss to the first answer to a later upload */
  async outage(lose: () => Promise<unknown>, recover: () => Promise<void> = async () => undefined): Promise<number> {
    await lose();
    const lost = performance.now();
    const first = this.more();
    first.catch(() => undefined);
    await recover();
    return Math.round((await first) - lost);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#clients;
  }
}

/** An upload of which one half has been sent. */
class HeldUpload {
  readonly #upload: OpenUpload;
  readonly #rest: Uint8Array;
  readonly #begun = performance.now();

  private constructor(upload: OpenUpload, rest: Uint8Array) {
    this.#upload = upload;
    this.#rest = rest;
  }

  static async begin(client: Client, parts: readonly Part[]): Promise<HeldUpload> {
    const { type, body } = form(parts);
    const half = Math.round(body.length / 2);
    const upload = new OpenUpload(client, { type, length: body.length });
    await upload.write(body.subarray(0, half));
    return new HeldUpload(upload, body.subarray(half));
  }

  async finish(): Promise<{ id: string; begun: number; at: number }> {
    await this.#upload.write(this.#rest);
    this.#upload.end();
    const { status, body } = await this.#upload.answer;
    expect(status, body).toBe(201);
    return { id: JSON.parse(body).identifier, begun: this.#begun, at: performance.now() };
  }

  async broken(): Promise<void> {
    await expect(this.#upload.answer).rejects.toThrow();
  }
}

/** Sends a part of a resumable upload. */
async function beginResumable(api: Client) {
  const whole = Buffer.concat([await recording(), bytes(9 * MIB)]);
  const client = new Resumable(api);
  const path = await client.create(whole.length);
  const stored = 6 * MIB;
  expect((await client.patch(path, 0, whole.subarray(0, stored))).status).toBe(204);
  return { path, whole, stored };
}

/** Sends the rest at another API, and makes an event of it. */
async function finishResumable(
  { path, whole, stored }: Awaited<ReturnType<typeof beginResumable>>,
  api: Client,
  uploads: Uploads,
): Promise<void> {
  const client = new Resumable(api);
  expect(await client.offset(path)).toBe(stored);
  expect((await client.patch(path, stored, whole.subarray(stored))).status).toBe(204);
  const begun = performance.now();
  const sent = JSON.stringify([{ id: path.split('/').at(-1), field: 'presenter' }]);
  const id = await api.create([...eventFields(), field('uploads', sent)]);
  uploads.answered.push({ id, begun, at: performance.now() });
}

/** Nothing is answered that the standby does not have. @returns the time from its return to the first answer */
async function loseStandby({ postgres: { standby } }: Machines, uploads: Uploads): Promise<number> {
  await standby.kill();
  // What it had on disk is answered.
  await pause(1_000);
  const before = uploads.answered.length;
  await pause(AWAY_MS);
  expect(uploads.answered.length).toBe(before);
  const back = performance.now();
  await standby.start();
  await eventually(() => expect(uploads.answered.length).toBeGreaterThan(before), PATIENCE_MS);
  const waited = Math.round(performance.now() - back);
  await uploads.more();
  return waited;
}

/** Uploads are accepted without Redis; work continues on an empty one. @returns the milliseconds until either */
async function loseRedis({ redis, database }: Machines, uploads: Uploads) {
  const accepted = await uploads.outage(redis.stop);
  await redis.restart();
  const back = performance.now();
  const [last] = uploads.answered.slice(-1);
  await eventually(async () => {
    const row = database
      .selectFrom('events')
      .select('processing_state')
      .where('id', '=', last?.id ?? '');
    expect(await row.executeTakeFirst()).toEqual({ processing_state: 'SUCCEEDED' });
  }, PATIENCE_MS);
  return { accepted, processed: Math.round(performance.now() - back) };
}

/** An upload that its API did not answer is sent again to the other one. */
async function loseApi({ apis }: Machines, uploads: Uploads, parts: readonly Part[]): Promise<number> {
  const [{ url, process }, other] = apis;
  const held = await HeldUpload.begin(new Client(url), parts);
  const pausedMs = await uploads.outage(() => process.kill());
  await held.broken();
  const begun = performance.now();
  const id = await new Client(other.url).create(parts);
  uploads.answered.push({ id, begun, at: performance.now() });
  process.start();
  await eventually(async () => expect((await fetch(`${url}/health/ready`)).status).toBe(200), PATIENCE_MS);
  return pausedMs;
}

/** Has a recording encoded for as long as the encoder is held. @returns what the database knows of its encoding */
async function beginEncoding({ database }: Machines, api: Client, uploads: Uploads) {
  const begun = performance.now();
  const picture = file('presenter', 'a.mpg', await recording({ container: 'mpg' }));
  const id = await api.create([...eventFields(), picture]);
  uploads.answered.push({ id, begun, at: performance.now() });
  const encoding = () => encodingOf(database, id);
  await eventually(async () => expect(await encoding()).toMatchObject({ state: 'running' }), PATIENCE_MS);
  return encoding;
}

/** The worker that encodes is killed for good. @returns the milliseconds until the other one takes over */
async function loseWorker({ workers }: Machines, encoding: () => ReturnType<typeof encodingOf>): Promise<number> {
  const { worker = '' } = (await encoding()) ?? {};
  const holder = workers.find(({ pid }) => worker?.includes(`-${pid}-`));
  if (!holder) throw new Error(`${worker} is none of the workers.`);
  await holder.kill();
  const lost = performance.now();
  await eventually(
    async () => expect(await encoding()).toMatchObject({ state: 'running', losses: 1, attempts: 0 }),
    PATIENCE_MS,
  );
  return Math.round(performance.now() - lost);
}

/** Waits until every event has succeeded. @returns their identifiers in order */
async function processed({ database }: Machines): Promise<string[]> {
  const events = await eventually(async () => {
    const all = await database.selectFrom('events').select(['id', 'processing_state']).execute();
    const states = new Set(all.map(({ processing_state }) => processing_state));
    expect([...states]).toEqual(['SUCCEEDED']);
    return all;
  }, PATIENCE_MS);
  return events.map(({ id }) => id).sort();
}

/** @returns how often an operation failed */
async function attempts({ database }: Machines): Promise<number> {
  const query = database.selectFrom('workflow_operations').select((eb) => eb.fn.max<number>('attempts').as('most'));
  return (await query.executeTakeFirstOrThrow()).most;
}
