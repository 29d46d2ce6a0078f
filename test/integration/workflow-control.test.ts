import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { advance } from '../../src/workflows/advance.ts';
import { type Claim, claimOperation, type Ending, endClaim, heartbeat } from '../../src/workflows/claims.ts';
import { parseDefinition } from '../../src/workflows/definitions.ts';
import { startWorkflow } from '../../src/workflows/start.ts';
import { WORKFLOW_MOVES } from '../../src/workflows/states.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { insertEvent } from '../support/publication.ts';
import { AT_ONCE, operationsOf, processingState } from '../support/workflows.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

interface Definition {
  operations: (string | object)[];
  on_failure?: (string | object)[];
  configuration?: Record<string, unknown>;
}

const named = (operation: string | object) => (typeof operation === 'string' ? { operation } : operation);

/** A workflow of an event of its own. */
async function start({ operations, on_failure = [], configuration = {} }: Definition, eventId?: string) {
  const text = { id: 'told', title: 'Told', configuration };
  const source = { ...text, operations: operations.map(named), on_failure: on_failure.map(named) };
  const definition = parseDefinition('told.yaml', JSON.stringify(source));
  const event = eventId ?? (await insertEvent(app.database));
  const facts = { eventId: event, definition, configuration: {}, creator: 'ada', requestId: 'request' };
  const id = await app.database.transaction().execute((trx) => startWorkflow(trx, facts));
  return { id, event };
}

const states = async (id: number) => (await operationsOf(app.database, id)).map(({ state }) => state);

async function claim(id: number): Promise<Claim> {
  const ready = (await operationsOf(app.database, id)).find(({ state }) => state === 'ready');
  const claimed = await claimOperation(app.database, ready?.id ?? 0, 'worker-a', AT_ONCE);
  if (!claimed) throw new Error('Nothing was ready.');
  return claimed;
}

const end = (held: Claim, kind: Ending['kind'] = 'succeeded') => {
  const { operationId, token } = held;
  const why = ['failed', 'retried', 'deferred'].includes(kind) && {
    reason: 'It broke.',
    log: 'tail',
    delayMs: 0,
  };
  const change = { kind, operationId, token, ...why } as Ending;
  return endClaim(app.database, held, change, AT_ONCE);
};
const work = async (id: number, kind?: Ending['kind']) => end(await claim(id), kind);

async function put(id: number, fields: Record<string, string>) {
  const answer = await app.request(`/api/workflows/${id}?withoperations=true&withconfiguration=true`, {
    method: 'PUT',
    body: new URLSearchParams(fields),
  });
  const text = await answer.text();
  return { status: answer.status, text, json: answer.ok ? JSON.parse(text) : undefined };
}

async function post(fields: Record<string, string>) {
  const answer = await app.request('/api/workflows?withoperations=true&withconfiguration=true', {
    method: 'POST',
    body: new URLSearchParams(fields),
  });
  return { status: answer.status, text: await answer.text(), location: answer.headers.get('Location') };
}

