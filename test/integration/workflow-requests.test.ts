import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { advance } from '#processing/advance-workflow.ts';
import { parseDefinition } from '#processing/load-definitions.ts';
import { type Claim, claimOperation, endClaim, heartbeat } from '#processing/operation-claims.ts';
import { startWorkflow } from '#processing/start-workflow.ts';
import type { Ending } from '#processing/workflow-change.ts';
import { WORKFLOW_MOVES } from '#processing/workflow-states.ts';
import { channelsOf } from '#publications/publish.ts';
import { replacePrepared } from '#workers/operations/prepared-elements.ts';
import { ownApp } from '../support/app.ts';
import { field, file, form } from '../support/form.ts';
import { readPage } from '../support/lists.ts';
import { untilOneWaits } from '../support/lock-waits.ts';
import { insertElement, insertEvent, insertPublication } from '../support/publication.ts';
import { send } from '../support/series.ts';
import { AT_ONCE, operationsOf, processingState } from '../support/workflows.ts';

const OWN = `
id: review
aliases: [look-at-it]
title: A review
tags: [upload, own]
display_order: 1000
configuration_panel: <label>Really <input type="checkbox" id="really"></label>
configuration_panel_json:
  - fieldset: [{name: really, type: checkbox}]
configuration:
  really: false
operations:
  - operation: inspect
    if: really
    retries: 0
on_failure:
  - operation: noop
    description: Telling somebody
`;

const folder = await mkdtemp(join(tmpdir(), 'inlet-definitions-'));
afterAll(() => rm(folder, { recursive: true }));
await writeFile(join(folder, 'review.yaml'), OWN);
const app = await ownApp(undefined, { WORKFLOWS_DIR: folder });
const { database } = app;

const DETAILS = '?withoperations=true&withconfiguration=true';
/** Creates a workflow. */
const post = (fields: Record<string, string>) => send(app, 'POST', `/api/workflows${DETAILS}`, fields);

interface Definition {
  operations: (string | object)[];
  on_failure?: (string | object)[];
  configuration?: Record<string, unknown>;
}

/** What it takes to start a workflow of an event with this definition. */
function factsOf(eventId: string, { operations, on_failure = [], configuration = {} }: Definition) {
  const named = (operation: string | object) => (typeof operation === 'string' ? { operation } : operation);
  const text = { id: 'own', title: 'Own', configuration };
  const source = { ...text, operations: operations.map(named), on_failure: on_failure.map(named) };
  const definition = parseDefinition('own.yaml', JSON.stringify(source));
  return { eventId, definition, configuration: {}, creator: 'ada', requestId: 'request' };
}

/** Starts a workflow of a new event, or of this one, to be worked off by hand. */
async function start(definition: Definition, ofEvent?: string) {
  const event = ofEvent ?? (await insertEvent(database));
  const id = await database.transaction().execute((trx) => startWorkflow(trx, factsOf(event, definition)));
  const claim = async (): Promise<Claim> => {
    const ready = (await operationsOf(database, id)).find(({ state }) => state === 'ready');
    const claimed = await claimOperation(database, ready?.id ?? 0, 'worker-a', AT_ONCE);
    if (!claimed) throw new Error('No operation was ready.');
    return claimed;
  };
  const end = (held: Claim, kind: Ending['kind'] = 'succeeded') => {
    const { operationId, token } = held;
    const fails = ['failed', 'retried', 'deferred'].includes(kind);
    const why = fails && { reason: 'It broke.', log: 'tail', delayMs: 0 };
    return endClaim(database, held, { kind, operationId, token, ...why } as Ending, AT_ONCE);
  };
  return {
    id,
    event,
    claim,
    end,
    /** Works off so many operations, one for each ending. */
    work: async (...kinds: Ending['kind'][]) => {
      for (const kind of kinds) await end(await claim(), kind);
    },
    /** The processing state of the event, and the states of the operations. */
    states: async () => [
      await processingState(database, event),
      ...(await operationsOf(database, id)).map(({ state }) => state),
    ],
    put: async (fields: Record<string, string>) => {
      const { status, text } = await send(app, 'PUT', `/api/workflows/${id}${DETAILS}`, fields);
      return { status, text, json: status === 200 ? JSON.parse(text) : undefined };
    },
  };
}

