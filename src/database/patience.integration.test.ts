import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { startProxyTo } from '../../test/support/proxy.ts';
import { createDatabase } from './kysely.ts';
import { isDatabaseOutage } from './outage.ts';
import { waitWhileAway } from './patience.ts';
import { createPool } from './pool.ts';

async function reachable(waitMs: number) {
  const { url, close } = await createTestDatabase();
  onTestFinished(close);
  const { proxy, url: through } = await startProxyTo(url);
  onTestFinished(proxy.stop);
  const pool = createPool(through, { max: 3, onError: () => undefined });
  onTestFinished(() => pool.end());
  const database = createDatabase(waitWhileAway(pool, waitMs));
  const ask = () => sql<{ n: number }>`SELECT 1 AS n`.execute(database).then(({ rows }) => rows[0]?.n);
  return { proxy, ask };
}

test.each(['part', 'hangUp'] as const)(
  'who asks a database that is away waits until it is back: %s',
  async (way) => {
    const { proxy, ask } = await reachable(20_000);
    expect(await ask()).toBe(1);
    await proxy.part();
    // What was connected has to be found broken, or it is asked.
    await sleep(100);
    await proxy.join();
    await proxy[way]();
    let answered = 0;
    const answers = Array.from({ length: 30 }, async () => {
      const n = await ask();
      answered += 1;
      return n;
    });
    await sleep(700);
    expect(answered).toBe(0);
    await proxy.join();
    expect(new Set(await Promise.all(answers))).toEqual(new Set([1]));
  },
);

test('nobody waits longer than that', async () => {
  const { proxy, ask } = await reachable(600);
  await proxy.part();
  const failures = await Promise.all(Array.from({ length: 10 }, () => ask().catch((error) => error)));
  expect(failures.map((error) => isDatabaseOutage(error))).toEqual(failures.map(() => true));
  await proxy.join();
  expect(await ask()).toBe(1);
});
