import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewChange } from '../../src/changes/change.ts';
import { ChangeFeed } from '../../src/changes/feed.ts';
import { recordChanges } from '../../src/changes/record.ts';
import { Pulse } from '../../src/pulse.ts';
import { UpdateStreams } from '../../src/stream/update-streams.ts';
import { silentLogger } from '../../src/telemetry/log.ts';
import { claimOperation, endClaim, heartbeat } from '../../src/workflows/claims.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { giveAcl } from '../support/event-writes.ts';
import { eventually } from '../support/eventually.ts';
import { insertEvent } from '../support/publication.ts';
import { ace, createSeries, send } from '../support/series.ts';
import { SseReader } from '../support/sse.ts';
import { AT_ONCE, operationsOf, startTestWorkflow } from '../support/workflows.ts';

let app: TestApp;
let reader: { Authorization: string };
const open: SseReader[] = [];
beforeAll(async () => {
  app = await createTestApp(undefined, {}, { streamMs: 600_000 });
  reader = { Authorization: await app.account('reader', 'ROLE_API', 'ROLE_API_EVENTS_VIEW', 'ROLE_READER') };
});
afterAll(async () => {
  for (const each of open) each.close();
  await app.close();
});

async function follow(path: string, headers: Record<string, string> = {}): Promise<SseReader> {
  const opened = await SseReader.open((signal) =>
    app.request(path, { headers: { Accept: 'text/event-stream', ...headers }, signal }),
  );
  open.push(opened);
  return opened;
}

const since = (number: number) => ({ 'Last-Event-ID': String(number) });

const record = (change: NewChange) =>
  app.database.transaction().execute((trx) => recordChanges(trx, [change]));

/** Works off the operations of a workflow, with a heartbeat in each. */
async function work(workflowId: number): Promise<void> {
  for (;;) {
    const ready = (await operationsOf(app.database, workflowId)).find(({ state }) => state === 'ready');
    const claim = ready && (await claimOperation(app.database, ready.id, 'worker-a', AT_ONCE));
    if (!claim) return;
    await heartbeat(app.database, claim, 0.42);
    const { operationId, token } = claim;
    await endClaim(app.database, claim, { kind: 'succeeded', operationId, token }, AT_ONCE);
  }
}

/** What a message says, without what differs each time. */
const words = ({ kind, data }: { kind: string; data: Record<string, unknown> }) =>
  [kind, data.state, data.operation, data.operation_state ?? data.progress].filter(
    (word) => word !== undefined,
  );

const COURSE = [
  ['workflow.state', 'INSTANTIATED'],
  ['workflow.state', 'RUNNING'],
  ['operation.state', 'RUNNING', 'noop', 'running'],
  ['operation.progress', 'RUNNING', 'noop', 0.42],
  ['operation.state', 'RUNNING', 'noop', 'succeeded'],
  ['workflow.state', 'SUCCEEDED'],
];

