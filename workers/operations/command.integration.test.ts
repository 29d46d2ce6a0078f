import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clip } from '../../test/support/clips.ts';
import { eventually } from '../../test/support/eventually.ts';
import { processesWith } from '../../test/support/media.ts';
import { createOperationBench, type OperationBench } from '../../test/support/operation-context.ts';
import { command } from './command.ts';

let bench: OperationBench;
let commandsDir: string;
beforeAll(async () => {
  bench = await createOperationBench();
  commandsDir = await mkdtemp(join(tmpdir(), 'inlet-commands-'));
});
afterAll(async () => {
  await bench.close();
  await rm(commandsDir, { recursive: true, force: true });
});

async function program(name: string, script: string): Promise<void> {
  await writeFile(join(commandsDir, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(commandsDir, name), 0o755);
}

const event = async () => bench.addEvent({ 'presenter/source': await clip() });
const perform = (eventId: string, configuration: Record<string, string>, signal?: AbortSignal) =>
  bench.perform(command, eventId, { configuration, commandsDir, ...(signal && { signal }) });
const tracks = (eventId: string) =>
  bench.database
    .selectFrom('tracks')
    .selectAll()
    .where('event_id', '=', eventId)
    .orderBy('position')
    .execute();

const SUBTITLES = {
  ...{ program: 'subtitles.sh', tracks: 'presenter/*', output_flavor: 'captions/source' },
  ...{ output_tags: 'lang:en, generator-type:auto', arguments: '{input} {output} {flavor}' },
};

test('what a program leaves in its folder becomes tracks of the event, with flavor, tags and type', async () => {
  await program(
    'subtitles.sh',
    'test -s "$1" && printf "WEBVTT\\n\\n00:00.000 --> 00:01.000\\n$3\\n" > "$2/en.vtt"',
  );
  const id = await event();
  await perform(id, SUBTITLES);
  const [, made] = await tracks(id);
  expect(made).toMatchObject({
    ...{ flavor: 'captions/source', filename: 'en.vtt', mediatype: 'text/vtt', is_media: false },
    ...{ tags: ['lang:en', 'generator-type:auto'], made_by: expect.stringContaining('subtitles.sh') },
  });
  expect((await bench.bytesOf(made?.object_key ?? '')).toString()).toContain('presenter/source');
  const changes = bench.database.selectFrom('changes').select('data').where('event_id', '=', id);
  expect(await changes.execute()).toMatchObject([{ data: { parts: ['tracks'], made: 1 } }]);
});

test('run again, it replaces what it made before and nothing that a client sent', async () => {
  await program('subtitles.sh', 'printf "WEBVTT\\n\\n00:00.000 --> 00:01.000\\nagain\\n" > "$2/again.vtt"');
  const id = await event();
  await perform(id, SUBTITLES);
  const [sent, first] = await tracks(id);
  await perform(id, SUBTITLES);
  const after = await tracks(id);
  expect(after.map(({ filename }) => filename)).toEqual([sent?.filename, 'again.vtt']);
  expect(after[1]?.object_key).not.toBe(first?.object_key);
});

test('a program sees its track, its folder and nothing else of the environment', async () => {
  await program('env.sh', 'env > "$INLET_OUTPUT/env.txt"; pwd >> "$INLET_OUTPUT/env.txt"');
  process.env.SECRET_OF_THE_SERVICE = 'hidden';
  const id = await event();
  await perform(id, { program: 'env.sh', output_flavor: '*/environment' });
  delete process.env.SECRET_OF_THE_SERVICE;
  const [, made] = await tracks(id);
  expect(made?.flavor).toBe('presenter/environment');
  const names = (await bench.bytesOf(made?.object_key ?? '')).toString().match(/^[A-Z_]+(?==)/gm);
  expect(new Set(names)).toEqual(
    new Set([
      ...['HOME', 'INLET_EVENT_ID', 'INLET_INPUT', 'INLET_OUTPUT', 'INLET_TRACK_FLAVOR', 'LANG', 'PATH'],
      // The shell's own.
      ...['PWD', 'TMPDIR'],
    ]),
  );
});

test('one that fails does so for good, with its exit code and what it said last', async () => {
  await program('fails.sh', 'echo "no speech was found" >&2; exit 3');
  await expect(perform(await event(), { program: 'fails.sh' })).rejects.toMatchObject({
    message: 'The program "fails.sh" ended with exit code 3.',
    permanent: true,
    log: expect.stringContaining('no speech was found'),
  });
});

test('one that says that the fault may pass is tried again', async () => {
  await program('later.sh', 'exit 75');
  await expect(perform(await event(), { program: 'later.sh' })).rejects.toMatchObject({ permanent: false });
});

test('one that talks without end is ended', async () => {
  await program('talks.sh', 'while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done');
  await expect(perform(await event(), { program: 'talks.sh' })).rejects.toMatchObject({ permanent: true });
});

test('it is ended within two seconds with all that it has started, when the operation is', async () => {
  await program('sleeps.sh', '/bin/sleep 86399 & touch "$2/begun"; wait');
  const controller = new AbortController();
  const done = perform(await event(), { program: 'sleeps.sh' }, controller.signal);
  done.catch(() => undefined);
  await eventually(() => expect(processesWith('sleep\0' + '86399').length).toBe(1));
  controller.abort(new Error('stopped'));
  await expect(done).rejects.toThrow('stopped');
  await sleep(500);
  expect(processesWith('sleep\0' + '86399')).toEqual([]);
});

test('only tracks of the flavor are worked on, and a name that leads elsewhere is refused', async () => {
  await program('subtitles.sh', 'exit 1');
  const id = await event();
  await perform(id, { ...SUBTITLES, tracks: 'presentation/*' });
  expect(await tracks(id)).toHaveLength(1);
  await expect(perform(id, { program: '../subtitles.sh' })).rejects.toMatchObject({ permanent: true });
  await expect(readFile(join(commandsDir, 'subtitles.sh'), 'utf8')).resolves.toContain('exit 1');
});
