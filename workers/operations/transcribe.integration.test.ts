import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runTool } from '#platform/media/tools/run-tool.ts';
import { clip, clipFolder, testTools } from '#test/support/clips.ts';
import { createOperationBench, type PerformOptions } from '#test/support/operation-context.ts';
import { insertPublication } from '#test/support/publication.ts';
import { type HeardSound, type Reply, startTranscriptionServer } from '#test/support/transcription-server.ts';
import { captions } from './captions.ts';
import { cut } from './cut.ts';
import { encode } from './encode.ts';
import { inspect } from './inspect.ts';
import type { Operation } from './operation.ts';
import { publish } from './publish.ts';
import { transcribe, transcribeWith } from './transcribe.ts';

const bench = await createOperationBench();
const server = await startTranscriptionServer();
const { database, tracksOf } = bench;
afterAll(async () => {
  await server.close();
  await bench.close();
});

const KEY = 'sk-hush-hush';
const service = (values: object = {}) => ({
  transcription: { url: server.url, key: KEY, model: 'whisper-1', language: undefined, ...values },
});
const inShortParts = transcribeWith({ part: 2000, overlap: 1000 });
const spoken = (text: string, language = 'english'): Reply => ({
  body: { text, language, segments: text ? [{ start: 0, end: 1, text }] : [] },
});
const run = (eventId: string, operation: Operation = transcribe, options: PerformOptions = {}) =>
  bench.perform(operation, eventId, { site: service(), ...options });
const inspected = async (tracks: Record<string, string>) => {
  const eventId = await bench.addEvent(tracks);
  for (const operation of [inspect, cut]) await bench.perform(operation, eventId);
  return eventId;
};
const published = async (eventId: string, workflowId = 1) => {
  for (const operation of [encode, captions, publish]) await bench.perform(operation, eventId, { workflowId });
};
const captionsOf = async (eventId: string) => {
  const elements = (await bench.elementsOf(eventId)).filter(({ flavor }) => flavor === 'captions/delivery');
  return Promise.all(
    elements.map(async ({ object_key, tags, filename, publication_id }) => ({
      ...{ tags, filename, isPublished: publication_id !== null },
      text: (await bench.bytesOf(object_key)).toString(),
    })),
  );
};
const TAGS = ['subtitle', 'type:subtitle', 'generator-type:auto', 'generator:whisper-1', 'lang:en'];

/** Four seconds; the sound begins in the middle. */
async function lateSound(): Promise<string> {
  const path = join(clipFolder(), 'late-sound.wav');
  const { ffmpeg } = await testTools();
  const tone = "aevalsrc='if(gt(t,2),random(0),0)':s=48000:d=4";
  await runTool(ffmpeg, ['-y', '-f', 'lavfi', '-i', tone, path], { timeLimitMs: 20_000 });
  return path;
}

test('a published recording gets the speech as captions, marked as generated', async () => {
  const eventId = await inspected({
    'presentation/source': await clip({ audio: false }),
    'presenter/source': await clip(),
  });
  await published(eventId);
  server.answer(() => spoken(' Hello & <welcome>. '));
  expect(await run(eventId)).toEqual([1]);
  expect(server.heard).toMatchObject([
    {
      ...{ format: 'verbose_json', model: 'whisper-1', language: undefined, authorization: `Bearer ${KEY}` },
      ...{ path: '/v1/audio/transcriptions', samplingRate: 16_000, channels: 1 },
    },
  ]);
  expect(server.heard[0]?.lengthMs).toBeCloseTo(2000, -2);
  const text = 'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nHello &amp; &lt;welcome&gt;.\n';
  const words = database.selectFrom('caption_words').select('words').where('event_id', '=', eventId);
  expect(await words.execute()).toEqual([{ words: "'hello' 'welcome'" }]);
  const shown = { tags: TAGS, filename: 'captions-en.vtt', isPublished: true, text };
  expect(await captionsOf(eventId)).toEqual([shown]);
  const track = (await tracksOf(eventId)).at(-1);
  expect(track).toMatchObject({ flavor: 'captions/source', mediatype: 'text/vtt', tags: TAGS, is_media: false });
  expect(String(await bench.bytesOf(track?.object_key ?? ''))).toBe(text);
  const changes = database.selectFrom('changes').select(['kind', 'data']).where('event_id', '=', eventId);
  expect(await changes.orderBy('id', 'desc').limit(2).execute()).toMatchObject([
    { kind: 'publication.published', data: { channel: 'engage-player', renewed: true } },
    { kind: 'event.changed', data: { parts: ['tracks'], made: 1 } },
  ]);

  // Publishing again keeps them, and the same sound is not sent again.
  await published(eventId);
  await run(eventId);
  expect([server.heard.length, await captionsOf(eventId)]).toEqual([1, [shown]]);
  expect(await words.execute()).toEqual([{ words: "'hello' 'welcome'" }]);

  // Other settings make another transcript, which replaces this one.
  server.answer(() => spoken('Bonjour.'));
  await run(eventId, transcribe, { configuration: { model: 'large', language: 'fr' } });
  expect(server.heard).toMatchObject([{ model: 'large', language: 'fr' }]);
  expect(await captionsOf(eventId)).toMatchObject([
    { filename: 'captions-fr.vtt', text: expect.stringContaining('Bonjour') },
  ]);
  expect((await tracksOf(eventId)).filter(({ is_media }) => !is_media)).toHaveLength(1);
});

