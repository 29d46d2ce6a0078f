import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { send } from '../support/series.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

const pathOf = (name: string) => `/capture-admin/agents/${encodeURIComponent(name)}`;
const report = (name: string, fields: Record<string, string>) => send(app, 'POST', pathOf(name), fields);
const configure = (name: string, configuration: string) =>
  send(app, 'POST', `${pathOf(name)}/configuration`, { configuration });
const statusOf = async (name: string) => {
  const { text } = await send(app, 'GET', `/api/agents/${encodeURIComponent(name)}`);
  return (JSON.parse(text) as { status: string }).status;
};

describe('equal reports', () => {
  /** Which version of the row is stored: PostgreSQL makes a new one for every write. */
  const version = async (id: string) => {
    const { rows } = await sql<{ version: string }>`
      SELECT concat(xmin, ' ', xmax, ' ', ctid) AS version FROM capture_agents WHERE id = ${id}`.execute(
      app.database,
    );
    return rows[0]?.version;
  };

  test('cost no write', async () => {
    await report('calm', { state: 'idle', address: 'http://calm.test' });
    await configure('calm', '{"a":"1","b":"2"}');
    // However long the repetitions take, none is due to be written down for its age.
    await sql`UPDATE capture_agents SET seen_at = now() + interval '1 hour' WHERE id = 'calm'`.execute(
      app.database,
    );
    const before = await version('calm');
    for (let i = 0; i < 20; i += 1) {
      expect((await report('calm', { state: 'idle', address: 'http://calm.test' })).status).toBe(200);
      expect((await report('calm', { state: 'idle' })).status).toBe(200);
      expect((await configure('calm', '{"b":2,"a":"1"}')).status).toBe(200);
    }
    expect(await version('calm')).toBe(before);
  });

  test.each([
    ['another state', (name: string) => report(name, { state: 'capturing' })],
    ['another address', (name: string) => report(name, { state: 'idle', address: 'http://else.test' })],
    ['another configuration', (name: string) => configure(name, '{"a":"2"}')],
  ])('are no longer equal with %s', async (what, change) => {
    await report(what, { state: 'idle' });
    const before = await version(what);
    await change(what);
    expect(await version(what)).not.toBe(before);
  });

  test.each([
    ['report', (name: string) => report(name, { state: 'idle' })],
    ['configuration', (name: string) => configure(name, '{}')],
  ])('are written down once the last one is half a minute old: a %s', async (what, repeat) => {
    await report(what, { state: 'idle' });
    await sql`UPDATE capture_agents SET seen_at = now() - interval '31 seconds' WHERE id = ${what}`.execute(
      app.database,
    );
    const before = await version(what);
    await repeat(what);
    const seen = await version(what);
    expect(seen).not.toBe(before);
    await repeat(what);
    expect(await version(what)).toBe(seen);
  });
});

test('of many first reports at once none fails, and one of them is kept', async () => {
  const states = ['idle', 'capturing', 'uploading', 'error'];
  const name = randomUUID();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      i % 2 === 0 ? report(name, { state: states[(i / 2) % 4] ?? '' }) : configure(name, `{"n":${i}}`),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(states).toContain(await statusOf(name));
});
