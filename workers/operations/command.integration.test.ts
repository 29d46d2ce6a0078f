import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { sha256 } from '#test/support/bytes.ts';
import { clip } from '#test/support/clips.ts';
import { eventually } from '#test/support/eventually.ts';
import { folderForThisFile } from '#test/support/folders.ts';
import { processesWith } from '#test/support/media.ts';
import { createOperationBench, type PerformOptions } from '#test/support/operation-context.ts';
import { command } from './command.ts';

const bench = await createOperationBench();
const commandsDir = await folderForThisFile();
afterAll(() => bench.close());

async function program(name: string, script: string): Promise<void> {
  await writeFile(join(commandsDir, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(commandsDir, name), 0o755);
}

const event = async () => bench.addEvent({ 'presenter/source': await clip() });
const perform = (
  eventId: string,
  configuration: Record<string, string>,
  {
    maxFileBytes = Number.POSITIVE_INFINITY,
    ...options
  }: Pick<PerformOptions, 'signal'> & { maxFileBytes?: number } = {},
) => bench.perform(command, eventId, { configuration, site: { commandsDir, maxFileBytes }, ...options });
const { tracksOf: tracks } = bench;

const SUBTITLES = {
  ...{ program: 'subtitles.sh', tracks: 'presenter/*', output_flavor: 'captions/source' },
  ...{ output_tags: 'lang:en, generator-type:auto', arguments: '{input} {output} {flavor}' },
};

test('what a program leaves in its folder becomes tracks of the event, with flavor, tags and type', async () => {
  await program('subtitles.sh', 'test -s "$1" && printf "WEBVTT\\n\\n00:00.000 --> 00:01.000\\n$3\\n" > "$2/en.vtt"');
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
  const own = ['HOME', 'INLET_EVENT_ID', 'INLET_INPUT', 'INLET_OUTPUT', 'INLET_TRACK_FLAVOR', 'LANG', 'PATH'];
  // PWD is the shell's own.
  expect([...new Set(names)].sort()).toEqual([...own, 'PWD', 'TMPDIR']);
});

const message = expect.stringMatching(/^The program "failing.sh" was killed by SIG[A-Z]+\.$/);
const killed = { message, permanent: false, attempts: undefined };
test.each<[means: string, script: string, failure: object]>([
  [
    'fails for good, with its exit code and what it said last',
    'echo "no speech was found" >&2; exit 3',
    {
      ...{ message: 'The program "failing.sh" failed with exit code 3.', permanent: true },
      log: expect.stringContaining('no speech was found'),
    },
  ],
  ['says that the fault may pass is tried again', 'exit 75', { permanent: false }],
  ['is killed is tried again', 'kill -KILL $$', { ...killed, stopped: false }],
  ['is asked to end is tried again', 'kill -TERM $$', { ...killed, stopped: true }],
  ['has something asked to end is tried again', 'exit 143', { ...killed, stopped: true }],
  ['crashes is tried again, but not often', 'kill -SEGV $$', { ...killed, attempts: 2, stopped: false }],
])('one that %s', async (_means, script, failure) => {
  await program('failing.sh', script);
  await expect(perform(await event(), { program: 'failing.sh' })).rejects.toMatchObject(failure);
});

test('of what one says, however much, only the end is kept', async () => {
  await program('talks.sh', 'yes talk | head -c 20000000; echo "this is the end"; exit 4');
  const failure = await perform(await event(), { program: 'talks.sh' }).catch((error) => error);
  expect(failure.message).toBe('The program "talks.sh" failed with exit code 4.');
  expect(failure.log.length).toBeLessThanOrEqual(4096);
  expect(failure.log.endsWith('this is the end')).toBe(true);
});

test('one whose interpreter is missing fails for good', async () => {
  await writeFile(join(commandsDir, 'lost.sh'), '#!/nonexistent/interpreter\n', { mode: 0o755 });
  await expect(perform(await event(), { program: 'lost.sh' })).rejects.toMatchObject({
    message: 'The program "lost.sh" could not be started.',
    permanent: true,
  });
});

test('there is nothing to read for it, and it gets a copy: what clients sent stays as it is', async () => {
  await program('reads.sh', 'cat > "$2/read.txt"; echo end >> "$2/read.txt"; echo harm >> "$1"');
  const id = await event();
  await perform(id, { program: 'reads.sh' });
  const [sent, made] = await tracks(id);
  expect(made?.size).toBe(4);
  expect(sha256(await bench.bytesOf(sent?.object_key ?? ''))).toBe(sent?.sha256);
});

test.each(['', '; sleep 60'])('one that writes more than a file may have fails for good%s', async (rest) => {
  await program('writes.sh', `head -c 3000000 /dev/zero > "$2/large"${rest}`);
  const options = { maxFileBytes: 2_000_000 };
  await expect(perform(await event(), { program: 'writes.sh' }, options)).rejects.toMatchObject({
    message: 'The program "writes.sh" has written more than 2000000 bytes.',
    permanent: true,
  });
});

test('links are no results, neither in the folder nor in its place', async () => {
  const id = await event();
  await program('links.sh', 'ln -s /etc/hostname "$2/name.txt"; mkdir "$2/deeper"');
  await perform(id, { program: 'links.sh' });
  expect(await tracks(id)).toHaveLength(1);
  await program('elsewhere.sh', 'rm -r "$2"; ln -s /etc/ssl "$2"');
  await expect(perform(id, { program: 'elsewhere.sh' })).rejects.toMatchObject({ permanent: true });
});

test('the same program on other tracks leaves the results of the first alone', async () => {
  await program('subtitles.sh', 'printf "WEBVTT\\n\\n" > "$2/a.vtt"');
  const id = await bench.addEvent({ 'presenter/source': await clip(), 'presentation/source': await clip() });
  for (const pattern of ['presenter/*', 'presentation/*']) await perform(id, { ...SUBTITLES, tracks: pattern });
  expect((await tracks(id)).map(({ flavor }) => flavor).slice(2)).toEqual(['captions/source', 'captions/source']);
});

test.each([undefined, 'presenter/*'])('its own results are not worked on again, of %s', async (pattern) => {
  await program('copies.sh', 'cp "$1" "$2/copy.mp4"');
  const id = await event();
  const configuration = { program: 'copies.sh', ...(pattern && { tracks: pattern }) };
  for (let run = 0; run < 3; run += 1) await perform(id, configuration);
  expect((await tracks(id)).map(({ flavor }) => flavor)).toEqual(['presenter/source', 'presenter/processed']);
});

test('what it leaves running when it succeeds is ended, and not waited for', async () => {
  await program('leaves.sh', '/bin/sleep 86398 & exit 0');
  await perform(await event(), { program: 'leaves.sh' });
  await eventually(() => expect(processesWith('sleep\0' + '86398')).toEqual([]));
});

/** Performs a program that sleeps for so long, and aborts the operation while it does. */
async function stop(script: string, seconds: string, beforeAbort = () => {}): Promise<void> {
  await program('sleeps.sh', script);
  const controller = new AbortController();
  const done = perform(await event(), { program: 'sleeps.sh' }, { signal: controller.signal });
  done.catch(() => undefined);
  await eventually(() => expect(processesWith(`sleep\0${seconds}`).length).toBe(1));
  beforeAbort();
  controller.abort(new Error('stopped'));
  await expect(done).rejects.toThrow('stopped');
}

test('it is asked to end before it is killed', async () => {
  const asked = join(commandsDir, 'asked');
  const script = `trap 'echo yes > "${asked}"; exit 1' TERM; /bin/sleep 86397 & wait`;
  // Its time to end never runs out, however busy the machine is.
  await stop(script, '86397', () => vi.useFakeTimers({ toFake: ['setTimeout'] })).finally(vi.useRealTimers);
  expect(await readFile(asked, 'utf8')).toBe('yes\n');
});

test('it is killed soon with all that it has started, when the operation is', async () => {
  await stop("trap '' TERM; /bin/sleep 86399 & while :; do wait; done", '86399');
  await eventually(() => expect(processesWith('sleep\0' + '86399')).toEqual([]));
});

test('only tracks of the flavor are worked on, and a name that leads elsewhere is refused', async () => {
  await program('subtitles.sh', 'exit 1');
  const id = await event();
  await perform(id, { ...SUBTITLES, tracks: 'presentation/*' });
  expect(await tracks(id)).toHaveLength(1);
  await expect(perform(id, { program: '../subtitles.sh' })).rejects.toMatchObject({ permanent: true });
  await expect(readFile(join(commandsDir, 'subtitles.sh'), 'utf8')).resolves.toContain('exit 1');
});
