import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LANES } from '../src/queue/port.ts';
import { assignLanes, takeDeliveries } from '../src/workflows/outbox.ts';
import { createTestDatabase, type TestDatabase } from '../test/support/database.ts';
import { VIDEO } from '../test/support/streams.ts';
import { startTestWorkflow } from '../test/support/workflows.ts';
import { laneChoice, slotsOf } from './lanes.ts';
import { operations } from './operations/index.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());

const FOUR_K = { ...VIDEO, codec: 'vp9', profile: null, width: 3840, height: 2160 };

/** An operation that is ready, on an event with these recordings; `null` for one that nobody has inspected. */
async function ready(operation: string, ...frameCounts: (number | null)[]): Promise<string> {
  const { eventId } = await startTestWorkflow(db.database, [operation]);
  for (const [position, frameCount] of frameCounts.entries()) {
    await db.database
      .insertInto('tracks')
      .values({
        id: randomUUID(),
        event_id: eventId,
        position,
        flavor: 'presenter/source',
        filename: 'a.webm',
        mediatype: 'video/webm',
        object_key: randomUUID(),
        size: 10_000_000_000,
        sha256: '0'.repeat(64),
        duration: frameCount && frameCount * 40,
        streams: frameCount && JSON.stringify([{ ...FOUR_K, frameCount }]),
      })
      .execute();
  }
  return eventId;
}

test('encoding hours in 4K goes to a lane of its own, which nothing else waits in', async () => {
  await ready('encode', 250);
  await ready('encode', 250, 1_000_000);
  await ready('encode', null);
  await ready('encode');
  await ready('preview', 1_000_000);
  await ready('inspect', 1_000_000);
  await ready('unknown');
  await assignLanes(db.database, laneChoice(db.database, operations));
  const deliveries = await takeDeliveries(db.database, LANES);
  const inOrder = deliveries.toSorted((a, b) => a.operationId - b.operationId);
  expect(inOrder.map(({ lane }) => lane)).toEqual([
    'heavy',
    'long',
    'heavy',
    'heavy',
    'heavy',
    'light',
    'light',
  ]);
});

test('long ones get a slot, and more on larger workers, beside those of the others', () => {
  expect([1, 2, 8].map((n) => slotsOf('long', n))).toEqual([1, 1, 4]);
  expect(slotsOf('heavy', 2)).toBe(2);
});
