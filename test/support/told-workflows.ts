import { afterAll, beforeAll } from 'vitest';
import { type Claim, claimOperation, type Ending, endClaim } from '../../src/workflows/claims.ts';
import { parseDefinition } from '../../src/workflows/definitions.ts';
import { startWorkflow } from '../../src/workflows/start.ts';
import { createTestApp, type TestApp } from './app.ts';
import { insertEvent } from './publication.ts';
import { AT_ONCE, operationsOf } from './workflows.ts';

interface Definition {
  operations: (string | object)[];
  on_failure?: (string | object)[];
  configuration?: Record<string, unknown>;
}

/** An application with workflows that a test defines and works off itself. Opens and closes it with the tests of a file. */
export function toldWorkflowsForThisFile() {
  let opened: TestApp | undefined;
  const application = () => {
    if (!opened) throw new Error('The application is not open yet.');
    return opened;
  };
  beforeAll(async () => {
    opened = await createTestApp();
  });
  afterAll(() => opened?.close());
  const app = {
    get database() {
      return application().database;
    },
    request: (...args: Parameters<TestApp['request']>) => application().request(...args),
  };

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

  return { app, start, states, claim, end, work, put, post };
}
