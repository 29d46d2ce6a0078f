import { expect } from 'vitest';
import { addCaptions, createPlain, createRecording, formOf, sent } from './catalogue-scene.ts';
import type { Client } from './client.ts';
import { classify, createUnpublished, type ManyRecordings } from './many-recordings.ts';

const LANES = 3;
/** So many new events take the place of deleted ones: an import does not believe that much vanishes. */
const DELETIONS = 15;

const chosen = <T>(from: readonly T[]): T => {
  const one = from[Math.floor(Math.random() * from.length)];
  if (one === undefined) throw new Error('Nothing is left to change.');
  return one;
};

async function put(client: Client, path: string, fields: Record<string, unknown>): Promise<void> {
  const answer = await client.fetch(path, { ...formOf(fields), method: 'PUT' });
  expect(answer.ok, `PUT ${path} is answered with ${answer.status}: ${await answer.text()}`).toBe(true);
}

const setFields = (client: Client, path: string, type: string, fields: Record<string, unknown>) =>
  put(client, `${path}/metadata?type=${encodeURIComponent(type)}`, {
    metadata: Object.entries(fields).map(([id, value]) => ({ id, value })),
  });

const entries = (n: number) => [
  { allow: true, action: 'read', role: `ROLE_READER_${n}` },
  { allow: true, action: 'write', role: 'ROLE_LECTURER' },
];

async function runWorkflow(client: Client, id: string, workflow: string): Promise<void> {
  const fields = { event_identifier: id, workflow_definition_identifier: workflow };
  await sent(client.fetch('/api/workflows', formOf(fields)), 201);
  expect(await client.processed(id)).toMatchObject({ processing_state: 'SUCCEEDED' });
}

/** What may change in a lane: no other lane touches these events. */
interface Lane {
  client: Client;
  series: readonly string[];
  published: string[];
  scheduled: string[];
  others: string[];
  deletions: number;
}

type Change = (lane: Lane, n: number) => Promise<string>;

const anyEvent = ({ published, scheduled, others }: Lane) => chosen([...published, ...scheduled, ...others]);

const CHANGES: Record<string, [weight: number, Change]> = {
  rename: [
    20,
    changeEvent((client, path, n) => setFields(client, path, 'dublincore/episode', { title: `Neu ${n} <&>` })),
  ],
  describe: [
    10,
    changeEvent((client, path, n) =>
      setFields(client, path, 'dublincore/episode', {
        subjects: [`S ${n}`, 'T, U'],
        description: n % 2 ? '' : `D ${n}`,
      }),
    ),
  ],
  classify: [10, changeEvent(classify)],
  declassify: [
    5,
    changeEvent((client, path) => sentAny(client, `${path}/metadata?type=university%2Fepisode`, 'DELETE')),
  ],
  restrict: [12, changeEvent((client, path, n) => put(client, `${path}/acl`, { acl: n % 7 === 0 ? [] : entries(n) }))],
  move: [
    10,
    async (lane, n) => {
      const id = anyEvent(lane);
      const isPartOf = n % 5 === 0 ? '' : chosen(lane.series);
      await setFields(lane.client, `/api/events/${id}`, 'dublincore/episode', { isPartOf });
      return id;
    },
  ],
  renameSeries: [
    4,
    changeSeries((client, path, n) => setFields(client, path, 'dublincore/series', { title: `Reihe neu ${n}` })),
  ],
  restrictSeries: [4, changeSeries((client, path, n) => put(client, `${path}/acl`, { acl: entries(n) }))],
  propertiesOfSeries: [
    4,
    changeSeries((client, path, n) => put(client, `${path}/properties`, { properties: { [`p${n % 3}`]: `${n}` } })),
  ],
  classifySeries: [3, changeSeries(classify)],
  reschedule: [
    8,
    async ({ client, scheduled }, n) => {
      const id = chosen(scheduled);
      // Each at another time, so that none is in the way of another.
      const start = new Date(Math.floor(Date.now() / 1000) * 1000 + (1000 + n) * 3_600_000);
      const end = new Date(start.getTime() + 1_800_000);
      await put(client, `/api/events/${id}/scheduling`, { scheduling: { start, end } });
      return id;
    },
  ],
  create: [
    6,
    async (lane, n) => {
      const series = n % 3 === 0 ? undefined : chosen(lane.series);
      const id = await (n % 2 === 0 ? createPlain : createUnpublished)(lane.client, n, series);
      lane.others.push(id);
      return id;
    },
  ],
  record: [
    2,
    async (lane, n) => {
      const id = await createRecording(lane.client, n, chosen(lane.series));
      lane.published.push(id);
      return id;
    },
  ],
  caption: [2, changePublished(addCaptions)],
  republish: [3, changePublished((client, id) => runWorkflow(client, id, 'republish-metadata'))],
  publish: [1, changePublished((client, id) => runWorkflow(client, id, 'publish'))],
  retract: [
    1,
    async (lane) => {
      const id = chosen(lane.published);
      await runWorkflow(lane.client, id, 'retract');
      lane.published.splice(lane.published.indexOf(id), 1);
      lane.others.push(id);
      return id;
    },
  ],
  delete: [
    3,
    async (lane) => {
      const of = chosen([lane.published, lane.scheduled, lane.others]);
      const id = chosen(of);
      if (lane.deletions === 0) return id;
      lane.deletions -= 1;
      await sentAny(lane.client, `/api/events/${id}`, 'DELETE');
      of.splice(of.indexOf(id), 1);
      return id;
    },
  ],
};

function changeEvent(change: (client: Client, path: string, n: number) => Promise<unknown>): Change {
  return async (lane, n) => {
    const id = anyEvent(lane);
    await change(lane.client, `/api/events/${id}`, n);
    return id;
  };
}

function changeSeries(change: (client: Client, path: string, n: number) => Promise<unknown>): Change {
  return async ({ client, series }, n) => {
    const id = chosen(series);
    await change(client, `/api/series/${id}`, n);
    return id;
  };
}

function changePublished(change: (client: Client, id: string) => Promise<void>): Change {
  return async ({ client, published }) => {
    const id = chosen(published);
    await change(client, id);
    return id;
  };
}

async function sentAny(client: Client, path: string, method: string): Promise<void> {
  const { status } = await client.fetch(path, { method });
  // A catalog that has no values is not there.
  expect([200, 204, 404], `${method} ${path}`).toContain(status);
}

const RAFFLE = Object.entries(CHANGES).flatMap(([name, [weight]]) => Array.from({ length: weight }, () => name));

/** Changes what `createMany` has created, at random. @returns the changes of each event and series, in order */
export async function changeAtRandom(
  client: Client,
  { series, events }: ManyRecordings,
  count: number,
): Promise<Map<string, string[]>> {
  const of = (...kinds: string[]) => kinds.flatMap((kind) => events.get(kind) ?? []);
  const share = (ids: string[], lane: number) => ids.filter((_, i) => i % LANES === lane);
  const history = new Map<string, string[]>();
  const work = async (number: number) => {
    const lane: Lane = {
      ...{ client, series, deletions: DELETIONS / LANES },
      published: share(of('published', 'captions'), number),
      scheduled: share(of('future'), number),
      others: share(of('plain', 'unpublished', 'failed', 'past'), number),
    };
    for (let n = number; n < count; n += LANES) {
      const name = chosen(RAFFLE);
      const id = await (CHANGES[name] as [number, Change])[1](lane, n);
      history.set(id, [...(history.get(id) ?? []), name]);
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, lane) => work(lane)));
  return history;
}
