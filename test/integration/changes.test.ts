import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import type { NewChange } from '#changes/change.ts';
import { ChangeFeed } from '#changes/change-feed.ts';
import { lastNumber, numberChanges, readChanges } from '#changes/read-changes.ts';
import { recordChanges } from '#changes/record-changes.ts';
import { UpdateStreams } from '#notifications/stream/update-streams.ts';
import { silentLogger } from '#platform/telemetry/log.ts';
import { LoopMonitor } from '#platform/telemetry/pulse.ts';
import { claimOperation, endClaim, heartbeat } from '#processing/operation-claims.ts';
import { ownApp } from '../support/app.ts';
import { giveAcl } from '../support/event-writes.ts';
import { eventually } from '../support/eventually.ts';
import { insertEvent } from '../support/publication.ts';
import { ace, createSeries, send } from '../support/series.ts';
import { SseReader } from '../support/sse.ts';
import { AT_ONCE, operationsOf, startTestWorkflow } from '../support/workflows.ts';

// Streams last as long as they are read; and whole lists of changes are compared.
const app = await ownApp(undefined, {}, { streamMs: 600_000 });
const { database } = app;
const open: SseReader[] = [];
afterAll(() => {
  for (const each of open) each.close();
});

const record = (...changes: NewChange[]) => database.transaction().execute((trx) => recordChanges(trx, changes));
const feedOf = (pulse = new LoopMonitor()) =>
  new ChangeFeed({ database, notifications: app.context.notifications, pulse, log: silentLogger });
const count = (length: number, from = 0) => Array.from({ length }, (_, i) => from + i);

