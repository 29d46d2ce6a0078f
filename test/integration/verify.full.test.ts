import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateMultipartUploadCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { backupCommand } from '../../src/cli/inlet/backup.ts';
import { verifyCommand } from '../../src/cli/inlet/verify.ts';
import { objectKey } from '../../src/storage/keys.ts';
import type { ListOptions } from '../../src/storage/port.ts';
import { sweepUnfinished } from '../../src/upkeep/sweep-unfinished.ts';
import type { Finding } from '../../src/upkeep/verify/finding.ts';
import { Notes } from '../../src/upkeep/verify/notes.ts';
import { verify } from '../../src/upkeep/verify/verify.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { created, post } from '../support/app-uploads.ts';
import { bytes, source } from '../support/bytes.ts';
import { recording } from '../support/clips.ts';
import { eventFields, file } from '../support/form.ts';
import { processEvent } from '../support/process-event.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { say } from '../support/upkeep.ts';

const video = { mediatype: 'video/mp4' };

describe.each(['folder', 'S3'])('with objects in a %s', (kind) => {
  let s3: TestS3 | undefined;
  let app: TestApp;
  beforeEach(async () => {
    s3 = kind === 'S3' ? await startS3() : undefined;
    Object.assign(process.env, s3?.env);
    app = await createTestApp(undefined, s3?.env);
  });
  afterEach(async () => {
    await app.close();
    await s3?.stop();
  });

  const system = () => {
    const { databaseUrl, config } = app.context;
    return { databaseUrl, dataDir: config.dataDir, env: s3?.env ?? {} };
  };
  const verifyNow = (...args: string[]) => say(verifyCommand, system(), args);
  const upload = async (data: Buffer) =>
    created(await post(app, [...eventFields(), file('presenter', 'camera.mp4', data)]));
  const tracksOf = (eventId: string) =>
    app.database
      .selectFrom('tracks')
      .selectAll()
      .where('event_id', '=', eventId)
      .orderBy('position')
      .execute();
  const keyOf = async (eventId: string) => (await tracksOf(eventId))[0]?.object_key ?? '';
  const overwrite = async (key: string, data: Buffer) => {
    await app.storage.remove([key]);
    await app.storage.put(key, source(data), video);
  };
  const ledger = () => app.database.selectFrom('staging').select('object_key').execute();
  const contentOf = async (key: string) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of await app.storage.get(key)) chunks.push(chunk);
    return Buffer.concat(chunks);
  };
  const leaveForeign = async (name: string) => {
    if (!s3) return writeFile(join(app.context.config.dataDir, 'objects', name), 'notes');
    const client = new S3Client({ forcePathStyle: true });
    await client.send(new PutObjectCommand({ Bucket: s3.env.S3_BUCKET, Key: name, Body: 'notes' }));
  };

  test('nothing is wrong with what is as it was stored', async () => {
    const event = await upload(await recording());
    await processEvent(app, event);
    expect(await verifyNow('--digests')).toEqual({ code: 0, lines: [] });
  });

  test('every kind of damage is told with key and event, mended where that can be, and nothing is lost', async () => {
    const clip = await recording();
    const processed = await upload(clip);
    await processEvent(app, processed);
    const [media, poster] = [await elementOf('media'), await elementOf('attachment')];
    const events = await Promise.all(
      Array.from({ length: 6 }, (_, i) => upload(Buffer.concat([clip, bytes(i + 1)]))),
    );
    const [lost, cut, flipped, resized, renamed, endangered] = events as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    const backup = await mkdtemp(join(tmpdir(), 'inlet-backup-'));
    expect(await say(backupCommand, system(), [backup])).toMatchObject({ code: 0 });

    const keys = new Map<string, string>();
    for (const event of events) keys.set(event, await keyOf(event));
    const key = (event: string) => keys.get(event) ?? '';
    // What was uploaded: gone, cut off, another byte.
    await app.storage.remove([key(lost)]);
    const whole = await contentOf(key(cut));
    await overwrite(key(cut), whole.subarray(0, 1000));
    const altered = await contentOf(key(flipped));
    altered[500] = (altered[500] ?? 0) ^ 1;
    await overwrite(key(flipped), altered);
    // What a workflow made: gone, and longer than it was.
    await app.storage.remove([media]);
    await overwrite(poster, Buffer.concat([await contentOf(poster), bytes(3)]));
    // What the rows say: another size, another key, and the ledger as well.
    await app.database.updateTable('tracks').set({ size: 5 }).where('event_id', '=', resized).execute();
    const invented = objectKey('track');
    await app.database
      .updateTable('tracks')
      .set({ object_key: invented })
      .where('event_id', '=', renamed)
      .execute();
    await app.database
      .insertInto('staging')
      .values({ object_key: key(endangered), owner: null, expires_at: sql<Date>`now() + interval '1 hour'` })
      .execute();
    // What nobody owns: an object, an upload that never ended, a file of somebody else.
    const orphan = objectKey('track');
    await app.storage.put(orphan, source(bytes(77)), video);
    const unfinished = objectKey('track');
    await app.storage.begin(unfinished, { ...video, expectedBytes: 100 });
    await leaveForeign('notes.txt');

    const found = await verifyNow('--digests');
    expect(found.code).toBe(1);
    expect(found.lines.map((line) => line.split(' (', 1)[0]).sort()).toEqual(
      [
        `missing ${key(lost)} event ${lost}`,
        `size ${key(cut)} event ${cut}`,
        `digest ${key(flipped)} event ${flipped}`,
        `missing ${media} event ${processed}`,
        `size ${poster} event ${processed}`,
        `size ${key(resized)} event ${resized}`,
        `missing ${invented} event ${renamed}`,
        `orphaned ${key(renamed)}`,
        `staged ${key(endangered)} event ${endangered}`,
        `orphaned ${orphan}`,
        `orphaned ${unfinished}`,
        'orphaned notes.txt',
      ].sort(),
    );
    expect((await verifyNow()).lines.filter((line) => line.startsWith('digest'))).toEqual([]);

    const repaired = await verifyNow('--digests', '--repair');
    expect(repaired.code).toBe(1);
    const left = repaired.lines
      .filter((line) => line.includes('\n  left: '))
      .map((line) => line.split(' ', 2)[1]);
    expect(left.sort()).toEqual([key(lost), key(cut), key(flipped), 'notes.txt'].sort());
    // Nothing has been removed, not even what nobody owns.
    expect(await app.storage.size(orphan)).toBe(77);
    expect((await contentOf(key(flipped))).equals(altered)).toBe(true);

    await processEvent(app, processed);
    expect(
      (await verifyNow('--digests', '--repair', '--from', backup)).lines
        .map((line) => line.split(' ', 1)[0])
        .sort(),
    ).toEqual(['digest', 'missing', 'orphaned', 'size']);
    const rest = await verifyNow('--digests');
    expect(rest.lines).toEqual([expect.stringMatching(/^orphaned notes\.txt/)]);
    expect((await contentOf(await keyOf(cut))).equals(whole)).toBe(true);
    // What was damaged can still be had.
    expect((await contentOf(key(flipped))).equals(altered)).toBe(true);
    const event = await app.request(`/api/events/${processed}`);
    expect(await event.json()).toMatchObject({ processing_state: 'SUCCEEDED' });
    await rm(backup, { recursive: true });

    async function elementOf(of: string): Promise<string> {
      const { object_key } = await app.database
        .selectFrom('publication_elements')
        .select('object_key')
        .where('event_id', '=', processed)
        .where('kind', '=', of)
        .orderBy('filename')
        .limit(1)
        .executeTakeFirstOrThrow();
      return object_key;
    }
  });

  test('what an earlier try has left under the key of an object is nothing to remove the object for', async () => {
    const event = await upload(await recording());
    const key = await keyOf(event);
    await app.storage.begin(key, { ...video, expectedBytes: 100 });
    expect(await verifyNow('--repair')).toEqual({ code: 0, lines: [] });
    expect(await ledger()).toEqual([]);
    // A verification that listed it before its row was committed, and noted it.
    const notes = new Notes(join(app.context.config.dataDir, 'verify.jsonl'));
    await notes.begin({ digests: false });
    await notes.add([{ kind: 'orphaned', key, owner: null, size: null, what: 'unfinished' }]);
    await notes.reach({ through: 'zz/ff', objects: 0, bytes: 0 });
    expect((await verifyNow('--repair', '--resume')).lines).toEqual([
      expect.stringMatching(/mended: it is in order by now$/),
    ]);
    expect(await ledger()).toEqual([]);
  });

  test('what an earlier try has left beside an object is removed, and what belongs to nobody is left to be told of', async () => {
    const key = await keyOf(await upload(await recording()));
    const [nobodys, begun] = [objectKey('track'), await app.context.staging.stage('track')];
    for (const each of [key, nobodys, begun]) await app.storage.begin(each, { ...video, expectedBytes: 100 });
    expect(await sweepUnfinished(app.database, app.storage)).toBe(1);
    expect((await Array.fromAsync(app.storage.unfinished())).sort()).toEqual([nobodys, begun].sort());
    expect((await verifyNow('--digests')).lines).toEqual([expect.stringMatching(`^orphaned ${nobodys}`)]);
  });

  test('what is left of uploads that are not from here is told of, and left alone', async () => {
    const name = s3 ? 'left/over' : '.unfinished/left-over';
    if (s3) {
      const begin = new CreateMultipartUploadCommand({ Bucket: s3.env.S3_BUCKET, Key: name });
      await new S3Client({ forcePathStyle: true }).send(begin);
    } else await writeFile(join(app.context.config.dataDir, 'objects', name), '');
    expect(await verifyNow()).toEqual({
      code: 1,
      lines: [`orphaned ${name} (Inlet gives no such names)`],
    });
    expect((await verifyNow('--repair')).lines).toEqual([expect.stringContaining('\n  left: Inlet')]);
    expect(await ledger()).toEqual([]);
  });

  test('what the ledger would have removed is taken off it, whatever else is wrong with it', async () => {
    const [resized, lost] = [await upload(await recording()), await upload(bytes(700))];
    await app.storage.remove([await keyOf(lost)]);
    await app.database.updateTable('tracks').set({ size: 5 }).where('event_id', '=', resized).execute();
    const keys = [await keyOf(resized), await keyOf(lost)];
    const entry = { owner: null, expires_at: sql<Date>`now() + interval '1 hour'` };
    await app.database
      .insertInto('staging')
      .values(keys.map((object_key) => ({ object_key, ...entry })))
      .execute();
    expect((await verifyNow('--repair')).lines.map((line) => line.split(' ', 1)[0]).sort()).toEqual([
      'missing',
      'size',
    ]);
    expect(await ledger()).toEqual([]);
    expect((await verifyNow()).lines).toEqual([expect.stringMatching(/^missing /)]);
  });

  test('an event can be deleted whose object the ledger has as well', async () => {
    const event = await upload(bytes(700));
    const entry = { owner: 'repair', expires_at: sql<Date>`now() + interval '1 hour'` };
    await app.database
      .insertInto('staging')
      .values({ object_key: await keyOf(event), ...entry })
      .execute();
    expect((await app.request(`/api/events/${event}`, { method: 'DELETE' })).status).toBe(204);
  });

  test('no transaction is open while objects are read', async () => {
    await upload(bytes(700));
    const states: string[] = [];
    const get = app.storage.get;
    const proto = Object.getPrototypeOf(app.storage) as typeof app.storage;
    vi.spyOn(proto, 'get').mockImplementation(async function (this: typeof proto, ...asked) {
      const { rows } = await sql<{ state: string }>`SELECT state FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'inlet verify'`.execute(app.database);
      states.push(...rows.map(({ state }) => state));
      return get.apply(this, asked);
    });
    expect((await verifyNow('--digests')).code).toBe(0);
    expect(new Set(states)).toEqual(new Set(['idle']));
  });

  test('what is whole is not replaced by what would be made of a damaged recording', async () => {
    const event = await upload(await recording());
    await processEvent(app, event);
    const recorded = await keyOf(event);
    const altered = await contentOf(recorded);
    altered[500] = (altered[500] ?? 0) ^ 1;
    await overwrite(recorded, altered);
    const { object_key: media } = await app.database
      .selectFrom('publication_elements')
      .select('object_key')
      .where('event_id', '=', event)
      .where('kind', '=', 'media')
      .executeTakeFirstOrThrow();
    await app.storage.remove([media]);
    // Without reading every object it has not been seen that the recording is damaged.
    const repaired = await verifyNow('--repair');
    expect(repaired).toEqual({ code: 1, lines: [expect.stringMatching(/left: .*damaged as well$/)] });
    const workflows = await app.database.selectFrom('workflows').select('id').execute();
    expect(workflows).toHaveLength(1);
  });

  test('what has been put in order since it was found is left alone', async () => {
    const event = await upload(await recording());
    const key = await keyOf(event);
    const notes = new Notes(join(app.context.config.dataDir, 'verify.jsonl'));
    await notes.begin({ digests: false });
    await notes.add([{ kind: 'orphaned', key, owner: null, size: 1 }]);
    await notes.reach({ through: 'zz/ff', objects: 0, bytes: 0 });
    const repaired = await verifyNow('--repair', '--resume');
    expect(repaired).toEqual({ code: 0, lines: [expect.stringMatching(/mended: it is in order by now$/)] });
    expect(
      await app.database.selectFrom('staging').selectAll().where('object_key', '=', key).execute(),
    ).toEqual([]);
  });

  test('an interrupted verification says how to go on, and goes on where it was', async () => {
    const orphans: string[] = [];
    for (let i = 0; i < 6; i += 1) {
      await upload(Buffer.concat([await recording(), bytes(i + 1)]));
      // Half of them are before all that rows name, half of them behind it.
      orphans.push(objectKey(i % 2 ? 'preview' : 'video'));
      await app.storage.put(orphans.at(-1) ?? '', source(bytes(i + 1)), video);
    }
    const connect = async () => {
      const client = new pg.Client(app.context.databaseUrl).on('error', () => undefined);
      onTestFinished(() => client.end());
      await client.connect();
      return client;
    };
    const [rows, look] = [await connect(), await connect()];
    const listed: (string | undefined)[] = [];
    const { storage } = app;
    const parts = {
      ...{ rows, look },
      storage: {
        list: (prefix: string, options?: ListOptions) => {
          listed.push(options?.after);
          return storage.list(prefix, options);
        },
        unfinished: (prefix?: string) => storage.unfinished(prefix),
        check: () => storage.check(),
        size: (key: string) => storage.size(key),
        get: (...args: Parameters<typeof storage.get>) => storage.get(...args),
      },
    };
    const notes = new Notes(join(app.context.config.dataDir, 'verify.jsonl'));
    const scope = { digests: false };
    const found: string[] = [];
    const options = {
      ...scope,
      notes,
      onFinding: ({ key }: Finding) => void found.push(key),
      batch: { objects: 1, bytes: 1 },
    };
    await notes.begin(scope);
    const interrupted = new AbortController();
    const first = verify(parts, {
      ...options,
      from: undefined,
      signal: interrupted.signal,
      onProgress: ({ objects }) => objects >= 3 && interrupted.abort(new Error('Interrupted.')),
    });
    await expect(first).rejects.toThrow('Interrupted.');
    const before = found.splice(0);
    expect(before).toHaveLength(3);

    expect(await notes.resume({ digests: true })).toBeUndefined();
    const from = await notes.resume(scope);
    const { objects } = await verify(parts, { ...options, from, onProgress: () => undefined });
    expect(listed).toEqual([undefined, from?.through]);
    expect(objects).toBe(6);
    // What the first run had not noted as done is looked at again, and told once in the notes.
    const told = (await Array.fromAsync(notes.findings())).map(({ key }) => key);
    expect(told.sort()).toEqual(orphans.sort());

    await notes.begin(scope);
    const stopped = await say(verifyCommand, system(), [], AbortSignal.abort(new Error('Interrupted.')));
    expect(stopped.code).toBe(130);
    expect((await verifyNow('--resume')).lines).toHaveLength(6);
  });
});
