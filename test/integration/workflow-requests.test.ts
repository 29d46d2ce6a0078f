import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { advance } from '../../src/workflows/advance.ts';
import { WORKFLOW_MOVES } from '../../src/workflows/states.ts';
import { insertEvent } from '../support/publication.ts';
import { toldWorkflowsForThisFile } from '../support/told-workflows.ts';
import { processingState } from '../support/workflows.ts';

const { app, start, states, work, put, post } = toldWorkflowsForThisFile();

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

  test('brings back nothing whose turn has passed while a failure is dealt with', async () => {
    const { id } = await start({
      configuration: { first: false },
      operations: ['noop'],
      on_failure: [{ operation: 'noop', if: 'first' }, 'noop', 'noop'],
    });
    await work(id, 'failed');
    await work(id);
    await put(id, { configuration: '{"first":"true"}' });
    expect(await states(id)).toEqual(['failed', 'skipped', 'succeeded', 'ready']);
  });

  test('of a workflow that has ended counts when it is tried again', async () => {
    const definition = {
      configuration: { more: false },
      operations: ['noop', { operation: 'noop', if: 'more' }],
    };
    const done = await start(definition);
    await work(done.id);
    expect((await put(done.id, { configuration: '{"more":"true"}' })).json.state).toBe('succeeded');
    expect(await states(done.id)).toEqual(['succeeded', 'skipped']);
    const failed = await start(definition);
    await work(failed.id, 'failed');
    await put(failed.id, { configuration: '{"more":"true"}' });
    await put(failed.id, { state: 'retry' });
    expect(await states(failed.id)).toEqual(['ready', 'waiting']);
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
