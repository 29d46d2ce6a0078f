import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';
import { processesWith } from '../support/media.ts';
import type { Trickle, Upload } from './uploads.ts';
import type { Vitals } from './vitals.ts';
import type { World } from './world.ts';

const PROCESSED_MS = 300_000;
/** What nobody holds any more is swept after a few minutes. */
const SWEPT_MS = 240_000;
/** What a killed worker left behind is cleared away by another after two. */
const CLEARED_MS = 180_000;
/** By how much what was published may be longer or shorter than what was sent: a frame of sound or two. */
const TOLERANCE_MS = 200;
const GROWTH = { share: 1.5, mib: 64, handles: 12 };
const AT_REST = 0.15;
const ENDS = new Set(['SUCCEEDED', 'FAILED', 'STOPPED']);

/** One thing that must hold, and why it does not. */
export interface Finding {
  what: string;
  /** Empty when it holds. */
  faults: string[];
}

/** What holds after everything has been mended. Waits as long as that may take. */
export async function judge(world: World, trickle: Trickle): Promise<Finding[]> {
  const accepted = trickle.uploads.filter(({ id }) => id !== undefined);
  const finding = async (what: string, look: () => Promise<string[]>): Promise<Finding> => ({
    what,
    faults: await look().catch((error: Error) => [error.message]),
  });
  return [
    await finding('the API is ready again', async () => {
      await world.ready();
      return [];
    }),
    await finding('every accepted upload ends', () => allEnd(world, accepted)),
    await finding('every accepted upload is published once and whole', () => allPublished(world, accepted)),
    await finding('what was not accepted is no event, or one that was published', () =>
      noOthers(world, trickle),
    ),
    await finding('nothing was refused for no reason', async () => unexplained(trickle)),
    await finding('objects are rows, and staging is empty', async () => {
      await expectNothingLeftOver(world, { timeoutMs: SWEPT_MS });
      return [];
    }),
    await finding('no tool runs and no working folder is left', () => nothingAtWork(world)),
    await finding('processes end only when told, and then do', async () =>
      world.processes.flatMap(({ name, crashes, hangs }) =>
        [...crashes, ...hangs].map((what) => `${name}: ${what}`),
      ),
    ),
  ];
}

/** What has grown or spins. */
export function judgeVitals(
  names: readonly string[],
  before: readonly Vitals[],
  after: readonly Vitals[],
): Finding {
  const faults = names.flatMap((name, i) => {
    const [then, now] = [before[i], after[i]];
    if (!then || !now) return [`${name}: unknown`];
    return [
      now.mib > Math.max(then.mib * GROWTH.share, then.mib + GROWTH.mib) &&
        `${name}: ${then.mib} MiB, now ${now.mib}`,
      now.handles > then.handles + GROWTH.handles &&
        `${name}: ${then.handles} open files, now ${now.handles}`,
      now.load > AT_REST && `${name}: ${Math.round(now.load * 100)} % of a core at rest`,
    ].filter((fault) => fault !== false);
  });
  return { what: 'the processes are as small and idle as at first', faults };
}

async function allEnd({ database }: World, accepted: readonly Upload[]): Promise<string[]> {
  let open: string[] = [];
  const look = async () => {
    const events = await database.selectFrom('events').select(['id', 'title', 'processing_state']).execute();
    const states = new Map(events.map((event) => [event.id, event.processing_state]));
    const faults = accepted.map(({ id = '', title }) => [title, states.get(id) ?? 'gone'] as const);
    open = faults.filter(([, state]) => !ENDS.has(state)).map(([title, state]) => `${title}: ${state}`);
    if (open.length > 0) throw new Error('some have not ended');
  };
  await eventually(look, PROCESSED_MS, 1_000).catch(() => undefined);
  return open;
}

async function allPublished(world: World, accepted: readonly Upload[]): Promise<string[]> {
  const client = new Client(world.url);
  const faults: string[] = [];
  for (const { id = '', title, duration } of accepted) {
    const event = await client.event(id);
    const publications = await client.publications(id);
    const published = publications.filter(({ channel }) => channel === 'engage-player');
    const [publication] = published;
    if (event.processing_state !== 'SUCCEEDED') faults.push(`${title}: ${await reason(world, id)}`);
    else if (published.length !== 1) faults.push(`${title}: published ${published.length} times`);
    else if (!publication?.media.length) faults.push(`${title}: published without media`);
    for (const media of publication?.media ?? []) {
      if (Math.abs((media.duration ?? 0) - duration) > TOLERANCE_MS)
        faults.push(`${title}: ${media.duration} ms instead of ${duration}`);
      const bytes = (await (await fetch(media.url)).arrayBuffer()).byteLength;
      if (bytes !== media.size) faults.push(`${title}: ${bytes} bytes instead of ${media.size}`);
    }
  }
  return faults;
}

/** Why the processing of an event has failed. */
async function reason({ database }: World, eventId: string): Promise<string> {
  const operations = await database
    .selectFrom('workflow_operations')
    .innerJoin('workflows', 'workflows.id', 'workflow_id')
    .select(['operation', 'workflow_operations.state', 'reason', 'attempts', 'losses'])
    .where('event_id', '=', eventId)
    .where('workflow_operations.state', 'not in', ['succeeded', 'skipped'])
    .execute();
  return JSON.stringify(operations[0] ?? 'no operation is open');
}

/** An answer may be lost on its way; what was never sent to its end may be nothing. */
async function noOthers({ database }: World, { uploads }: Trickle): Promise<string[]> {
  const events = await database.selectFrom('events').select(['title', 'processing_state']).execute();
  return events.flatMap(({ title, processing_state }, i) => {
    const upload = uploads.find((each) => each.title === title);
    if (upload?.manner === 'not to its end')
      return [`${title}: an event, though it was never sent to its end`];
    if (events.findIndex((event) => event.title === title) !== i) return [`${title}: more than one event`];
    if (upload?.id === undefined && processing_state !== 'SUCCEEDED')
      return [`${title}: ${processing_state}`];
    return [];
  });
}

const EXPLAINED = new Set([201, 408, 429, 503, 507]);

function unexplained({ uploads }: Trickle): string[] {
  return uploads
    .filter(({ status }) => status !== undefined && !EXPLAINED.has(status))
    .map(({ title, manner, status, sentence }) => `${title}, sent ${manner}: ${status} ${sentence}`);
}

async function nothingAtWork({ dataDir }: World): Promise<string[]> {
  const work = join(dataDir, 'work');
  const look = async () => {
    const tools = processesWith(work).map((pid) => `process ${pid}`);
    const folders = (await readdir(work).catch(() => [])).map((name) => `folder ${name}`);
    return [...tools, ...folders];
  };
  await eventually(
    async () => {
      if ((await look()).length > 0) throw new Error('something is at work');
    },
    CLEARED_MS,
    1_000,
  ).catch(() => undefined);
  return look();
}