describe('GET /api/events/{id}/updates', () => {
  test('tells first how the processing is, and then what happens, in order', async () => {
    const { eventId, workflowId } = await startTestWorkflow(app.database);
    const stream = await follow(`/api/events/${eventId}/updates`);
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
    const { eventId, workflowId } = await startTestWorkflow(app.database);
    const before = await follow(`/api/events/${eventId}/updates`, since(0));
    await eventually(() => expect(before.messages.map(words)).toEqual(COURSE.slice(0, 1)));
    before.close();
    await work(workflowId);
    const resumed = await follow(`/api/events/${eventId}/updates`, since(before.lastId));
    await eventually(() => expect(resumed.messages.map(words)).toEqual(COURSE.slice(1)));
    const all = await follow(`/api/events/${eventId}/updates`, since(0));
    await eventually(() => expect(all.messages.map(words)).toEqual(COURSE));
    expect(all.messages).toEqual([...before.messages, ...resumed.messages]);
  });

  test('loses and doubles nothing however often the client comes back', async () => {
    const eventId = await insertEvent(app.database);
    const seen: unknown[] = [];
    let last = 0;
    let writing = true;
    const writer = (async () => {
      for (let n = 0; n < 200; n += 1) {
        const change = { kind: 'event.changed', eventId, data: { n } } as const;
        await app.database.transaction().execute((trx) => recordChanges(trx, [change]));
      }
      writing = false;
    })();
    while (writing || seen.length < 200) {
      const stream = await follow(`/api/events/${eventId}/updates`, since(last));
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
      stream.close();
      seen.push(...stream.messages.map(({ data }) => data.n));
      last = stream.lastId || last;
    }
    await writer;
    expect(seen).toEqual(Array.from({ length: 200 }, (_, n) => n));
  });

  test('is 404 for an event that the account may not read, and 400 for a number that is none', async () => {
    const eventId = await insertEvent(app.database);
    const hidden = await app.request(`/api/events/${eventId}/updates`, { headers: reader });
    expect([hidden.status, await hidden.text()]).toEqual([404, `Cannot find an event with id '${eventId}'.`]);
    const odd = await app.request(`/api/events/${eventId}/updates`, { headers: since(-1) });
    expect([odd.status, await odd.text()]).toEqual([
      400,
      'The header \'Last-Event-ID\' is "-1"; allowed is the id of a message, or 0 for the beginning.',
    ]);
  });

  test('respects the access control list at each message', async () => {
    const eventId = await insertEvent(app.database);
    await giveAcl(app, eventId, [ace('ROLE_READER')]);
    const stream = await follow(`/api/events/${eventId}/updates`, reader);
    const tell = (n: number) =>
      app.database
        .transaction()
        .execute((trx) => recordChanges(trx, [{ kind: 'event.changed', eventId, data: { n } }]));
    await tell(1);
    await eventually(() => expect(stream.messages.map(({ data }) => data.n)).toEqual([1]));
    await giveAcl(app, eventId, [ace('ROLE_OTHER')]);
    const admin = await follow(`/api/events/${eventId}/updates`);
    await tell(2);
    await eventually(() => expect(admin.messages.map(({ data }) => data.n)).toEqual([2]));
    await giveAcl(app, eventId, [ace('ROLE_READER')]);
    await tell(3);
    await eventually(() => expect(stream.messages.map(({ data }) => data.n)).toEqual([1, 3]));
  });

  test('tells that the event is deleted to those who could read it, and ends', async () => {
    const eventId = await insertEvent(app.database);
    await giveAcl(app, eventId, [ace('ROLE_READER')]);
    const stream = await follow(`/api/events/${eventId}/updates`, reader);
    expect((await send(app, 'DELETE', `/api/events/${eventId}`)).status).toBe(204);
    await eventually(() => expect(stream.ended).toBe(true));
    expect(stream.messages).toMatchObject([{ kind: 'event.deleted', data: { event: eventId } }]);
  });

  test('tells nothing of an earlier event with the identifier, and does not end where that ended', async () => {
    const eventId = await insertEvent(app.database);
    const tell = (what: string) => record({ kind: 'event.changed', eventId, data: { what } });
    await giveAcl(app, eventId, [ace('ROLE_OTHER')]);
    await tell('a secret');
    await send(app, 'DELETE', `/api/events/${eventId}`);
    await insertEvent(app.database, { id: eventId });
    await giveAcl(app, eventId, [ace('ROLE_READER')]);
    await tell('nothing');
    const whats = (stream: SseReader) => stream.messages.map(({ kind, data }) => data.what ?? kind);
    const newer = await follow(`/api/events/${eventId}/updates`, { ...reader, ...since(0) });
    const both = await follow(`/api/events/${eventId}/updates`, since(0));
    const all = await follow(`/api/updates?filter=event:${eventId}`, { ...reader, ...since(0) });
    for (const stream of [newer, all]) await eventually(() => expect(whats(stream)).toEqual(['nothing']));
    await eventually(() => expect(whats(both)).toEqual(['a secret', 'event.deleted', 'nothing']));
    await tell('more');
    for (const stream of [newer, all]) {
      await eventually(() => expect(whats(stream)).toEqual(['nothing', 'more']));
    }
    await eventually(() => expect(whats(both)).toEqual(['a secret', 'event.deleted', 'nothing', 'more']));
    expect([newer.ended, both.ended]).toEqual([false, false]);
  });

  test('ends after the past of an event that is deleted while it is told', async () => {
    const eventId = await insertEvent(app.database);
    await record({ kind: 'event.changed', eventId });
    await send(app, 'DELETE', `/api/events/${eventId}`);
    const streams = app.context.streams;
    await streams.start();
    const principal = { isAdmin: () => true, hasRole: () => true } as never;
    const body = streams.open({
      principal,
      eventId,
      after: 0,
      wants: () => true,
      first: { kind: 'first', data: {} },
    });
    const text = await new Response(body).text();
    expect([...text.matchAll(/^event: (.*)$/gm)].map(([, kind]) => kind)).toEqual([
      'first',
      'event.changed',
      'event.deleted',
    ]);
  });
});

