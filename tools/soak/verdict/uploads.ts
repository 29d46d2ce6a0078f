import { createHash } from 'node:crypto';
import { Client } from '../../../test/support/client.ts';
import type { Upload } from '../uploads/upload.ts';
import type { World } from '../world/world.ts';
import { foundAfter } from './found-after.ts';

/** A recording that kills its worker is given up after ten of them, which takes a good quarter of a minute each. */
const PROCESSED_MS = 900_000;
/** By how much what was published may be longer or shorter than what was sent: a frame of sound or two. */
const TOLERANCE_MS = 200;
const ENDS = new Set(['SUCCEEDED', 'FAILED', 'STOPPED']);
/** Reasons that say what it is, to whoever sent it. */
const SENTENCE = /^[A-Z].{15,250}[.)]$/s;

/** Waits until all have ended. @returns those that have not */
export function allEnd({ database }: World, accepted: readonly Upload[]): Promise<string[]> {
  const look = async () => {
    const events = await database.selectFrom('events').select(['id', 'processing_state']).execute();
    const states = new Map(events.map((event) => [event.id, event.processing_state]));
    const all = accepted.map(({ id = '', title }) => [title, states.get(id) ?? 'gone'] as const);
    return all.filter(([, state]) => !ENDS.has(state)).map(([title, state]) => `${title}: ${state}`);
  };
  return foundAfter(look, PROCESSED_MS);
}

/** What is sound is published once, whole and with the bytes that it should have. */
export async function allPublished(world: World, accepted: readonly Upload[]): Promise<string[]> {
  const sound = accepted.filter(({ recording }) => !recording.trouble);
  const faults: string[] = [];
  for (const upload of sound) faults.push(...(await published(world, upload)));
  return faults;
}

async function published(world: World, { id = '', title, recording }: Upload): Promise<string[]> {
  const client = new Client(world.urls[0] ?? '');
  const event = await client.event(id);
  if (event.processing_state !== 'SUCCEEDED') return [`${title}: ${(await story(world, id)).text}`];
  const publications = await client.publications(id);
  const own = publications.filter(({ channel }) => channel === 'engage-player');
  if (own.length !== 1) return [`${title}: published ${own.length} times`];
  const media = own[0]?.media ?? [];
  if (media.length === 0) return [`${title}: published without media`];
  const faults: string[] = [];
  for (const { url, duration = 0, size, checksum } of media) {
    if (Math.abs(duration - recording.duration) > TOLERANCE_MS)
      faults.push(`${title}: ${duration} ms instead of ${recording.duration}`);
    const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
    if (bytes.length !== size) faults.push(`${title}: ${bytes.length} bytes instead of ${size}`);
    const digest = createHash('sha256').update(bytes).digest('hex');
    if (!checksum.includes(digest)) faults.push(`${title}: the bytes that come are others than its digest says`);
  }
  return faults;
}

/** What the tools cannot process has failed, with a reason, and is published nowhere. */
export async function troublesFailed(world: World, accepted: readonly Upload[]): Promise<string[]> {
  const faults: string[] = [];
  for (const { id = '', title, recording } of accepted) {
    if (!recording.trouble) continue;
    const named = `${title}, which ${recording.trouble}`;
    const { state, reason, text } = await story(world, id);
    if (state !== 'FAILED') faults.push(`${named}: ${state} ${text}`);
    else if (!SENTENCE.test(reason)) faults.push(`${named}: the reason is "${reason}"`);
  }
  return faults;
}

/** How the processing of an event went. */
export async function story({ database }: World, eventId: string) {
  const event = await database
    .selectFrom('events')
    .select('processing_state')
    .where('id', '=', eventId)
    .executeTakeFirst();
  const operations = await database
    .selectFrom('workflow_operations')
    .innerJoin('workflows', 'workflows.id', 'workflow_id')
    .select(['operation', 'workflow_operations.state', 'workflow_operations.reason', 'attempts', 'losses', 'deferrals'])
    .where('event_id', '=', eventId)
    .where('workflow_operations.state', 'not in', ['succeeded', 'skipped'])
    .orderBy('workflow_operations.id')
    .execute();
  const [open] = operations;
  return {
    state: event?.processing_state ?? 'gone',
    reason: open?.reason ?? '',
    text: JSON.stringify(open ?? 'no operation is open'),
  };
}

/** An answer may be lost on its way; what was never sent to its end may be nothing. */
export async function noOthers({ database }: World, uploads: readonly Upload[]): Promise<string[]> {
  const events = await database.selectFrom('events').select(['title', 'processing_state']).execute();
  return events.flatMap(({ title, processing_state }, i) => {
    const upload = uploads.find((each) => each.title === title);
    if (upload?.manner === 'not to its end') return [`${title}: an event, though it was never sent to its end`];
    if (events.findIndex((event) => event.title === title) !== i) return [`${title}: more than one event`];
    const end = upload?.recording.trouble ? 'FAILED' : 'SUCCEEDED';
    if (upload?.id === undefined && processing_state !== end) return [`${title}: ${processing_state}`];
    return [];
  });
}

const EXPLAINED = new Set([200, 201, 408, 429, 503, 507]);

/** What was answered by something else than success, or a sentence that says to come again. */
export function unexplained(uploads: readonly Upload[]): string[] {
  return uploads
    .filter(({ status }) => status !== undefined && !EXPLAINED.has(status))
    .map(({ title, manner, status, sentence }) => `${title}, sent ${manner}: ${status} ${sentence}`);
}