test('the sound goes in overlapping parts, each from its time', async () => {
  const eventId = await inspected({ 'presenter/source': await lateSound() });
  const isLoud = ({ bytes }: HeardSound) => bytes > 40_000;
  server.answer((sound) => spoken(isLoud(sound) ? 'Loud.' : ''));
  expect(await run(eventId, inShortParts)).toEqual([1 / 3, 2 / 3, 1]);
  expect(server.heard.map(({ lengthMs }) => Math.round(lengthMs))).toEqual([2000, 2000, 2000]);
  expect(server.heard.map(({ bytes }) => bytes > 20_000)).toEqual([false, true, true]);
  const track = (await tracksOf(eventId)).at(-1);
  expect(String(await bench.bytesOf(track?.object_key ?? ''))).toBe('WEBVTT\n\n00:00:02.000 --> 00:00:03.000\nLoud.\n');
});

test('only what a cut keeps is sent, and captions follow the cut', async () => {
  const eventId = await inspected({ 'presenter/source': await lateSound() });
  const kept_parts = JSON.stringify([
    { begin: 2100, end: 2900 },
    { begin: 3000, end: 4000 },
  ]);
  await database.updateTable('tracks').set({ kept_parts }).where('event_id', '=', eventId).execute();
  await published(eventId);
  server.answer(({ lengthMs }) => spoken(lengthMs > 900 ? 'Second.' : 'First.'));
  await run(eventId);
  expect(server.heard.map(({ lengthMs }) => Math.round(lengthMs))).toEqual([800, 1000]);
  const [{ text = '' } = {}] = await captionsOf(eventId);
  expect(text).toBe('WEBVTT\n\n00:00:00.000 --> 00:00:00.800\nFirst.\n\n00:00:00.800 --> 00:00:01.800\nSecond.\n');
});

test.each([
  ['refuses the format', { status: 400, body: { error: { message: 'response_format is not supported' } } }],
  ['knows no times in JSON', { body: { text: 'Hello.' } }],
])('a service that %s is asked for another one', async (_, refusal) => {
  const eventId = await inspected({ 'presenter/source': await clip() });
  server.answer(({ format }) => (format === 'srt' ? { body: '1\n00:00:00,000 --> 00:00:01,000\nHello.\n' } : refusal));
  await run(eventId, inShortParts);
  expect(server.heard.map(({ format }) => format)).toEqual(['verbose_json', 'vtt', 'srt']);
  expect((await tracksOf(eventId)).at(-1)).toMatchObject({ filename: 'captions.vtt', tags: TAGS.slice(0, 4) });
});

describe('nothing is sent', () => {
  const heardFrom = async (eventId: string, options: PerformOptions = {}) => {
    server.answer(() => spoken('Hello.'));
    await run(eventId, transcribe, options);
    return server.heard.length;
  };

  test('without a service', async () => {
    const eventId = await inspected({ 'presenter/source': await clip() });
    expect(await heardFrom(eventId, { site: {} })).toBe(0);
  });

  test('of a recording without sound', async () => {
    const eventId = await inspected({ 'presenter/source': await clip({ audio: false }) });
    expect(await heardFrom(eventId)).toBe(0);
  });

  test('of sound that an editor has left out', async () => {
    const eventId = await inspected({ 'presenter/source': await clip() });
    await leaveOutSound(eventId);
    expect(await heardFrom(eventId)).toBe(0);
  });

  test('where captions in the language exist', async () => {
    const eventId = await inspected({ 'presenter/source': await clip() });
    await addCaptions(eventId, 'deu');
    expect(await heardFrom(eventId, { site: service({ language: 'de' }) })).toBe(0);
  });
});

const leaveOutSound = (eventId: string) =>
  database
    .updateTable('tracks')
    .set({ hidden_streams: ['audio'] })
    .where('event_id', '=', eventId)
    .execute();

test('captions of sound that an editor has left out are no longer published', async () => {
  const eventId = await inspected({ 'presenter/source': await clip() });
  await published(eventId);
  server.answer(() => spoken('Hello.'));
  await run(eventId);
  await leaveOutSound(eventId);
  await published(eventId, 2);
  expect(await captionsOf(eventId)).toEqual([]);
});

/** Adds captions as a client sends them. */
async function addCaptions(eventId: string, language: string, position = 9) {
  const path = join(clipFolder(), 'sent.vtt');
  await writeFile(path, 'WEBVTT\n\n00:00.000 --> 00:01.000\nSent.\n');
  await bench.addTrack(eventId, position, 'captions/source', path);
  const track = database.updateTable('tracks').set({ tags: [`lang:${language}`] });
  await track.where('event_id', '=', eventId).where('position', '=', position).execute();
}

