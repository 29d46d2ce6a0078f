import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { Client } from '../support/client.ts';
import { clipFolder, recording } from '../support/clips.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, file, form } from '../support/form.ts';
import { createHeldEncoder } from '../support/held-encoder.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';
import { processesWith } from '../support/media.ts';
import { redisAvailable } from '../support/redis.ts';
import type { RoleProcess } from '../support/role-process.ts';
import { startServerFor, type TestServer } from '../support/server.ts';
import { fillDisk, mountable, smallDisk } from '../support/small-disk.ts';

/** Just enough work to be divided, and encoded as fast as possible. */
const MINUTES = 12;
const PICTURES_A_MINUTE = 1500;
const WORKFLOW = `
id: divided
title: In pieces
operations:
  - operation: inspect
  - operation: encode
    configuration: { heights: source, preset: ultrafast }
  - operation: publish
`;
const KILLS = 3;
const PATIENCE_MS = 300_000;
/** Room for the recording and its result. */
const DISK_MIB = 512;

const redisHere = await redisAvailable();
let upload: ReturnType<typeof eventFields>;

beforeAll(async () => {
  const video = { size: '640x360', codec: 'mpeg4', options: ['-g', '50'] };
  const audio = { channels: 1, rate: 16_000 };
  const long = await recording({ seconds: 60, times: MINUTES, container: 'mkv', video, audio });
  upload = [...eventFields({ workflow: 'divided' }), file('presenter', 'long.mkv', long)];
});

/** An encoder that can be held, and the environment of a server that divides recordings with it. */
async function prepared() {
  const encoder = await createHeldEncoder();
  const workflows = await mkdtemp(join(clipFolder(), 'workflows-'));
  await writeFile(join(workflows, 'divided.yaml'), WORKFLOW);
  return { encoder, env: { ...encoder.env, WORKFLOWS_DIR: workflows, SHUTDOWN_SECONDS: '1' } };
}

test.concurrent.for([
  { runtime: 'deno', redis: false, s3: false, parts: 'PostgreSQL and a folder' },
  ...(redisHere ? [{ runtime: 'node', redis: true, s3: true, parts: 'Redis and S3' } as const] : []),
] as const)(
  'a recording in pieces survives its workers, and ends as soon as it is stopped or deleted, on $runtime with $parts',
  { timeout: 3 * PATIENCE_MS },
  async ({ runtime, redis, s3 }, context) => {
    const { encoder, env } = await prepared();
    const roles = ['api', 'worker', 'worker'] as const;
    const server = await startServerFor(context, { runtime, roles, redis, s3, env });
    const admin = new Client(server.url);
    const divided = new DividedEvent(server, await admin.create(upload));

    for (let kill = 0; kill < KILLS; kill += 1) {
      const worker = await divided.holder();
      await worker.kill();
      worker.start();
    }
    await encoder.hold();
    const leaving = await divided.holder();
    leaving.signal('SIGTERM');
    expect(await leaving.ended()).toBe(0);
    leaving.start();
    await divided.change('paused');
    await encoder.release();
    await eventually(async () => expect(await divided.pieces('ready', 'running')).toEqual([]), PATIENCE_MS);
    expect(await divided.pieces('paused', 'waiting')).not.toEqual([]);
    await divided.change('running');
    expect((await admin.processed(divided.id, PATIENCE_MS)).processing_state).toBe('SUCCEEDED');
    await divided.expectWhole();
    expect(await admin.publications(divided.id)).toHaveLength(1);

    await encoder.hold();
    const unwanted = new DividedEvent(server, await admin.create(upload));
    await unwanted.holder();
    await unwanted.change('stopped');
    await unwanted.expectToEnd();
    await unwanted.change('retry');
    await unwanted.holder();
    expect((await admin.fetch(`/api/events/${unwanted.id}`, { method: 'DELETE' })).status).toBeLessThan(300);
    await unwanted.expectToEnd();
    await expectNothingLeftOver(server, { atOnce: true });
  },
);

