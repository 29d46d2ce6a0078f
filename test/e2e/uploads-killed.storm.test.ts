import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import * as tus from 'tus-js-client';
import { expect, onTestFinished, test } from 'vitest';
import { bytes } from '../support/bytes.ts';
import { Client } from '../support/client.ts';
import { clipFolder, recording } from '../support/clips.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, field } from '../support/form.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';
import { Resumable, rowOf } from '../support/resumable.ts';
import { startServerFor, type TestServer } from '../support/server.ts';
import { startSlowLine } from '../support/slow-line.ts';

const MIB = 2 ** 20;
/** Of each of two recordings. */
const SIZE = Number(process.env.UPLOADS_KILLED_MIB ?? 120) * MIB;
const CHUNK = 50 * MIB;
const KILLS = 2;
/** Of each: none must be over before the last kill. */
const LINE_BYTES_PER_SECOND = 30 * MIB;
const PATIENCE_MS = 120_000 + SIZE / 2_000;

/** A recording that plays, made as large as that by what players skip. */
async function largeRecording(name: string, seed: number): Promise<string> {
  const path = join(clipFolder(), `${name}-${SIZE}.mp4`);
  const played = await recording();
  await writeFile(path, played);
  const file = await open(path, 'a');
  const head = Buffer.alloc(16);
  head.writeUInt32BE(1, 0);
  head.write('free', 4, 'latin1');
  head.writeBigUInt64BE(BigInt(SIZE - played.length), 8);
  await file.write(head);
  for (let left = SIZE - played.length - head.length; left > 0; ) {
    const { bytesWritten } = await file.write(bytes(Math.min(left, 8 * MIB), seed + left));
    left -= bytesWritten;
  }
  await file.close();
  expect((await stat(path)).size).toBe(SIZE);
  return path;
}

async function digest(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}

/** Uploads a file as users of the library do, and remembers what it was told. */
class Sending {
  readonly done: Promise<void>;
  readonly #upload: tus.Upload;
  /** What the server has said is durable. */
  acknowledged = 0;

  /** @param authorization undefined for an address that needs none */
  constructor(endpoint: string, authorization: string | undefined, path: string, chunkSize: number) {
    let settle: { resolve: () => void; reject: (error: Error) => void };
    this.done = new Promise((resolve, reject) => {
      settle = { resolve, reject };
    });
    this.done.catch(() => undefined);
    this.#upload = new tus.Upload(createReadStream(path), {
      endpoint,
      chunkSize,
      ...(authorization && { headers: { Authorization: authorization } }),
      metadata: { filename: 'lecture.mp4', filetype: 'video/mp4' },
      // For as long as a start takes on a busy machine.
      retryDelays: Array.from({ length: 60 }, () => 1000),
      onChunkComplete: (_size, accepted) => {
        this.acknowledged = accepted;
      },
      onError: (error) => settle.reject(error),
      onSuccess: () => settle.resolve(),
    });
    this.#upload.start();
  }

  get path(): string {
    return new URL(this.#upload.url ?? '', 'http://x').pathname;
  }

  get begun(): boolean {
    return this.#upload.url !== null;
  }

  get id(): string {
    return this.path.split('/').at(-1) ?? '';
  }
}

/** What the server has noted of an upload, which is nothing that is not durable. */
async function noted({ database }: TestServer, { id, path }: Sending): Promise<number> {
  const file = await database
    .selectFrom('draft_uploads')
    .select('upload_id')
    .where('token_sha256', '=', createHash('sha256').update(id).digest('hex'))
    .executeTakeFirst();
  const { stored, rest_bytes } = await rowOf(database, file?.upload_id ?? path);
  return stored + rest_bytes;
}

/** Asks for an address that somebody without an account may upload to. */
async function handOut(admin: Client): Promise<{ id: string; url: string }> {
  const { identifier, files } = await admin.handOut(eventFields());
  return { id: identifier, url: files[0]?.url ?? '' };
}