test('captions from clients stay, and nothing in their language is added beside them', async () => {
  const eventId = await inspected({ 'presenter/source': await clip() });
  await published(eventId);
  // They arrive while the service is at work.
  let sent: Promise<void> | undefined;
  server.answer(() => ({
    write: (response) => {
      sent = addCaptions(eventId, 'en-GB').then(() => void response.end(JSON.stringify(spoken('Hello.').body)));
    },
  }));
  await run(eventId);
  await sent;
  expect(await captionsOf(eventId)).toEqual([]);
  expect((await tracksOf(eventId)).map(({ tags }) => tags)).toEqual([[], ['lang:en-GB']]);

  // Generated ones are no longer published once a client has sent some.
  server.answer(() => spoken('Hello.', 'de'));
  await run(eventId);
  await addCaptions(eventId, 'de', 20);
  await published(eventId);
  expect((await captionsOf(eventId)).map(({ tags }) => tags)).toEqual([['lang:en-GB'], ['lang:de']]);
});

test('silence makes no captions', async () => {
  const eventId = await inspected({ 'presenter/source': await clip() });
  await insertPublication(database, eventId);
  server.answer(() => spoken(''));
  await run(eventId);
  expect([await captionsOf(eventId), (await tracksOf(eventId)).length]).toEqual([[], 1]);
});

describe('a service', () => {
  const failing = async (reply: Reply, options: PerformOptions = {}) => {
    const eventId = await inspected({ 'presenter/source': await clip() });
    server.answer(() => reply);
    return (await run(eventId, transcribe, options).catch((error) => error)) as Error;
  };
  const away = (reason: string, more = {}) => ({
    ...{
      ours: true,
      waitLimitMs: 3 * 86_400_000,
      message: `The transcription service does not answer: ${reason}.`,
      ...more,
    },
  });

  test.each<[string, Reply, object]>([
    ['is broken', { status: 500 }, away('it responded with status 500')],
    ['is being restarted', { status: 503 }, away('it responded with status 503')],
    [
      'is busy',
      { status: 429, headers: { 'Retry-After': '7' }, body: '{}' },
      away('it responded with status 429', { againInMs: 7000 }),
    ],
    [
      'breaks off',
      {
        write: (response) => {
          response.writeHead(200, { 'Content-Length': '100' }).write('{');
          setTimeout(() => response.destroy(), 50);
        },
      },
      away('the connection broke during its answer'),
    ],
  ])('that %s defers the operation', async (_, reply, error) => expect(await failing(reply)).toMatchObject(error));

  test('that cannot be reached defers the operation', async () => {
    const site = service({ url: 'http://127.0.0.1:1/v1' });
    expect(await failing({}, { site })).toMatchObject(away('its host cannot be reached'));
  });

  const HTML = { headers: { 'Content-Type': 'text/html' }, body: '<!DOCTYPE html><title>Sign in</title>' };
  test.each<[string, Reply, string]>([
    [
      'rejects the key',
      { status: 401, body: { error: { message: `Incorrect API key provided: ${KEY}.` } } },
      'the service responded with status 401 (Incorrect API key provided: [redacted].); check TRANSCRIBE_KEY',
    ],
    [
      'knows no such model',
      { status: 404, body: { detail: 'Model not found' } },
      'the service responded with status 404 (Model not found); check TRANSCRIBE_URL and the model',
    ],
    ['rejects the sound', { status: 413 }, 'the service responded with status 413'],
    [
      'redirects',
      { status: 307, headers: { Location: 'http://127.0.0.1:1/' } },
      'the service redirects to another address (status 307); set TRANSCRIBE_URL to that address',
    ],
    ['answers with a page', HTML, 'it answered with a web page; check TRANSCRIBE_URL'],
    [
      'answers without end',
      { write: (response) => void setInterval(() => response.write('x'.repeat(2 ** 20)), 1).unref() },
      'its answer is larger than 16 MiB; check TRANSCRIBE_URL',
    ],
    ['never has times', { body: { text: 'Hello.' } }, 'the answers of the service have no times'],
  ])('that %s fails the operation', async (_, reply, reason) => {
    expect(await failing(reply)).toMatchObject({ permanent: true, message: `The transcription failed: ${reason}.` });
  });

  test('that is slow is interrupted with the operation', async () => {
    const controller = new AbortController();
    const reply = { write: () => controller.abort(new Error('lost')) };
    expect(await failing(reply, { signal: controller.signal })).toMatchObject({ message: 'lost' });
  });
});

test('a language that is no tag is an error of the workflow', async () => {
  const eventId = await inspected({ 'presenter/source': await clip() });
  await expect(run(eventId, transcribe, { configuration: { language: 'the local one' } })).rejects.toMatchObject({
    permanent: true,
    message: 'The setting "language" must be a language tag such as de or en-GB, not "the local one".',
  });
});