describe('pausing', () => {
  test('holds what has not begun, and resuming lets it go on where it was', async () => {
    const { id, event } = await start({ operations: ['noop', 'noop'] });
    expect((await put(id, { state: 'paused' })).json).toMatchObject({ state: 'paused' });
    expect(await states(id)).toEqual(['paused', 'waiting']);
    expect(await processingState(app.database, event)).toBe('PAUSED');
    expect((await put(id, { state: 'running' })).json).toMatchObject({ state: 'running' });
    expect(await states(id)).toEqual(['ready', 'waiting']);
    await work(id);
    await work(id);
    expect(await processingState(app.database, event)).toBe('SUCCEEDED');
  });

  test('lets the operation under way end, keeps its result, and begins no other', async () => {
    const { id, event } = await start({ operations: ['noop', 'noop'] });
    const held = await claim(id);
    await put(id, { state: 'paused' });
    expect(await heartbeat(app.database, held, 0.5)).toBe(true);
    await end(held);
    expect(await states(id)).toEqual(['succeeded', 'paused']);
    expect(await processingState(app.database, event)).toBe('PAUSED');
  });

  test('while the last operation is under way, it succeeds when it is resumed', async () => {
    const { id, event } = await start({ operations: ['noop'] });
    const held = await claim(id);
    await put(id, { state: 'paused' });
    await end(held);
    expect(await processingState(app.database, event)).toBe('PAUSED');
    expect((await put(id, { state: 'running' })).json.state).toBe('succeeded');
  });

  test.each(['retried', 'deferred', 'handed back', 'lost'] as const)(
    'an operation that was %s meanwhile waits for the resumption',
    async (kind) => {
      const { id } = await start({ operations: ['noop', 'noop'] });
      const held = await claim(id);
      await put(id, { state: 'paused' });
      await end(held, kind);
      expect(await states(id)).toEqual(['paused', 'waiting']);
      await put(id, { state: 'running' });
      expect(await states(id)).toEqual(['ready', 'waiting']);
    },
  );

  test('does not hide a failure of what was under way', async () => {
    const { id, event } = await start({ operations: ['noop', 'noop'] });
    const held = await claim(id);
    await put(id, { state: 'paused' });
    await end(held, 'failed');
    expect(await processingState(app.database, event)).toBe('FAILED');
  });

  test('resumed at once it changes nothing for the operation under way', async () => {
    const { id } = await start({ operations: ['noop', 'noop'] });
    const held = await claim(id);
    await put(id, { state: 'paused' });
    expect((await put(id, { state: 'running' })).status).toBe(200);
    await end(held);
    expect(await states(id)).toEqual(['succeeded', 'ready']);
  });
});