const DISKS = [
  { disk: 'work', waiting: 'the operation waits' },
  { disk: 'objects', waiting: 'the result waits' },
];
test.concurrent.for(mountable ? DISKS : [])(
  'a disk that fills up between its pieces only delays a recording: $disk',
  {
    timeout: 2 * PATIENCE_MS,
  },
  async ({ disk, waiting }, context) => {
    const { encoder, env } = await prepared();
    const prepare = (folder: string) => smallDisk(join(folder, disk), DISK_MIB);
    const server = await startServerFor(context, { runtime: 'deno', env, prepare });
    const admin = new Client(server.url);
    await encoder.hold();
    const divided = new DividedEvent(server, await admin.create(upload));
    await eventually(async () => expect(await divided.pieces('running')).not.toEqual([]), PATIENCE_MS);
    const makeRoom = await fillDisk(join(server.dataDir, disk));
    await encoder.release();
    await eventually(() => expect(server.api.output).toContain(waiting), PATIENCE_MS);
    await makeRoom();
    expect((await admin.processed(divided.id, PATIENCE_MS)).processing_state).toBe('SUCCEEDED');
    await divided.expectWhole();
    await expectNothingLeftOver(server, { atOnce: true });
  },
);

/** An event whose recording is encoded in pieces. */
class DividedEvent {
  readonly id: string;
  readonly #server: TestServer;

  constructor(server: TestServer, id: string) {
    this.#server = server;
    this.id = id;
  }

  /** Its pieces in these states, or all of them. */
  async pieces(...states: string[]) {
    const rows = await this.#server.database
      .selectFrom('workflow_operations')
      .innerJoin('workflows', 'workflows.id', 'workflow_id')
      .select(['workflow_operations.state', 'worker'])
      .where('event_id', '=', this.id)
      .where('parent_id', 'is not', null)
      .execute();
    return rows.filter(({ state }) => states.length === 0 || states.includes(state));
  }

  /** Waits until a worker that runs has a piece of it, and ffmpeg runs. */
  async holder(): Promise<RoleProcess> {
    return eventually(async () => {
      const running = await this.pieces('running');
      const workers = this.#server.processes.filter(({ role, running }) => role === 'worker' && running);
      const holder = workers.find(({ pid }) => running.some(({ worker }) => worker?.includes(`-${pid}-`)));
      if (!holder || this.#tools().length === 0) throw new Error('No worker has a piece.');
      return holder;
    }, PATIENCE_MS);
  }

  async change(state: string): Promise<void> {
    const { id } = await this.#server.database
      .selectFrom('workflows')
      .select('id')
      .where('event_id', '=', this.id)
      .executeTakeFirstOrThrow();
    const { type, body } = form([{ name: 'state', content: state }]);
    const headers = { 'Content-Type': type };
    const answer = await new Client(this.#server.url).fetch(`/api/workflows/${id}`, { method: 'PUT', headers, body });
    expect(answer.status).toBe(200);
  }

  /** Every picture is there once, and no piece is left. */
  async expectWhole(): Promise<void> {
    const pictures = await this.#server.database
      .selectFrom('publication_elements')
      .select(['kind', 'frame_count'])
      .where('event_id', '=', this.id)
      .where('mediatype', 'in', ['video/mp4', 'application/octet-stream'])
      .execute();
    expect(pictures).toEqual([{ kind: 'media', frame_count: MINUTES * PICTURES_A_MINUTE }]);
    expect(await this.pieces()).toEqual([]);
  }

  /** Waits until nothing of it runs. */
  async expectToEnd(): Promise<void> {
    expect(await this.pieces()).toEqual([]);
    await eventually(() => expect(this.#tools()).toEqual([]));
  }

  #tools(): number[] {
    return processesWith(join(this.#server.dataDir, 'work'));
  }
}
