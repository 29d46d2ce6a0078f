import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { createQueue } from '../../../src/platform/queue/create-queue.ts';
import { processesWith } from '../../../test/support/media.ts';
import type { World } from '../world/world.ts';
import { foundAfter } from './found-after.ts';

/** What a killed worker left behind is cleared away by another after two minutes; an upload's lock goes at once. */
const CLEARED_MS = 240_000;

/** What is still at work, or in a queue, or held, though nobody asks for anything. */
export async function nothingIsStuck(world: World): Promise<string[]> {
  const queue = createQueue(
    { redisUrl: world.directEnv.REDIS_URL },
    world.directEnv.DATABASE_URL ?? '',
    pino({ level: 'silent' }),
  );
  const look = async () => [
    ...(await operations(world)),
    ...(await jobs(queue.queues())),
    ...(await locks(world)),
    ...(await atWork(world)),
  ];
  try {
    return await foundAfter(look, CLEARED_MS);
  } finally {
    await queue.close();
  }
}

async function operations({ database }: World): Promise<string[]> {
  const rows = await database
    .selectFrom('workflow_operations')
    .select(['id', 'operation', 'state'])
    .where('state', 'in', ['ready', 'running'])
    .execute();
  return rows.map(({ id, operation, state }) => `operation ${id} (${operation}) is ${state}`);
}

type Queues = ReturnType<ReturnType<typeof createQueue>['queues']>;

async function jobs(queues: Queues): Promise<string[]> {
  const found = queues.map(async (queue) => {
    const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized');
    return Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([state, count]) => `${count} jobs of the lane ${queue.name} are ${state}`);
  });
  return (await Promise.all(found)).flat();
}

/** Uploads are locked while somebody writes to them. */
async function locks({ database }: World): Promise<string[]> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM pg_locks
    WHERE locktype = 'advisory' AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`.execute(database);
  const count = rows[0]?.count ?? 0;
  return count > 0 ? [`${count} locks are held`] : [];
}

async function atWork({ dataDir }: World): Promise<string[]> {
  const work = join(dataDir, 'work');
  const tools = processesWith(work).map((pid) => `process ${pid} is a tool at work`);
  const folders = await readdir(work).catch(() => []);
  return [...tools, ...folders.map((name) => `the working folder ${name} is left`)];
}
