import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Client } from './client.ts';
import { recording } from './clips.ts';
import type { Part } from './form.ts';

/** Titles and names that other systems have broken. */
const ODD = ['Größe & <b>Maß</b> "1"', 'Лекция №2', '数学 🎓', "O'Hara; DROP TABLE", '  spaces  ', 'a'.repeat(300)];

const field = (id: string, value: unknown) => ({ id, value });
const acl = (...roles: string[]) => roles.map((role) => ({ allow: true, action: 'read', role }));

export async function sent(answer: Promise<Response>, status: number): Promise<string> {
  const { status: found, text } = await answer.then(async (each) => ({ status: each.status, text: await each.text() }));
  expect(found, text).toBe(status);
  return text;
}

export const formOf = (fields: Record<string, unknown>) => ({
  method: 'POST',
  body: new URLSearchParams(
    Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  ),
});

/** Creates a series with properties. @returns its identifier */
export async function createSeries(client: Client, title: string, id: string = randomUUID()): Promise<string> {
  const fields = [
    ...[field('title', title), field('identifier', id), field('subjects', ['Mathematics', 'Über alles'])],
    ...[field('description', `About ${title}`), field('language', 'eng'), field('creator', ['Institute of X'])],
  ];
  const metadata = [{ flavor: 'dublincore/series', fields }];
  const entries = [...acl('ROLE_STUDENT'), { allow: true, action: 'write', role: 'ROLE_LECTURER' }];
  await sent(client.fetch('/api/series', formOf({ metadata, acl: entries })), 201);
  const properties = formOf({ properties: { live: 'false', color: 'blue' } });
  await sent(client.fetch(`/api/series/${id}/properties`, { ...properties, method: 'PUT' }), 200);
  return id;
}

/** The metadata of the `n`th event. */
function metadataOf(n: number, seriesId: string | undefined) {
  const fields = [
    ...[field('title', `${ODD[n % ODD.length]} ${n}`), field('creator', [`Emmy ${n}`, 'Ada L.'])],
    ...[field('subjects', ['A', `B${n}`]), field('description', `Line one\nline ${n}`), field('license', 'CC-BY')],
    ...[
      field('startDate', `20${10 + (n % 15)}-03-0${1 + (n % 9)}`),
      field('startTime', `10:${10 + (n % 50)}:0${n % 10}Z`),
    ],
    ...(seriesId === undefined ? [] : [field('isPartOf', seriesId)]),
  ];
  return [{ flavor: 'dublincore/episode', fields }];
}

export function partsOf(n: number, seriesId: string | undefined, more: { processing?: object } = {}): Part[] {
  const json = (name: string, value: unknown) => ({ name, content: JSON.stringify(value) });
  return [
    json('metadata', metadataOf(n, seriesId)),
    json('acl', [
      ...acl(n % 3 === 0 ? 'ROLE_ANONYMOUS' : `ROLE_COURSE_${n}`),
      { action: 'annotate', role: 'ROLE_USER' },
    ]),
    json('processing', more.processing ?? { workflow: 'fast' }),
  ];
}

/** Creates an event with metadata and no recording, which no workflow processes. */
export async function createPlain(client: Client, n: number, seriesId?: string): Promise<string> {
  return client.create(partsOf(n, seriesId, { processing: { workflow: 'retract' } }));
}

/** Uploads a recording of two seconds and waits until it is published. */
export async function createRecording(
  client: Client,
  n: number,
  seriesId?: string,
  workflow = 'fast',
): Promise<string> {
  const file = {
    name: n % 4 === 3 ? 'presentation' : 'presenter',
    filename: `Vortrag ${n} ä.mp4`,
    content: await recording(),
  };
  const id = await client.create([...partsOf(n, seriesId, { processing: { workflow } }), file]);
  expect(await client.processed(id)).toMatchObject({ processing_state: 'SUCCEEDED' });
  return id;
}

/** Uploads what is no recording and waits until its workflow has failed. */
export async function createFailed(client: Client, n: number, seriesId?: string): Promise<string> {
  const file = { name: 'presenter', filename: 'broken.mp4', content: Buffer.from('no recording') };
  const id = await client.create([...partsOf(n, seriesId), file]);
  expect(await client.processed(id)).toMatchObject({ processing_state: 'FAILED' });
  return id;
}