describe('GET /api/updates', () => {
  test('tells nothing of an earlier series with the identifier', async () => {
    const identifier = 'reused-series';
    const acl = (role: string) => [ace(role)];
    const titles = (stream: SseReader) =>
      stream.messages.map(({ kind, data }) => data.title ?? data.what ?? kind);
    const change = (what: string) => record({ kind: 'series.changed', seriesId: identifier, data: { what } });
    await createSeries(app, { identifier, title: 'Secret' }, acl('ROLE_OTHER'));
    await change('a secret');
    await send(app, 'DELETE', `/api/series/${identifier}`);
    await createSeries(app, { identifier, title: 'Open' }, acl('ROLE_READER'));
    await change('nothing');
    const stream = await follow(`/api/updates?filter=series:${identifier}`, { ...reader, ...since(0) });
    await eventually(() => expect(titles(stream)).toEqual(['series.created', 'nothing']));
    const all = await follow(`/api/updates?filter=series:${identifier}`, since(0));
    await eventually(() =>
      expect(titles(all)).toEqual(['series.created', 'a secret', 'Secret', 'series.created', 'nothing']),
    );
  });

  test('tells of all that the account may read, and of what a filter wants', async () => {
    const readable = await startTestWorkflow(app.database);
    const hidden = await startTestWorkflow(app.database);
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
    expect(events(streams.reader)).toEqual([readable.eventId]);
    expect(streams.reader.messages.map(words)).toEqual(COURSE.slice(1));
    expect(streams.ended.messages.map(words)).toEqual([COURSE.at(-1), COURSE.at(-1)]);
    expect(streams.other.messages.map(words)).toEqual([COURSE[3]]);
  });

  test('tells nothing of the past to who may no longer read it, and all to who may by now', async () => {
    const live = await follow('/api/updates');
    const [closed, opened] = [await insertEvent(app.database), await insertEvent(app.database)];
    await giveAcl(app, closed, [ace('ROLE_READER')]);
    await app.database.transaction().execute((trx) =>
      recordChanges(
        trx,
        [closed, opened].map((eventId) => ({ kind: 'event.changed', eventId, data: { told: 'once' } })),
      ),
    );
    const past = () => live.messages.filter(({ data }) => data.told === 'once');
    await eventually(() => expect(past()).toHaveLength(2));
    await giveAcl(app, closed, []);
    await giveAcl(app, opened, [ace('ROLE_READER')]);
    const late = await follow('/api/updates', { ...reader, ...since((past()[0]?.id ?? 1) - 1) });
    await eventually(() => expect(late.messages.map(({ data }) => data.event)).toContain(opened));
    expect(late.messages.filter(({ data }) => data.event === closed)).toEqual([]);
  });

  test('tells of the events of a series, also of what was not told yet when one was deleted', async () => {
    const other = await insertEvent(app.database, { series_id: 'another' });
    const { eventId, workflowId } = await startTestWorkflow(app.database);
    await app.database.updateTable('events').set({ series_id: 'one' }).where('id', '=', eventId).execute();
    const live = await follow('/api/updates?filter=series:one');
    await work(workflowId);
    for (const id of [eventId, other])
      expect((await send(app, 'DELETE', `/api/events/${id}`)).status).toBe(204);
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

  test('refuses a filter that it does not know, and a kind that there is none of', async () => {
    const ask = async (filter: string) => {
      const answer = await app.request(`/api/updates?filter=${filter}`);
      return [answer.status, await answer.text()];
    };
    expect(await ask('colour:red')).toEqual([400, 'Unknown filter criterion in request: colour']);
    const [status, text] = await ask('kind:event.painted');
    expect(status).toBe(400);
    expect(text).toMatch(/^The filter 'kind' is "event.painted"; allowed are agent, agent.deleted, /);
  });

  test('is asked for by its own media type, which nothing else is answered with', async () => {
    const headers = { Accept: 'text/event-stream' };
    const answer = await app.request('/api/updates', { headers, method: 'HEAD' });
    expect([answer.status, answer.headers.get('Content-Type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    expect((await app.request('/api/events', { headers })).status).toBe(406);
    expect((await app.anonymous('/api/updates', { headers })).status).toBe(401);
  });
});

describe('streams', () => {
  const parts = () => ({
    feed: new ChangeFeed({
      database: app.database,
      notifications: app.context.notifications,
      pulse: new Pulse(),
      log: silentLogger,
    }),
    database: app.database,
  });
  const everything = () => ({ principal: ADMINISTRATOR, wants: () => true });
  const ADMINISTRATOR = { isAdmin: () => true, hasRole: () => true } as never;

  test('have a heartbeat, and end after a time so that rights are asked for again', async () => {
    const streams = new UpdateStreams(parts(), { heartbeatMs: 20, lifetimeMs: 3_000 });
    await streams.start();
    const body = streams.open({ ...everything(), after: await streams.begin(undefined) });
    const text = await new Response(body).text();
    expect(text).toMatch(/^retry: 2000\n\n(:\n\n){3,}$/);
    expect(streams.count).toBe(0);
    await streams.close();
  });

  test('end for a client that takes nothing, before they fill the memory', async () => {
    const streams = new UpdateStreams(parts());
    await streams.start();
    streams.open({ ...everything(), after: await streams.begin(undefined) });
    const data = { text: 'x'.repeat(10_000) };
    const change = { kind: 'series.changed', seriesId: 'series', data } as const;
    for (let i = 0; i < 50; i += 1)
      await app.database.transaction().execute((trx) => recordChanges(trx, [change]));
    await eventually(() => expect(streams.count).toBe(0));
    await streams.close();
  });

  test('a client that was away for a moment is told of all that the process still knows, as it takes it', async () => {
    const { feed, database } = parts();
    const streams = new UpdateStreams({ feed, database });
    await streams.start();
    const after = await streams.begin(undefined);
    const change = { kind: 'series.changed', seriesId: 'away', data: { text: 'x'.repeat(300) } } as const;
    for (let i = 0; i < 4; i += 1) {
      await app.database.transaction().execute((trx) =>
        recordChanges(
          trx,
          Array.from({ length: 500 }, () => change),
        ),
      );
    }
    await eventually(() => expect(feed.position).toBe(after + 2_000));
    const body = streams.open({ ...everything(), after });
    await sleep(300);
    expect(streams.count).toBe(1);
    const seen = await SseReader.open(async () => new Response(body));
    await eventually(() => expect(seen.messages).toHaveLength(2_000));
    expect(seen.messages.map(({ id }) => id)).toEqual(Array.from({ length: 2_000 }, (_, i) => after + 1 + i));
    expect(streams.count).toBe(1);
    seen.close();
    await eventually(() => expect(streams.count).toBe(0));
    await streams.close();
  });

  test('a client that comes back after long is told of thousands of changes, as it takes them', async () => {
    const change = { kind: 'series.changed', seriesId: 'many', data: {} } as const;
    await app.database.transaction().execute((trx) =>
      recordChanges(
        trx,
        Array.from({ length: 4_500 }, () => change),
      ),
    );
    const stream = await follow('/api/updates?filter=series:many', since(0));
    await eventually(() => expect(stream.messages).toHaveLength(4_500));
    const ids = stream.messages.map((message) => message.id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