describe('the log of changes', () => {
  const write = (n: number) => record({ kind: 'series.changed', seriesId: 'series', data: { n } });
  const readAfter = async (after: number) => {
    await numberChanges(database);
    return readChanges(database, after);
  };
  const facts = (changes: readonly { data: Readonly<Record<string, unknown>> }[]) => changes.map(({ data }) => data.n);

  test('a transaction that commits late comes late, after what has been read, and is not skipped', async () => {
    await numberChanges(database);
    const start = await lastNumber(database);
    const [written, wanted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = database.transaction().execute(async (trx) => {
      await recordChanges(trx, [{ kind: 'series.changed', seriesId: 'slow', data: { n: 1 } }]);
      written.resolve();
      await wanted.promise;
    });
    await written.promise;
    await write(2);
    const first = await readAfter(start);
    expect(facts(first)).toEqual([2]);
    wanted.resolve();
    await slow;
    const cursor = first.at(-1)?.number ?? 0;
    const second = await readAfter(cursor);
    expect(second).toMatchObject([{ data: { n: 1 }, number: cursor + 1 }]);
  });

  test('what is rolled back is never told, and leaves no gap', async () => {
    const start = await lastNumber(database);
    await write(1);
    const failed = database.transaction().execute(async (trx) => {
      await recordChanges(trx, [{ kind: 'series.changed', seriesId: 'series', data: { n: 2 } }]);
      throw new Error('rolled back');
    });
    await expect(failed).rejects.toThrow('rolled back');
    await write(3);
    const changes = await readAfter(start);
    expect(facts(changes)).toEqual([1, 3]);
    expect(changes.map(({ number }) => number)).toEqual([start + 1, start + 2]);
  });

  test('readers that go on all the time lose and double nothing that forty writers commit at once', async () => {
    const each = 8;
    const start = await lastNumber(database);
    const writers = count(40).map(async (writer) => {
      for (let n = 0; n < each; n += 1) {
        await database.transaction().execute(async (trx) => {
          await recordChanges(trx, [{ kind: 'series.changed', seriesId: `w${writer}`, data: { n } }]);
          await sql`SELECT pg_sleep(random() * 0.01)`.execute(trx);
        });
      }
    });
    let writing = true;
    const reader = async () => {
      const seen: { number: number; seriesId: string | null; n: unknown }[] = [];
      const read = async () => {
        const changes = await readAfter(seen.at(-1)?.number ?? start);
        seen.push(...changes.map(({ number, seriesId, data }) => ({ number, seriesId, n: data.n })));
      };
      while (writing) await read();
      await read();
      return seen;
    };
    const readers = [reader(), reader(), reader()];
    await Promise.all(writers);
    writing = false;
    for (const seen of await Promise.all(readers)) {
      expect(seen.map(({ number }) => number)).toEqual(count(40 * each, start + 1));
      for (let writer = 0; writer < 40; writer += 1) {
        const own = seen.filter(({ seriesId }) => seriesId === `w${writer}`).map(({ n }) => n);
        expect(own).toEqual(count(each));
      }
    }
  });

  test('a feed tells followers of each change once and in order, also what was committed before it listened', async () => {
    const pulse = new LoopMonitor();
    const feed = feedOf(pulse);
    try {
      const seen: unknown[] = [];
      await feed.start();
      expect(pulse.rounds.map(({ name }) => name)).toEqual(['reading of changes']);
      feed.follow((changes) => seen.push(...facts(changes)));
      for (const n of count(50)) await write(n);
      await eventually(() => expect(seen).toEqual(count(50)));
      expect(facts(feed.recentAfter(feed.position - 2) ?? [])).toEqual([48, 49]);
      expect(feed.recentAfter(feed.position - 51)).toBeUndefined();
    } finally {
      await feed.close();
    }
  });
});

const reader = {
  Authorization: await app.account('reader', 'ROLE_API', 'ROLE_API_EVENTS_VIEW', 'ROLE_READER'),
};
const since = (number: number) => ({ 'Last-Event-ID': String(number) });

async function follow(path: string, headers: Record<string, string> = {}): Promise<SseReader> {
  const opened = await SseReader.open((signal) =>
    app.request(path, { headers: { Accept: 'text/event-stream', ...headers }, signal }),
  );
  open.push(opened);
  return opened;
}

/** Waits for all that a stream tells, by one fact of each message. */
const expectOf = (
  stream: SseReader,
  fact: (message: SseReader['messages'][number]) => unknown,
  expected: readonly unknown[],
) => eventually(() => expect(stream.messages.map(fact)).toEqual(expected));

/** Works off the operations of a workflow, with a heartbeat in each. */
async function work(workflowId: number): Promise<void> {
  for (;;) {
    const ready = (await operationsOf(database, workflowId)).find(({ state }) => state === 'ready');
    const claim = ready && (await claimOperation(database, ready.id, 'worker-a', AT_ONCE));
    if (!claim) return;
    await heartbeat(database, claim, 0.42);
    const { operationId, token } = claim;
    await endClaim(database, claim, { kind: 'succeeded', operationId, token }, AT_ONCE);
  }
}

/** What a message says, without what differs each time. */
const words = ({ kind, data }: SseReader['messages'][number]) =>
  [kind, data.state, data.operation, data.operation_state ?? data.progress].filter((word) => word !== undefined);
const n = ({ data }: SseReader['messages'][number]) => data.n;

const COURSE = [
  ['workflow.state', 'INSTANTIATED'],
  ['workflow.state', 'RUNNING'],
  ['operation.state', 'RUNNING', 'noop', 'running'],
  ['operation.progress', 'RUNNING', 'noop', 0.42],
  ['operation.state', 'RUNNING', 'noop', 'succeeded'],
  ['workflow.state', 'SUCCEEDED'],
];

describe('GET /api/events/{id}/updates', () => {
  const updates = (eventId: string) => `/api/events/${eventId}/updates`;
  const change = (eventId: string, number: number) => record({ kind: 'event.changed', eventId, data: { n: number } });

  test('tells first how the processing is, and then what happens, in order', async () => {
    const { eventId, workflowId } = await startTestWorkflow(database);
    const stream = await follow(updates(eventId));
    await eventually(() => expect(stream.messages).toHaveLength(1));
    expect(stream.messages[0]).toMatchObject({
      kind: 'workflow.state',
      data: { event: eventId, workflow: workflowId, state: 'INSTANTIATED', operation: 'noop', progress: 0 },
    });
    await work(workflowId);
    await eventually(() => expect(stream.messages.slice(1).map(words)).toEqual(COURSE.slice(1)));
    const ids = stream.messages.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(new Set(ids).size).toBe(ids.length);
    expect(stream.raw.startsWith('retry: 2000\n\n')).toBe(true);
  });

  test('goes on where a client left off, and from the beginning of the log with 0', async () => {
    const { eventId, workflowId } = await startTestWorkflow(database);
    const before = await follow(updates(eventId), since(0));
    await expectOf(before, words, COURSE.slice(0, 1));
    before.close();
    await work(workflowId);
    const resumed = await follow(updates(eventId), since(before.lastId));
    await expectOf(resumed, words, COURSE.slice(1));
    const all = await follow(updates(eventId), since(0));
    await expectOf(all, words, COURSE);
    expect(all.messages).toEqual([...before.messages, ...resumed.messages]);
  });

  test('loses and doubles nothing however often the client comes back', async () => {
    const eventId = await insertEvent(database);
    const seen: unknown[] = [];
    let last = 0;
    let writing = true;
    const writer = (async () => {
      for (const number of count(60)) await change(eventId, number);
      writing = false;
    })();
    while (writing || seen.length < 60) {
      const stream = await follow(updates(eventId), since(last));
      await sleep(Math.random() * 40);
      stream.close();
      seen.push(...stream.messages.map(n));
      last = stream.lastId || last;
    }
    await writer;
    expect(seen).toEqual(count(60));
  });

  test('is 404 for an event that the account may not read, and 400 for a number that is none', async () => {
    const eventId = await insertEvent(database);
    const ask = (headers: Record<string, string>) => send(app, 'GET', updates(eventId), undefined, headers);
    const unknown = `Cannot find an event with id '${eventId}'.`;
    expect(await ask(reader)).toMatchObject({ status: 404, text: unknown });
    const text = `The header 'Last-Event-ID' is "-1"; it must be the id of a message, or 0 for the beginning.`;
    expect(await ask(since(-1))).toMatchObject({ status: 400, text });
  });

  test('respects the access control list at each message', async () => {
    const eventId = await insertEvent(database);
    await giveAcl(app, eventId, [ace('ROLE_READER')]);
    const stream = await follow(updates(eventId), reader);
    await change(eventId, 1);
    await expectOf(stream, n, [1]);
    await giveAcl(app, eventId, [ace('ROLE_OTHER')]);
    const admin = await follow(updates(eventId));
    await change(eventId, 2);
    await expectOf(admin, n, [2]);
    await giveAcl(app, eventId, [ace('ROLE_READER')]);
    await change(eventId, 3);
    await expectOf(stream, n, [1, 3]);
  });

  test('tells that the event is deleted to those who could read it, and ends', async () => {
    const eventId = await insertEvent(database);
    await giveAcl(app, eventId, [ace('ROLE_READER')]);
    const stream = await follow(updates(eventId), reader);
    expect((await send(app, 'DELETE', `/api/events/${eventId}`)).status).toBe(204);
    await eventually(() => expect(stream.ended).toBe(true));
    expect(stream.messages).toMatchObject([{ kind: 'event.deleted', data: { event: eventId } }]);
  });

  test('tells nothing of an earlier event with the identifier, and does not end where that ended', async () => {
    const eventId = await insertEvent(database);
    const tell = (what: string) => record({ kind: 'event.changed', eventId, data: { what } });
    await giveAcl(app, eventId, [ace('ROLE_OTHER')]);
    await tell('a secret');
    await send(app, 'DELETE', `/api/events/${eventId}`);
    await insertEvent(database, { id: eventId });
    await giveAcl(app, eventId, [ace('ROLE_READER')]);
    await tell('nothing');
    const newer = await follow(updates(eventId), { ...reader, ...since(0) });
    const both = await follow(updates(eventId), since(0));
    const all = await follow(`/api/updates?filter=event:${eventId}`, { ...reader, ...since(0) });
    const expectWhats = async (whats: string[]) => {
      const what = ({ kind, data }: SseReader['messages'][number]) => data.what ?? kind;
      for (const stream of [newer, all]) await expectOf(stream, what, whats);
      await expectOf(both, what, ['a secret', 'event.deleted', ...whats]);
    };
    await expectWhats(['nothing']);
    await tell('more');
    await expectWhats(['nothing', 'more']);
    expect([newer.ended, both.ended]).toEqual([false, false]);
  });

  test('ends after the past of an event that is deleted while it is told', async () => {
    const eventId = await insertEvent(database);
    await record({ kind: 'event.changed', eventId });
    await send(app, 'DELETE', `/api/events/${eventId}`);
    const { streams } = app.context;
    await streams.start();
    const first = { kind: 'first', data: {} };
    const body = streams.open({ principal: ADMINISTRATOR, eventId, after: 0, wants: () => true, first });
    const told = (await new Response(body).text()).matchAll(/^event: (.*)$/gm);
    expect([...told].map(([, kind]) => kind)).toEqual(['first', 'event.changed', 'event.deleted']);
  });
});

describe('GET /api/updates', () => {
  test('tells nothing of an earlier series with the identifier', async () => {
    const identifier = 'reused-series';
    const tell = (what: string) => record({ kind: 'series.changed', seriesId: identifier, data: { what } });
    await createSeries(app, { identifier, title: 'Secret' }, [ace('ROLE_OTHER')]);
    await tell('a secret');
    await send(app, 'DELETE', `/api/series/${identifier}`);
    await createSeries(app, { identifier, title: 'Open' }, [ace('ROLE_READER')]);
    await tell('nothing');
    const path = `/api/updates?filter=series:${identifier}`;
    const title = ({ kind, data }: SseReader['messages'][number]) => data.title ?? data.what ?? kind;
    const [newer, all] = [await follow(path, { ...reader, ...since(0) }), await follow(path, since(0))];
    await expectOf(newer, title, ['series.created', 'nothing']);
    await expectOf(all, title, ['series.created', 'a secret', 'Secret', 'series.created', 'nothing']);
  });

  test('tells of all that the account may read, and of what a filter wants', async () => {
    const readable = await startTestWorkflow(database);
    const hidden = await startTestWorkflow(database);
    await giveAcl(app, readable.eventId, [ace('ROLE_READER')]);
    const streams = {
      admin: await follow('/api/updates'),
      reader: await follow('/api/updates', reader),
      ended: await follow('/api/updates?filter=kind:workflow,state:succeeded'),
      other: await follow(`/api/updates?filter=event:${hidden.eventId},kind:operation.progress`),
    };
    await work(readable.workflowId);
    await work(hidden.workflowId);
    const events = (stream: SseReader) => [...new Set(stream.messages.map(({ data }) => data.event))];
    await eventually(() => expect(streams.admin.messages).toHaveLength(10));
    expect(events(streams.admin)).toEqual([readable.eventId, hidden.eventId]);
    await expectOf(streams.reader, words, COURSE.slice(1));
    expect(events(streams.reader)).toEqual([readable.eventId]);
    await expectOf(streams.ended, words, [COURSE.at(-1), COURSE.at(-1)]);
    await expectOf(streams.other, words, [COURSE[3]]);
  });

  test('tells nothing of the past to who may no longer read it, and all to who may by now', async () => {
    const live = await follow('/api/updates');
    const [closed, opened] = [await insertEvent(database), await insertEvent(database)];
    await giveAcl(app, closed, [ace('ROLE_READER')]);
    const kind = 'event.changed';
    await record(...[closed, opened].map((eventId) => ({ kind, eventId, data: { told: 'once' } }) as const));
    const past = () => live.messages.filter(({ data }) => data.told === 'once');
    await eventually(() => expect(past()).toHaveLength(2));
    await giveAcl(app, closed, []);
    await giveAcl(app, opened, [ace('ROLE_READER')]);
    const late = await follow('/api/updates', { ...reader, ...since((past()[0]?.id ?? 1) - 1) });
    await eventually(() => expect(late.messages.map(({ data }) => data.event)).toContain(opened));
    expect(late.messages.filter(({ data }) => data.event === closed)).toEqual([]);
  });

  test('tells of the events of a series, also of what was not told yet when one was deleted', async () => {
    const other = await insertEvent(database, { series_id: 'another' });
    const { eventId, workflowId } = await startTestWorkflow(database);
    await database.updateTable('events').set({ series_id: 'one' }).where('id', '=', eventId).execute();
    const live = await follow('/api/updates?filter=series:one');
    await work(workflowId);
    for (const id of [eventId, other]) expect((await send(app, 'DELETE', `/api/events/${id}`)).status).toBe(204);
    await eventually(() => expect(live.messages.at(-1)?.kind).toBe('event.deleted'));
    const late = await follow('/api/updates?filter=series:one', since(0));
    await eventually(() => expect(late.messages).toHaveLength(live.messages.length));
    expect(late.messages).toEqual(live.messages);
    expect(late.messages.map(words).slice(0, -1)).toEqual(COURSE.slice(1));
    for (const { data } of late.messages) {
      expect(data.event).toBe(eventId);
      expect(data).not.toHaveProperty('series');
    }
  });

  test.each([
    ['colour:red', /^Unknown filter criterion in request: colour$/],
    ['kind:event.painted', /^The filter 'kind' is "event.painted"; allowed values: agent, agent.deleted, /],
  ])('refuses the filter %s', async (filter, reason) => {
    const { status, text } = await send(app, 'GET', `/api/updates?filter=${filter}`);
    expect([status, text]).toEqual([400, expect.stringMatching(reason)]);
  });

  test('is asked for by its own media type, which nothing else is answered with', async () => {
    const headers = { Accept: 'text/event-stream' };
    const { status, type } = await send(app, 'HEAD', '/api/updates', undefined, headers);
    expect([status, type]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect((await app.request('/api/events', { headers })).status).toBe(406);
    expect((await app.anonymous('/api/updates', { headers })).status).toBe(401);
  });
});

const ADMINISTRATOR = { isAdmin: () => true, hasRole: () => true } as never;

describe('streams', () => {
  const everything = { principal: ADMINISTRATOR, wants: () => true };
  const change = (seriesId: string, length: number) =>
    ({ kind: 'series.changed', seriesId, data: { text: 'x'.repeat(length) } }) as const;

  async function openOne(options?: ConstructorParameters<typeof UpdateStreams>[1]) {
    const streams = new UpdateStreams({ feed: feedOf(), database }, options);
    await streams.start();
    return { streams, body: streams.open({ ...everything, after: await streams.begin(undefined) }) };
  }

  test('have a heartbeat', async () => {
    const { streams, body } = await openOne({ heartbeatMs: 20 });
    const stream = await SseReader.open(async () => new Response(body));
    await eventually(() => expect(stream.raw).toMatch(/^retry: 2000\n\n(:\n\n){3,}$/));
    await streams.close();
  });

  test('end after a time so that rights are asked for again', async () => {
    const { streams, body } = await openOne({ heartbeatMs: 20, lifetimeMs: 60 });
    expect(await new Response(body).text()).toMatch(/^retry: 2000\n\n(:\n\n)*$/);
    expect(streams.count).toBe(0);
    await streams.close();
  });

  test('end for a client that takes nothing, before they fill the memory', async () => {
    const { streams } = await openOne();
    for (let i = 0; i < 50; i += 1) await record(change('series', 10_000));
    await eventually(() => expect(streams.count).toBe(0));
    await streams.close();
  });

  test('a client that was away for a moment is told of all that the process still knows, as it takes it', async () => {
    const feed = feedOf();
    const streams = new UpdateStreams({ feed, database });
    await streams.start();
    const after = await streams.begin(undefined);
    await record(...count(2_000).map(() => change('away', 300)));
    await eventually(() => expect(feed.position).toBe(after + 2_000));
    const body = streams.open({ ...everything, after });
    await sleep(300);
    expect(streams.count).toBe(1);
    const seen = await SseReader.open(async () => new Response(body));
    await eventually(() => expect(seen.messages).toHaveLength(2_000));
    expect(seen.messages.map(({ id }) => id)).toEqual(count(2_000, after + 1));
    expect(streams.count).toBe(1);
    seen.close();
    await eventually(() => expect(streams.count).toBe(0));
    await streams.close();
  });

  test('a client that comes back after long is told of thousands of changes, as it takes them', async () => {
    await record(...count(4_500).map(() => change('many', 0)));
    const stream = await follow('/api/updates?filter=series:many', since(0));
    await eventually(() => expect(stream.messages).toHaveLength(4_500));
    expect(new Set(stream.messages.map(({ id }) => id)).size).toBe(4_500);
  });
});