test.for([
  ['deno', 'S3'],
  ['node', 'folder'],
] as const)(
  `on %s, uploads to %s end as if the API had not been killed ${KILLS} times`,
  { timeout: 5 * PATIENCE_MS },
  async ([runtime, storage], context) => {
    const line = await startSlowLine(LINE_BYTES_PER_SECOND);
    onTestFinished(() => line.stop());
    const server = await startServerFor(context, {
      runtime,
      roles: ['api', 'worker'],
      s3: storage === 'S3',
      env: { PUBLIC_URL: line.url },
    });
    line.to(server.url);
    const admin = new Client(server.url);
    const asked = new Resumable(admin);

    const [presenter, presentation] = await Promise.all([
      largeRecording('presenter', 1),
      largeRecording('presentation', 2),
    ]);
    onTestFinished(async () => {
      for (const path of [presenter, presentation]) await rm(path, { force: true });
    });
    const direct = await handOut(admin);
    const endpoint = `${line.url}/uploads`;
    const sendings = [
      new Sending(endpoint, admin.authorization, presenter, CHUNK),
      new Sending(endpoint, admin.authorization, presentation, Number.POSITIVE_INFINITY),
      new Sending(direct.url, undefined, presenter, CHUNK),
    ];
    await eventually(() => expect(sendings.every(({ begun }) => begun)).toBe(true), PATIENCE_MS);

    const allNoted = () => Promise.all(sendings.map((sending) => noted(server, sending)));
    let durable = sendings.map(() => 0);
    for (let kill = 1; kill <= KILLS; kill += 1) {
      // The one in chunks takes longer; both have moved on, and none is at its end.
      const middle = (SIZE * kill) / (KILLS + 2);
      await eventually(
        async () => {
          const now = await allNoted();
          expect(Math.max(...now)).toBeGreaterThan(middle);
          for (const [i, bytes] of now.entries()) expect(bytes).toBeGreaterThan(durable[i] ?? 0);
        },
        PATIENCE_MS,
        10,
      );
      await server.api.kill();
      durable = await allNoted();
      for (const [i, sending] of sendings.entries()) {
        expect(durable[i]).toBeLessThan(SIZE);
        expect(durable[i]).toBeGreaterThanOrEqual(sending.acknowledged);
      }
      line.pause();
      server.api.start();
      await server.ready();
      expect(await Promise.all(sendings.map(({ path }) => asked.offset(path)))).toEqual(durable);
      line.resume();
    }
    await Promise.all(sendings.map(({ done }) => done));

    const [first, second] = sendings.map(({ id }) => id);
    const uploads = JSON.stringify([
      { id: first, field: 'presenter' },
      { id: second, flavor: 'presentation/source' },
    ]);
    const id = await admin.create([...eventFields(), field('uploads', uploads)]);
    expect((await admin.processed(id, PATIENCE_MS)).processing_state).toBe('SUCCEEDED');
    const state = await (await admin.fetch(`/api/uploads/${direct.id}`)).json();
    expect(state).toMatchObject({ state: 'finished' });
    const made = state.event_identifier;
    expect((await admin.processed(made, PATIENCE_MS)).processing_state).toBe('SUCCEEDED');
    const tracksOf = (event: string) =>
      server.database
        .selectFrom('tracks')
        .select(['flavor', 'object_key', 'sha256'])
        .where('event_id', '=', event)
        .orderBy('flavor', 'desc')
        .execute();
    const tracks = [...(await tracksOf(id)), ...(await tracksOf(made))];
    expect(tracks.map(({ flavor }) => flavor)).toEqual([
      ...['presenter/source', 'presentation/source'],
      'presenter/source',
    ]);
    for (const [i, path] of [presenter, presentation, presenter].entries()) {
      const expected = await digest(createReadStream(path));
      const { object_key = '', sha256 } = tracks[i] ?? {};
      expect(await digest(await server.storage.get(object_key))).toBe(expected);
      expect(sha256).toBe(expected);
    }

    const given = await asked.create(SIZE);
    await asked.patch(given, 0, bytes(9 * MIB));
    await expireAll(server);
    expect((await asked.head(given)).status).toBe(404);
    const rows = () => server.database.selectFrom('uploads').select('id').execute();
    await eventually(async () => expect(await rows()).toEqual([]), PATIENCE_MS);
    await expectNothingLeftOver(server, { timeoutMs: PATIENCE_MS, atOnce: true });
  },
);

/** As if nothing had come for days. */
async function expireAll({ database, process }: TestServer): Promise<void> {
  const past = sql<Date>`now() - interval '1 hour'`;
  await database.updateTable('uploads').set({ expires_at: past }).execute();
  await database.updateTable('staging').set({ expires_at: past }).where('owner', 'like', 'upload %').execute();
  // It looks when it starts, and then once a minute.
  const worker = process('worker');
  await worker.kill();
  worker.start();
}