describe('an early publication', () => {
  const early = { operation: 'publish', if: 'publishing', configuration: { early: true } };
  const operations = [early, 'encode', 'publish'];
  const configuration = { publishing: true };
  const unwanted = { configuration: '{ "publishing": "false" }' };

  /** A workflow that has published a rendition early. @param workflow that made what is published, if it is another one */
  async function publishedEarly(workflow?: number) {
    const started = await start({ operations, configuration });
    const { event, id, work } = started;
    await work('succeeded');
    const publication_id = await insertPublication(database, event);
    const own = { event_id: event, publication_id, workflow_id: workflow ?? id };
    const media = await insertElement(database, app.storage, Buffer.from('media'), { ...own, kind: 'media' });
    const catalog = { ...own, workflow_id: null, kind: 'metadata', flavor: 'dublincore/episode' } as const;
    await insertElement(database, app.storage, Buffer.from('catalog'), catalog);
    const channels = async () => (await channelsOf(database, event)).join();
    const elements = database
      .selectFrom('publication_elements')
      .select(['id', 'publication_id'])
      .where('event_id', '=', event);
    return { ...started, media, channels, elements: () => elements.execute() };
  }

  test('that is no longer wanted is withdrawn at once, and its files are published when the workflow publishes', async () => {
    const { put, media, channels, elements, event } = await publishedEarly();
    await put(unwanted);
    expect(await channels()).toBe('');
    expect(await elements()).toEqual([{ id: media.id, publication_id: null }]);
    const log = database.selectFrom('changes').select('kind').where('event_id', '=', event).orderBy('id', 'desc');
    expect(await log.limit(1).executeTakeFirst()).toEqual({ kind: 'publication.retracted' });
  });

  test('that was no longer wanted while it was made is withdrawn by the next operation', async () => {
    const started = await start({ operations, configuration });
    const held = await started.claim();
    await started.put(unwanted);
    await started.end(held);
    const publication_id = await insertPublication(database, started.event);
    const own = { event_id: started.event, publication_id, workflow_id: started.id, kind: 'media' } as const;
    await insertElement(database, app.storage, Buffer.from('media'), own);
    await started.claim();
    expect(await channelsOf(database, started.event)).toEqual([]);
  });

  test('is withdrawn by a retry that does not want it', async () => {
    const { work, put, channels } = await publishedEarly();
    await work('failed');
    await put({ ...unwanted, state: 'retry' });
    expect(await channels()).toBe('');
  });

  test('is withdrawn when it is no longer wanted after a retry from the start, or when its media were replaced', async () => {
    const retried = await publishedEarly();
    await retried.work('failed');
    await database
      .updateTable('events')
      .set({ tracks_changed_at: new Date() })
      .where('id', '=', retried.event)
      .execute();
    await retried.put({ state: 'retry' });
    const replaced = await publishedEarly();
    const run = { eventId: replaced.event, workflowId: replaced.id };
    await database.transaction().execute((trx) => replacePrepared(trx, run, 'media', []));
    for (const { put, channels } of [retried, replaced]) {
      await put(unwanted);
      expect(await channels()).toBe('');
    }
  });

  test('stays as long as it is wanted, once it is complete, and what others have published stays', async () => {
    const [wanted, complete, foreign] = [await publishedEarly(), await publishedEarly(), await publishedEarly(0)];
    await wanted.put({ configuration: '{ "other": "false" }' });
    await complete.work('succeeded', 'succeeded');
    for (const { put } of [complete, foreign]) await put(unwanted);
    for (const { channels } of [wanted, complete, foreign]) expect(await channels()).toBe('engage-player');
  });
});