describe('stopping and trying again', () => {
  test('goes on with the operation that failed, keeps what was done, and gives it all its attempts', async () => {
    const { id, event } = await start({ operations: ['noop', { operation: 'noop', retries: 1 }, 'noop'] });
    await work(id);
    await work(id, 'retried');
    await work(id, 'failed');
    expect(await states(id)).toEqual(['succeeded', 'failed', 'stopped']);
    const [done] = await operationsOf(app.database, id);
    const again = await put(id, { state: 'retry' });
    expect(again.json).toMatchObject({ state: 'running' });
    expect(again.json.reason).toBeUndefined();
    expect(await states(id)).toEqual(['succeeded', 'ready', 'waiting']);
    const [kept, tried] = await operationsOf(app.database, id);
    expect(kept).toEqual(done);
    expect(tried).toMatchObject({ attempts: 0, reason: null, log: null });
    await work(id);
    await work(id);
    expect(await processingState(app.database, event)).toBe('SUCCEEDED');
  });

  test('what was stopped goes on with the operation that was under way, under another claim', async () => {
    const { id, event } = await start({ operations: ['noop', 'noop'] });
    await work(id);
    const held = await claim(id);
    await put(id, { state: 'stopped' });
    expect(await states(id)).toEqual(['succeeded', 'stopped']);
    expect((await put(id, { state: 'retry' })).json.state).toBe('running');
    const next = await claim(id);
    expect(next.token).toBeGreaterThan(held.token);
    expect(await heartbeat(app.database, held, 0.5)).toBe(false);
    await end(next);
    expect(await processingState(app.database, event)).toBe('SUCCEEDED');
  });

  test('every attempt that did not succeed is kept with its worker, its end and its reason', async () => {
    const { id } = await start({ operations: [{ operation: 'noop', retries: 5 }] });
    for (const kind of ['retried', 'deferred', 'deferred', 'handed back', 'failed'] as const)
      await work(id, kind);
    await put(id, { state: 'retry' });
    await claim(id);
    await put(id, { state: 'stopped' });
    const attempts = await app.database
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

  test('an event that has other tracks since is processed from the beginning', async () => {
    const { id, event } = await start({ operations: ['inspect', 'noop'] });
    await work(id);
    await work(id, 'failed');
    await app.database
      .insertInto('tracks')
      .values({
        ...{ id: crypto.randomUUID(), event_id: event, position: 0, flavor: 'presenter/source' },
        ...{ filename: 'a.mp4', mediatype: 'video/mp4', object_key: crypto.randomUUID(), size: 1 },
      })
      .execute();
    await put(id, { state: 'retry' });
    expect(await states(id)).toEqual(['ready', 'waiting']);
  });

  test('only the latest workflow of an event is tried again', async () => {
    const first = await start({ operations: ['noop'] });
    await work(first.id, 'failed');
    const second = await start({ operations: ['noop'] }, first.event);
    await work(second.id, 'failed');
    const refused = await put(first.id, { state: 'retry' });
    expect([refused.status, refused.text]).toEqual([
      409,
      'Another workflow of the event was started later; it is the one to be tried again.',
    ]);
    expect((await put(second.id, { state: 'retry' })).status).toBe(200);
  });

  test('of ten who want it tried again at once, one succeeds, and the others are told why not', async () => {
    const { id } = await start({ operations: ['noop'] });
    await work(id, 'failed');
    const answers = await Promise.all(Array.from({ length: 10 }, () => put(id, { state: 'retry' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)]);
    expect(await states(id)).toEqual(['ready']);
  });
});

describe('what is done when a workflow fails', () => {
  const failing = { operations: ['noop', 'noop'], on_failure: ['noop', 'noop'] };

  test('is done while it is FAILING, and then it has FAILED with the first reason', async () => {
    const { id, event } = await start(failing);
    expect(await states(id)).toEqual(['ready', 'waiting', 'waiting', 'waiting']);
    await work(id, 'failed');
    expect(await states(id)).toEqual(['failed', 'stopped', 'ready', 'waiting']);
    expect(await processingState(app.database, event)).toBe('FAILING');
    await work(id);
    expect(await processingState(app.database, event)).toBe('FAILING');
    await work(id);
    expect(await processingState(app.database, event)).toBe('FAILED');
    expect(await states(id)).toEqual(['failed', 'stopped', 'succeeded', 'succeeded']);
    expect(JSON.parse(await (await app.request(`/api/workflows/${id}`)).text()).reason).toBe('It broke.');
  });

  test('is left when it fails itself', async () => {
    const { id, event } = await start(failing);
    await work(id, 'failed');
    await work(id, 'failed');
    expect(await processingState(app.database, event)).toBe('FAILED');
    expect(await states(id)).toEqual(['failed', 'stopped', 'failed', 'stopped']);
  });

  test('is left out when nothing fails, and done again when it fails again', async () => {
    const sound = await start(failing);
    await work(sound.id);
    await work(sound.id);
    expect(await states(sound.id)).toEqual(['succeeded', 'succeeded', 'skipped', 'skipped']);
    const { id, event } = await start(failing);
    for (const kind of ['failed', 'succeeded', 'succeeded'] as const) await work(id, kind);
    await put(id, { state: 'retry' });
    expect(await states(id)).toEqual(['ready', 'waiting', 'waiting', 'waiting']);
    for (const kind of ['failed', 'succeeded', 'succeeded'] as const) await work(id, kind);
    expect(await processingState(app.database, event)).toBe('FAILED');
  });

  test('can be stopped, and cannot be paused', async () => {
    const { id } = await start(failing);
    await work(id, 'failed');
    expect((await put(id, { state: 'paused' })).status).toBe(409);
    expect((await put(id, { state: 'stopped' })).json.state).toBe('stopped');
    expect(await states(id)).toEqual(['failed', 'stopped', 'stopped', 'stopped']);
  });
});

/** From which states each wish is granted. */
const GRANTED = {
  running: ['PAUSED'],
  paused: ['INSTANTIATED', 'RUNNING'],
  stopped: ['INSTANTIATED', 'RUNNING', 'PAUSED', 'FAILING'],
  retry: ['STOPPED', 'FAILED'],
};

describe.each(Object.keys(WORKFLOW_MOVES))('a workflow that is %s', (state) => {
  test.each(Object.entries(GRANTED))(
    'asked to be %s does what the table allows, else 409',
    async (wish, from) => {
      const { id, event } = await start({ operations: ['noop'] });
      await sql`UPDATE workflows SET state = ${state} WHERE id = ${id}`.execute(app.database);
      await sql`UPDATE events SET processing_state = ${state} WHERE id = ${event}`.execute(app.database);
      const { status, text } = await put(id, { state: wish });
      if (from.includes(state)) expect([status, text]).toEqual([200, text]);
      else {
        expect(status).toBe(409);
        expect(text).toMatch(/^The workflow cannot go from [A-Z]+ to [A-Z]+\.$/);
      }
    },
  );

  test('is deleted when it has ended, else 409', async () => {
    const { id, event } = await start({ operations: ['noop'] });
    await sql`UPDATE workflows SET state = ${state} WHERE id = ${id}`.execute(app.database);
    const answer = await app.request(`/api/workflows/${id}`, { method: 'DELETE' });
    if (['STOPPED', 'FAILED', 'SUCCEEDED'].includes(state)) {
      expect(answer.status).toBe(204);
      expect(await processingState(app.database, event)).toBe('');
    } else {
      const text = await answer.text();
      expect([answer.status, text]).toEqual([409, 'Cannot delete workflow instance in this workflow state']);
    }
  });
});

test('an unknown state is 400, and no state at all changes nothing', async () => {
  const { id } = await start({ operations: ['noop'] });
  const refused = await put(id, { state: 'FLYING' });
  expect([refused.status, refused.text]).toEqual([400, "Invalid workflow state 'FLYING'"]);
  expect((await put(id, {})).json.state).toBe('instantiated');
});

describe('another configuration', () => {
  const conditional = {
    configuration: { publish: true, tell: false },
    operations: ['noop', 'pause', { operation: 'noop', if: 'publish' }, { operation: 'noop', if: 'tell' }],
  };

  test('decides anew which operations take part that have not begun', async () => {
    const { id } = await start(conditional);
    await work(id);
    expect(await states(id)).toEqual(['succeeded', 'paused', 'waiting', 'skipped']);
    const changed = await put(id, { configuration: '{"publish":"false","tell":"true","more":"x"}' });
    expect(changed.json.configuration).toEqual({ publish: 'false', tell: 'true', more: 'x' });
    expect(await states(id)).toEqual(['succeeded', 'paused', 'skipped', 'waiting']);
    await put(id, { state: 'running' });
    expect(await states(id)).toEqual(['succeeded', 'succeeded', 'skipped', 'ready']);
  });

  test('holds another operation when the one that was held is left out', async () => {
    const { id } = await start({
      configuration: { first: true },
      operations: [{ operation: 'noop', if: 'first' }, 'noop'],
    });
    await put(id, { state: 'paused' });
    await put(id, { configuration: '{"first":"false"}' });
    expect(await states(id)).toEqual(['skipped', 'paused']);
    await put(id, { state: 'running' });
    expect(await states(id)).toEqual(['skipped', 'ready']);
  });

  test('counts for what is tried again with it', async () => {
    const { id } = await start({
      configuration: { publish: true },
      operations: ['noop', { operation: 'noop', if: 'publish' }],
    });
    await work(id);
    await work(id, 'failed');
    expect((await put(id, { state: 'retry', configuration: '{"publish":false}' })).json.state).toBe(
      'succeeded',
    );
    expect(await states(id)).toEqual(['succeeded', 'skipped']);
  });

  test.each(['{', '[]', '"x"', '7'])('that is %s is refused with 400', async (configuration) => {
    const { id } = await start({ operations: ['noop'] });
    const { status, text } = await put(id, { configuration });
    expect([status, text]).toEqual([400, "Passed parameter 'configuration' is invalid JSON."]);
  });
});

describe('POST /api/workflows', () => {
  const wanted = { workflow_definition_identifier: 'publish' };

  test('starts a workflow with its configuration and says where it is', async () => {
    const event = await insertEvent(app.database);
    const { status, text, location } = await post({
      event_identifier: event,
      workflow_definition_identifier: 'publish',
      configuration: '{"publishToEngage":"false"}',
    });
    const workflow = JSON.parse(text);
    expect([status, location]).toEqual([201, `http://inlet.test/api/workflows/${workflow.identifier}`]);
    expect(workflow).toMatchObject({
      ...{ title: 'Publish', workflow_definition_identifier: 'publish', event_identifier: event },
      ...{ creator: 'admin', state: 'instantiated', configuration: { publishToEngage: 'false' } },
    });
    expect(workflow.operations.at(-1)).toMatchObject({ operation: 'publish', state: 'skipped' });
  });

  test('an alias names the definition as well', async () => {
    const event = await insertEvent(app.database);
    const { status, text } = await post({
      event_identifier: event,
      workflow_definition_identifier: 'delete',
    });
    expect([status, JSON.parse(text).workflow_definition_identifier]).toEqual([201, 'retract']);
  });

  test.each(['event_identifier', 'workflow_definition_identifier'])('without %s it is 400', async (name) => {
    const event = await insertEvent(app.database);
    const fields: Record<string, string> = { ...wanted, event_identifier: event };
    delete fields[name];
    const { status, text } = await post(fields);
    expect([status, text]).toEqual([400, `Required parameter '${name}' is missing or invalid`]);
  });

  test('an unknown event and an unknown definition are 404, an unreadable configuration 400', async () => {
    const event_identifier = await insertEvent(app.database);
    const refusals = await Promise.all([
      post({ ...wanted, event_identifier: 'nobody' }),
      post({ event_identifier, workflow_definition_identifier: 'nothing' }),
      post({ ...wanted, event_identifier, configuration: '{"a":' }),
    ]);
    expect(refusals.map(({ status, text }) => [status, text])).toEqual([
      [404, "Cannot find an event with id 'nobody'."],
      [404, "Cannot find workflow definition with id 'nothing'."],
      [400, "Passed parameter 'configuration' is invalid JSON."],
    ]);
  });

  test('while another workflow is active it is 409, and of ten at once one is started', async () => {
    const event_identifier = await insertEvent(app.database);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => post({ ...wanted, event_identifier })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
    const refused = answers.find(({ status }) => status === 409);
    expect(JSON.parse(refused?.text ?? '')).toEqual({
      message: 'There is an active workflow for this event; it has to end first.',
    });
  });
});

test('the list of workflows is filtered by state, definition and event, the latest first', async () => {
  const { id, event } = await start({ operations: ['noop'] });
  await work(id, 'failed');
  const second = await start({ operations: ['noop'] }, event);
  const read = async (filter: string) => {
    const answer = await app.request(`/api/workflows?filter=${filter}`);
    return ((await answer.json()) as { identifier: number }[]).map(({ identifier }) => identifier);
  };
  expect(await read(`event:${event}`)).toEqual([second.id, id]);
  expect(await read(`event:${event},state:failed`)).toEqual([id]);
  expect(await read(`event:${event},state:failed,state:instantiated`)).toEqual([second.id, id]);
  expect(await read(`event:${event},definition:told`)).toEqual([second.id, id]);
  expect(await read(`event:${event},definition:publish`)).toEqual([]);
  expect((await read('state:failed')).includes(id)).toBe(true);
  const refused = await app.request('/api/workflows?filter=state:flying');
  expect([refused.status, await refused.text()]).toEqual([400, "Invalid workflow state 'flying'"]);
});

test('a change that comes from the outside is written down with who asked for it', async () => {
  const { id, event } = await start({ operations: ['noop'] });
  await app.database.transaction().execute((trx) => advance(trx, id, { kind: 'stopped', by: 'grace' }));
  const changes = await app.database
    .selectFrom('changes')
    .select(['kind', 'actor', 'data'])
    .where('event_id', '=', event)
    .orderBy('id')
    .execute();
  expect(changes).toMatchObject([
    {
      kind: 'workflow.state',
      actor: 'ada',
      data: { workflow: id, state: 'INSTANTIATED', definition: 'told' },
    },
    { kind: 'workflow.state', actor: 'grace', data: { workflow: id, state: 'STOPPED' } },
  ]);
});