/** Adds captions and publishes them. */
export async function addCaptions(client: Client, id: string): Promise<void> {
  const captions = Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.500\nSaid once.\n');
  const parts = [
    { name: 'flavor', content: 'captions/source' },
    { name: 'tags', content: 'archive,subtitle,lang:de' },
    { name: 'track', filename: 'captions.vtt', content: captions, type: 'text/vtt' },
  ];
  await sent(client.post(`/api/events/${id}/track`, parts), 200);
  const started = { event_identifier: id, workflow_definition_identifier: 'publish' };
  await sent(client.fetch('/api/workflows', formOf(started)), 201);
  expect(await client.processed(id)).toMatchObject({ processing_state: 'SUCCEEDED' });
}

/** Schedules a recording. @param hours from now; negative for one that nobody has delivered */
export async function schedule(client: Client, n: number, hours: number, seriesId?: string): Promise<string> {
  const start = new Date(Math.floor(Date.now() / 1000) * 1000 + hours * 3_600_000);
  const end = new Date(start.getTime() + 1_800_000);
  await sent(
    client.fetch(`/capture-admin/agents/hall-${n % 3}`, formOf({ state: 'idle', address: 'http://10.0.0.1' })),
    200,
  );
  const scheduling = {
    agent_id: `hall-${n % 3}`,
    start: start.toISOString(),
    end: end.toISOString(),
    inputs: ['camera'],
  };
  return client.create([...partsOf(n, seriesId), { name: 'scheduling', content: JSON.stringify(scheduling) }]);
}

const LIMIT = 100;
const EVENT_PARTS =
  'withacl=true&withmetadata=true&withpublications=true&withscheduling=true&includeInternalPublication=true';

type Json = Record<string, unknown>;

/** What the External API answers about everything, without addresses and versions, by address. */
export async function catalogueOf(client: Client, { files = false } = {}): Promise<Map<string, unknown>> {
  const answers = new Map<string, unknown>();
  for (const series of await listOf(client, '/api/series', 'created:ASC', 'withacl=true')) {
    const path = `/api/series/${series.identifier}`;
    for (const part of ['', '/acl', '/metadata', '/properties'])
      answers.set(path + part, await client.json(path + part));
    answers.set(`${path} in lists`, series);
  }
  for (const event of await listOf(client, '/api/events', 'date:ASC', EVENT_PARTS)) {
    const path = `/api/events/${event.identifier}`;
    answers.set(`${path} in lists`, comparable(event));
    for (const part of [`?${EVENT_PARTS}`, '/acl', '/metadata', '/media', '/publications']) {
      answers.set(path + part, comparable(await client.json(path + part)));
    }
    if (files) {
      for (const { url, checksum } of elementsOf(event))
        answers.set(`${path} ${checksum}`, await digestOf(client, url));
    }
  }
  return answers;
}

async function listOf(client: Client, path: string, sort: string, parts: string): Promise<Json[]> {
  const all: Json[] = [];
  for (;;) {
    const page = await client.json<Json[]>(`${path}?${parts}&sort=${sort}&limit=${LIMIT}&offset=${all.length}`);
    all.push(...page);
    if (page.length < LIMIT) return all;
  }
}

function elementsOf(event: Json) {
  const publications = event.publications as Record<
    'media' | 'attachments' | 'metadata',
    { url: string; checksum: string }[]
  >[];
  return publications.flatMap(({ media, attachments, metadata }) => [...media, ...attachments, ...metadata]);
}

async function digestOf(client: Client, url: string): Promise<string> {
  const answer = await fetch(url, { headers: { Authorization: client.authorization } });
  const bytes = await answer.arrayBuffer();
  const digest = await crypto.subtle.digest('SHA-256', bytes);
  return `${Buffer.from(digest).toString('hex')} (sha256)`;
}

/** Drops addresses and versions. */
function comparable(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, each) => (['url', 'uri', 'archive_version'].includes(name) ? undefined : each)),
  );
}