describe('pausing', () => {
  const two = { operations: ['noop', 'noop'] };

  test('holds what has not begun, and resuming lets it go on where it was', async () => {
    const { put, states, work } = await start(two);
    expect((await put({ state: 'paused' })).json).toMatchObject({ state: 'paused' });
    expect(await states()).toEqual(['PAUSED', 'paused', 'waiting']);
    expect((await put({ state: 'running' })).json).toMatchObject({ state: 'running' });
    expect((await states()).slice(1)).toEqual(['ready', 'waiting']);
    await work('succeeded', 'succeeded');
    expect(await states()).toEqual(['SUCCEEDED', 'succeeded', 'succeeded']);
  });

  /** A workflow that was paused while its first operation was under way. */
  async function pausedUnderWay(definition: Definition) {
    const started = await start(definition);
    const held = await started.claim();
    await started.put({ state: 'paused' });
    return { ...started, held };
  }

  test('lets the operation under way end, keeps its result, and begins no other', async () => {
    const { states, end, held } = await pausedUnderWay(two);
    expect(await heartbeat(database, held, 0.5)).toBe(true);
    await end(held);
    expect(await states()).toEqual(['PAUSED', 'succeeded', 'paused']);
  });

  test('while the last operation is under way, it succeeds when it is resumed', async () => {
    const { put, states, end, held } = await pausedUnderWay({ operations: ['noop'] });
    await end(held);
    expect(await states()).toEqual(['PAUSED', 'succeeded']);
    expect((await put({ state: 'running' })).json.state).toBe('succeeded');
  });

  test.each(['retried', 'deferred', 'handed back', 'lost'] as const)(
    'an operation that was %s meanwhile waits for the resumption',
    async (kind) => {
      const { put, states, end, held } = await pausedUnderWay(two);
      await end(held, kind);
      expect(await states()).toEqual(['PAUSED', 'paused', 'waiting']);
      await put({ state: 'running' });
      expect(await states()).toEqual(['RUNNING', 'ready', 'waiting']);
    },
  );

  test('does not hide a failure of what was under way', async () => {
    const { states, end, held } = await pausedUnderWay(two);
    await end(held, 'failed');
    expect(await states()).toEqual(['FAILED', 'failed', 'stopped']);
  });

  test('while the operation before a review is under way, it does not take the review away', async () => {
    const operations = ['noop', 'pause', 'noop'];
    const { put, states, end, held, work } = await pausedUnderWay({ operations });
    await end(held);
    expect(await states()).toEqual(['PAUSED', 'succeeded', 'waiting', 'waiting']);
    expect((await put({ state: 'running' })).json.state).toBe('paused');
    expect(await states()).toEqual(['PAUSED', 'succeeded', 'paused', 'waiting']);
    await put({ state: 'running' });
    expect(await states()).toEqual(['RUNNING', 'succeeded', 'succeeded', 'ready']);
    await work('succeeded');
    expect((await states())[0]).toBe('SUCCEEDED');
  });

  test('does not take a review away that the configuration asks for only then', async () => {
    const operations = ['noop', { operation: 'pause', if: 'review' }, 'noop'];
    const configuration = { review: false };
    const { put, states, end, held } = await pausedUnderWay({ operations, configuration });
    const review = { configuration: '{ "review": "true" }' };
    await end(held);
    expect(await states()).toEqual(['PAUSED', 'succeeded', 'skipped', 'paused']);
    await put(review);
    expect(await states()).toEqual(['PAUSED', 'succeeded', 'waiting', 'waiting']);
    expect((await put({ state: 'running' })).json.state).toBe('paused');
    expect(await states()).toEqual(['PAUSED', 'succeeded', 'paused', 'waiting']);
    await put(review);
    expect(await states()).toEqual(['PAUSED', 'succeeded', 'paused', 'waiting']);
    await put({ state: 'running' });
    expect(await states()).toEqual(['RUNNING', 'succeeded', 'succeeded', 'ready']);
  });

  test('resumed at once it changes nothing for the operation under way', async () => {
    const { put, states, end, held } = await pausedUnderWay(two);
    expect((await put({ state: 'running' })).status).toBe(200);
    await end(held);
    expect(await states()).toEqual(['RUNNING', 'succeeded', 'ready']);
  });
});

describe('stopping and trying again', () => {
  test('goes on with the operation that failed, keeps what was done, and gives it all its attempts', async () => {
    const operations = ['noop', { operation: 'noop', retries: 1 }, 'noop'];
    const { id, put, states, work } = await start({ operations });
    await work('succeeded', 'retried', 'failed');
    expect(await states()).toEqual(['FAILED', 'succeeded', 'failed', 'stopped']);
    const [done] = await operationsOf(database, id);
    const again = await put({ state: 'retry' });
    expect(again.json).toMatchObject({ state: 'running' });
    expect(again.json.reason).toBeUndefined();
    expect(await states()).toEqual(['RUNNING', 'succeeded', 'ready', 'waiting']);
    const [kept, tried] = await operationsOf(database, id);
    expect(kept).toEqual(done);
    expect(tried).toMatchObject({ attempts: 0, reason: null, log: null });
    await work('succeeded', 'succeeded');
    expect((await states())[0]).toBe('SUCCEEDED');
  });

  test('what was stopped goes on with the operation that was under way, under another claim', async () => {
    const { put, states, claim, end, work } = await start({ operations: ['noop', 'noop'] });
    await work('succeeded');
    const held = await claim();
    await put({ state: 'stopped' });
    expect(await states()).toEqual(['STOPPED', 'succeeded', 'stopped']);
    expect(await heartbeat(database, held, 0.5)).toBe(false);
    expect((await put({ state: 'retry' })).json.state).toBe('running');
    const next = await claim();
    expect(next.token).toBeGreaterThan(held.token);
    expect(await heartbeat(database, held, 0.5)).toBe(false);
    await end(next);
    expect((await states())[0]).toBe('SUCCEEDED');
  });

  test('every attempt that did not succeed is kept with its worker, its end and its reason', async () => {
    const { id, put, claim, work } = await start({ operations: [{ operation: 'noop', retries: 5 }] });
    await work('retried', 'deferred', 'deferred', 'handed back', 'failed');
    await put({ state: 'retry' });
    await claim();
    await put({ state: 'stopped' });
    const attempts = await database
      .selectFrom('workflow_attempts')
      .innerJoin('workflow_operations', 'workflow_operations.id', 'operation_id')
      .select(['outcome', 'times', 'workflow_attempts.worker', 'workflow_attempts.reason'])
      .where('workflow_id', '=', id)
      .orderBy('workflow_attempts.id')
      .execute();
    const worker = 'worker-a';
    expect(attempts).toEqual([
      { outcome: 'retried', times: 1, worker, reason: 'It broke.' },
      { outcome: 'deferred', times: 2, worker, reason: 'It broke.' },
      { outcome: 'handed back', times: 1, worker, reason: null },
      { outcome: 'failed', times: 1, worker, reason: 'It broke.' },
      { outcome: 'stopped', times: 1, worker, reason: null },
    ]);
  });

  test.each([
    ['has other tracks since', [file('track', 'a.vtt', Buffer.from('WEBVTT\n'))]],
    ['has lost tracks since', []],
  ])('an event that %s is processed from the beginning, with nothing that was prepared', async (_, files) => {
    const event = await insertEvent(database);
    const flavor = 'captions/source';
    await database
      .insertInto('tracks')
      .values({
        ...{ id: crypto.randomUUID(), event_id: event, position: 0, flavor, size: 1 },
        ...{ filename: 'a.vtt', mediatype: 'text/vtt', object_key: crypto.randomUUID() },
      })
      .execute();
    const { id, put, states, work } = await start({ operations: ['captions', 'noop'] }, event);
    await work('succeeded', 'failed');
    const prepared = { event_id: event, workflow_id: id, kind: 'attachment' } as const;
    await insertElement(database, app.storage, Buffer.from('WEBVTT'), prepared);
    const fields = [field('flavor', flavor), field('overwriteExisting', 'true')];
    const { type, body } = form([...fields, ...files]);
    const headers = { 'Content-Type': type };
    const answer = await app.request(`/api/events/${event}/track`, { method: 'POST', headers, body });
    expect(answer.status).toBe(200);
    await put({ state: 'retry' });
    expect((await states()).slice(1)).toEqual(['ready', 'waiting']);
    const elements = database.selectFrom('publication_elements').select('id').where('event_id', '=', event);
    expect(await elements.execute()).toEqual([]);
    await work('succeeded', 'failed');
    await put({ state: 'retry' });
    expect((await states()).slice(1)).toEqual(['succeeded', 'ready']);
  });

  const [done, broke] = ['succeeded', 'failed'] as const;
  test.each<[string, Ending['kind'][], number]>([
    ['whose publication was retracted is processed from the beginning', [done, done, broke, done], 0],
    ['that was not published yet keeps what was done', [done, broke, done], 1],
    ['that could not be retracted keeps what was done', [done, done, broke, broke], 2],
  ])('a failed one %s', async (_, kinds, kept) => {
    const { put, states, work } = await start({
      operations: ['encode', 'publish', 'noop'],
      on_failure: ['retract'],
    });
    await work(...kinds);
    expect((await states())[0]).toBe('FAILED');
    await put({ state: 'retry' });
    const [begun, waiting] = [Array(kept).fill('succeeded'), Array(3 - kept).fill('waiting')];
    expect((await states()).slice(1)).toEqual([...begun, 'ready', ...waiting]);
  });

  test('only the latest workflow of an event is tried again', async () => {
    const first = await start({ operations: ['noop'] });
    await first.work('failed');
    const second = await start({ operations: ['noop'] }, first.event);
    await second.work('failed');
    expect(await first.put({ state: 'retry' })).toMatchObject({
      status: 409,
      text: 'The event has a later workflow; retry that one.',
    });
    expect((await second.put({ state: 'retry' })).status).toBe(200);
  });

  test('one that is to be tried again while another workflow is being started gives way to it', async () => {
    const { event, put, states, work } = await start({ operations: ['noop'] });
    await work('failed');
    let answer: ReturnType<typeof put> | undefined;
    await database.transaction().execute(async (trx) => {
      await startWorkflow(trx, factsOf(event, { operations: ['noop'] }));
      answer = put({ state: 'retry' });
      await untilOneWaits(database);
    });
    expect((await answer)?.status).toBe(409);
    expect((await states()).slice(1)).toEqual(['failed']);
  });

  test('of ten who want it tried again at once, one succeeds, and the others are told why not', async () => {
    const { put, states, work } = await start({ operations: ['noop'] });
    await work('failed');
    const answers = await Promise.all(Array.from({ length: 10 }, () => put({ state: 'retry' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)]);
    expect(await states()).toEqual(['RUNNING', 'ready']);
  });
});

describe('what is done when a workflow fails', () => {
  const failing = { operations: ['noop', 'noop'], on_failure: ['noop', 'noop'] };

  test('is done while it is FAILING, and then it has FAILED with the first reason', async () => {
    const { id, states, work } = await start(failing);
    expect((await states()).slice(1)).toEqual(['ready', 'waiting', 'waiting', 'waiting']);
    await work('failed');
    expect(await states()).toEqual(['FAILING', 'failed', 'stopped', 'ready', 'waiting']);
    await work('succeeded');
    expect((await states())[0]).toBe('FAILING');
    await work('succeeded');
    expect(await states()).toEqual(['FAILED', 'failed', 'stopped', 'succeeded', 'succeeded']);
    const { text } = await send(app, 'GET', `/api/workflows/${id}`);
    expect(JSON.parse(text).reason).toBe('It broke.');
  });

  test('is left when it fails itself', async () => {
    const { states, work } = await start(failing);
    await work('failed', 'failed');
    expect(await states()).toEqual(['FAILED', 'failed', 'stopped', 'failed', 'stopped']);
  });

  test('is left out when nothing fails, and done again when it fails again', async () => {
    const sound = await start(failing);
    await sound.work('succeeded', 'succeeded');
    expect(await sound.states()).toEqual(['SUCCEEDED', 'succeeded', 'succeeded', 'skipped', 'skipped']);
    const { put, states, work } = await start(failing);
    await work('failed', 'succeeded', 'succeeded');
    await put({ state: 'retry' });
    expect((await states()).slice(1)).toEqual(['ready', 'waiting', 'waiting', 'waiting']);
    await work('failed', 'succeeded', 'succeeded');
    expect((await states())[0]).toBe('FAILED');
  });

  test('can be stopped, and cannot be paused', async () => {
    const { put, states, work } = await start(failing);
    await work('failed');
    expect((await put({ state: 'paused' })).status).toBe(409);
    expect((await put({ state: 'stopped' })).json.state).toBe('stopped');
    expect(await states()).toEqual(['STOPPED', 'failed', 'stopped', 'stopped', 'stopped']);
  });
});

/** From which states each wish is granted. */
const GRANTED = {
  running: ['PAUSED'],
  paused: ['INSTANTIATED', 'RUNNING'],
  // A finished workflow stays as it is, as libraries expect that stop what they have started.
  stopped: Object.keys(WORKFLOW_MOVES),
  retry: ['STOPPED', 'FAILED'],
};

describe.each(Object.keys(WORKFLOW_MOVES))('a workflow that is %s', (state) => {
  async function startIn() {
    const started = await start({ operations: ['noop'] });
    await sql`UPDATE workflows SET state = ${state} WHERE id = ${started.id}`.execute(database);
    await sql`UPDATE events SET processing_state = ${state} WHERE id = ${started.event}`.execute(database);
    return started;
  }

  test.each(Object.entries(GRANTED))('asked to be %s does what the table allows, else 409', async (wish, from) => {
    const { put, states } = await startIn();
    const { status, text } = await put({ state: wish });
    const granted = from.includes(state);
    const isFinished = ['STOPPED', 'FAILED', 'SUCCEEDED'].includes(state);
    if (wish === 'stopped') expect((await states())[0]).toBe(isFinished ? state : 'STOPPED');
    expect([status, text]).toEqual([granted ? 200 : 409, text]);
    if (!granted) expect(text).toMatch(/^The workflow cannot move from [A-Z]+ to [A-Z]+\.$/);
  });

  test('is deleted when it has ended, else 409', async () => {
    const { id, event } = await startIn();
    const { status, text } = await send(app, 'DELETE', `/api/workflows/${id}`);
    if (['STOPPED', 'FAILED', 'SUCCEEDED'].includes(state)) {
      expect(status).toBe(204);
      expect(await processingState(database, event)).toBe('');
    } else expect([status, text]).toEqual([409, 'Cannot delete workflow instance in this workflow state']);
  });
});

test('an unknown state is 400, and no state at all changes nothing', async () => {
  const { put } = await start({ operations: ['noop'] });
  expect(await put({ state: 'FLYING' })).toMatchObject({
    ...{ status: 400, text: "Invalid workflow state 'FLYING'" },
  });
  expect((await put({})).json.state).toBe('instantiated');
});

describe('another configuration', () => {
  const when = (key: string) => ({ operation: 'noop', if: key });

  test('decides anew which operations take part that have not begun', async () => {
    const { put, states, work } = await start({
      configuration: { publish: true, tell: false },
      operations: ['noop', 'pause', when('publish'), when('tell')],
    });
    await work('succeeded');
    expect(await states()).toEqual(['PAUSED', 'succeeded', 'paused', 'waiting', 'skipped']);
    const changed = await put({ configuration: '{"publish":"false","tell":"true","more":"x"}' });
    expect(changed.json.configuration).toEqual({ publish: 'false', tell: 'true', more: 'x' });
    expect(await states()).toEqual(['PAUSED', 'succeeded', 'paused', 'skipped', 'waiting']);
    await put({ state: 'running' });
    expect(await states()).toEqual(['RUNNING', 'succeeded', 'succeeded', 'skipped', 'ready']);
  });

  test('holds another operation when the one that was held is left out', async () => {
    const { put, states } = await start({
      configuration: { first: true },
      operations: [when('first'), 'noop'],
    });
    await put({ state: 'paused' });
    await put({ configuration: '{"first":"false"}' });
    expect((await states()).slice(1)).toEqual(['skipped', 'paused']);
    await put({ state: 'running' });
    expect((await states()).slice(1)).toEqual(['skipped', 'ready']);
  });

  test('counts for what is tried again with it', async () => {
    const operations = ['noop', when('publish')];
    const { put, states, work } = await start({ configuration: { publish: true }, operations });
    await work('succeeded', 'failed');
    expect((await put({ state: 'retry', configuration: '{"publish":false}' })).json.state).toBe('succeeded');
    expect((await states()).slice(1)).toEqual(['succeeded', 'skipped']);
  });

  test('brings back nothing whose turn has passed while a failure is dealt with', async () => {
    const { put, states, work } = await start({
      configuration: { first: false },
      operations: ['noop'],
      on_failure: [when('first'), 'noop', 'noop'],
    });
    await work('failed', 'succeeded');
    await put({ configuration: '{"first":"true"}' });
    expect((await states()).slice(1)).toEqual(['failed', 'skipped', 'succeeded', 'ready']);
  });

  test('of a workflow that has ended counts when it is tried again', async () => {
    const definition = { configuration: { more: false }, operations: ['noop', when('more')] };
    const done = await start(definition);
    await done.work('succeeded');
    expect((await done.put({ configuration: '{"more":"true"}' })).json.state).toBe('succeeded');
    expect((await done.states()).slice(1)).toEqual(['succeeded', 'skipped']);
    const failed = await start(definition);
    await failed.work('failed');
    await failed.put({ configuration: '{"more":"true"}' });
    await failed.put({ state: 'retry' });
    expect((await failed.states()).slice(1)).toEqual(['ready', 'waiting']);
  });

  test('that is no object is refused with 400', async () => {
    const { put } = await start({ operations: ['noop'] });
    const text = "Passed parameter 'configuration' is invalid JSON.";
    for (const configuration of ['{', '[]', '"x"', '7'])
      expect(await put({ configuration })).toMatchObject({ status: 400, text });
  });
});

describe('POST /api/workflows', () => {
  const wanted = { workflow_definition_identifier: 'publish' };

  test('starts a workflow with its configuration and says where it is', async () => {
    const event_identifier = await insertEvent(database);
    const configuration = '{"publishToEngage":"false"}';
    const { status, text, location } = await post({ ...wanted, event_identifier, configuration });
    const workflow = JSON.parse(text);
    expect([status, location]).toEqual([201, `http://inlet.test/api/workflows/${workflow.identifier}`]);
    expect(workflow).toMatchObject({
      ...{ title: 'Publish', workflow_definition_identifier: 'publish', event_identifier },
      ...{ creator: 'admin', state: 'instantiated', configuration: { publishToEngage: 'false' } },
    });
    expect(workflow.operations.at(-1)).toMatchObject({ operation: 'publish', state: 'skipped' });
  });

  test('an alias names the definition as well', async () => {
    const event_identifier = await insertEvent(database);
    const { status, text } = await post({ event_identifier, workflow_definition_identifier: 'delete' });
    expect([status, JSON.parse(text).workflow_definition_identifier]).toEqual([201, 'retract']);
  });

  test('a field that is missing and an unreadable configuration are 400, what is unknown is 404', async () => {
    const event_identifier = await insertEvent(database);
    const refusals = await Promise.all([
      post(wanted),
      post({ event_identifier }),
      post({ ...wanted, event_identifier: 'nobody' }),
      post({ event_identifier, workflow_definition_identifier: 'nothing' }),
      post({ ...wanted, event_identifier, configuration: '{"a":' }),
    ]);
    expect(refusals.map(({ status, text }) => [status, text])).toEqual([
      [400, "Required parameter 'event_identifier' is missing or invalid"],
      [400, "Required parameter 'workflow_definition_identifier' is missing or invalid"],
      [404, "Cannot find an event with id 'nobody'."],
      [404, "Cannot find workflow definition with id 'nothing'."],
      [400, "Passed parameter 'configuration' is invalid JSON."],
    ]);
  });

  test('while another workflow is active it is 409, and of ten at once one is started', async () => {
    const event_identifier = await insertEvent(database);
    const ten = Array.from({ length: 10 }, () => post({ ...wanted, event_identifier }));
    const answers = await Promise.all(ten);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
    const refused = answers.find(({ status }) => status === 409);
    expect(JSON.parse(refused?.text ?? '')).toEqual({
      message: 'This event has an active workflow; wait for it to finish.',
    });
  });
});

test('the list of workflows is filtered by state, definition and event, the latest first', async () => {
  const { id, event, work } = await start({ operations: ['noop'] });
  await work('failed');
  const second = await start({ operations: ['noop'] }, event);
  for (const [filter, expected] of [
    ['', [second.id, id]],
    [',state:failed', [id]],
    [',state:failed,state:instantiated', [second.id, id]],
    [',definition:own', [second.id, id]],
    [',definition:publish', []],
  ] as const) {
    const { ids } = await readPage(app, `/api/workflows?filter=event:${event}${filter}`);
    expect([filter, ids]).toEqual([filter, expected.map(String)]);
  }
  const refused = await send(app, 'GET', '/api/workflows?filter=state:flying');
  expect([refused.status, refused.text]).toEqual([400, "Invalid workflow state 'flying'"]);
});

test('a change that comes from the outside is written down with who asked for it', async () => {
  const { id, event } = await start({ operations: ['noop'] });
  await database.transaction().execute((trx) => advance(trx, id, { kind: 'stopped', by: 'grace' }));
  const changes = database.selectFrom('changes').select(['kind', 'actor', 'data']);
  const kind = 'workflow.state';
  expect(await changes.where('event_id', '=', event).orderBy('id').execute()).toMatchObject([
    { kind, actor: 'ada', data: { workflow: id, state: 'INSTANTIATED', definition: 'own' } },
    { kind, actor: 'grace', data: { workflow: id, state: 'STOPPED' } },
  ]);
});

describe('GET /api/workflow-definitions', () => {
  const path = '/api/workflow-definitions';
  const identifiers = async (query: string) => (await readPage(app, path + query)).ids;

  test('lists the definitions with what is always told of them, by their identifiers', async () => {
    const { ids, rows } = await readPage(app, path);
    const built = ['fast', 'publish', 'republish-metadata', 'retract', 'review', 'schedule-and-upload'];
    expect(ids).toEqual(built);
    const tags = ['upload', 'own'];
    expect(rows[4]).toEqual({ identifier: 'review', title: 'A review', description: '', tags });
  });

  test('filters by tag, sorts by each criterion, and pages', async () => {
    expect(await identifiers('?filter=tag:own')).toEqual(['review']);
    expect(await identifiers('?filter=tag:nothing')).toEqual([]);
    expect((await identifiers('?sort=displayorder:DESC'))[0]).toBe('review');
    expect((await identifiers('?sort=title:ASC'))[0]).toBe('review');
    expect(await identifiers('?sort=identifier:DESC&limit=1&offset=1')).toEqual(['review']);
  });

  test('says how many there are, and where the other pages are', async () => {
    const page = await readPage(app, `${path}?sort=identifier:ASC&limit=2&offset=2`);
    const ids = await identifiers('');
    expect([page.ids, page.total]).toEqual([ids.slice(2, 4), `eq ${ids.length}`]);
    const first = `${path}?sort=identifier%3AASC&limit=2`;
    const next = `${first}&offset=4`;
    expect(page.links).toEqual({ first, prev: first, next, last: next });
    const beyond = await readPage(app, `${path}?filter=tag:own&offset=9`);
    expect(beyond).toMatchObject({ ids: [], total: 'eq 1' });
  });

  test('an unknown criterion of either kind is 400, an unknown definition 404', async () => {
    for (const [query, status, text] of [
      ['?sort=colour:ASC', 400, 'Unknown search criterion in request: colour'],
      ['?filter=colour:red', 400, expect.any(String)],
      ['/nothing', 404, "Cannot find workflow definition with id 'nothing'."],
    ] as const) {
      expect(await send(app, 'GET', path + query)).toMatchObject({ status, text });
    }
  });

  test('one is read by its identifier or another name, with operations and panels when these are wanted', async () => {
    const wanted = '?withoperations=true&withconfigurationpanel=true&withconfigurationpaneljson=true';
    const json = JSON.parse((await send(app, 'GET', `${path}/look-at-it${wanted}`)).text);
    expect(json).toMatchObject({
      identifier: 'review',
      configuration_panel: '<label>Really <input type="checkbox" id="really"></label>',
      configuration_panel_json: '[{"fieldset":[{"name":"really","type":"checkbox"}]}]',
    });
    const always = {
      unless: '',
      fail_workflow_on_error: true,
      error_handler_workflow: '',
      configuration: {},
    };
    const once = { description: '', if: 'really', retry_strategy: 'none', max_attempts: 1 };
    const often = { description: 'Telling somebody', if: '', retry_strategy: 'retry', max_attempts: 9 };
    expect(json.operations).toEqual([
      { operation: 'inspect', ...once, ...always },
      { operation: 'noop', ...often, ...always },
    ]);
  });

  test('agents are told the order as well', async () => {
    const { text } = await send(app, 'GET', '/workflow/definitions.json');
    expect(JSON.parse(text).definitions.definition).toContainEqual(
      expect.objectContaining({ id: 'review', displayOrder: 1000 }),
    );
  });
});
