import { Redis } from 'ioredis';
import type pg from 'pg';
import type { Check, Diagnosis } from './check.ts';

const PATIENCE_MS = 5_000;
/** Among the keys of the queues, for the account may have no others. */
const PROBE = 'inlet:doctor';
const PROBE_SECONDS = 10;

/** Whether jobs can be kept, and are not dropped. */
export function queueCheck(redisUrl: string | undefined, connect: () => Promise<{ client: pg.Client }>): Check {
  if (redisUrl === undefined) {
    return {
      name: 'queue',
      todo: 'See the database.',
      run: async () => {
        const { client } = await connect();
        const { rows } = await client.query("SELECT FROM pg_namespace WHERE nspname = 'bullmq'");
        if (rows.length === 0) return { state: 'fail', found: 'it has no tables', todo: 'Run npm run migrate.' };
        return { state: 'ok', found: 'in the database; with REDIS_URL it would do more a second' };
      },
    };
  }
  return {
    name: 'queue',
    todo: 'REDIS_URL says where it is; see whether Redis runs there, takes the password and can write.',
    run: () => redis(redisUrl),
  };
}

async function redis(url: string): Promise<Diagnosis[]> {
  const connection = new Redis(url, {
    lazyConnect: true,
    connectTimeout: PATIENCE_MS,
    commandTimeout: PATIENCE_MS,
    retryStrategy: () => null,
  });
  let reason: Error | undefined;
  connection.on('error', (error) => {
    reason = error;
  });
  try {
    // What it rejects with itself says only that the connection has gone.
    await connection.connect().catch((error) => {
      throw reason ?? error;
    });
    // One whose disk is full, or that follows another, answers all that only reads.
    await connection.set(PROBE, '1', 'EX', PROBE_SECONDS);
    const server = facts(await connection.info('server'));
    const memory = facts(await connection.info('memory'));
    const persistence = facts(await connection.info('persistence'));
    const found = `Redis ${server.get('redis_version')}`;
    const diagnoses: Diagnosis[] = [];
    const policy = memory.get('maxmemory_policy');
    if (policy !== 'noeviction') {
      const todo = 'Set maxmemory-policy noeviction: else jobs are dropped when memory is short.';
      diagnoses.push({ state: 'fail', found: `${found}, maxmemory-policy is ${policy}`, todo });
    }
    if (persistence.get('aof_enabled') !== '1') {
      const todo = 'Set appendonly yes: else each start of Redis makes work be handed out anew.';
      diagnoses.push({ state: 'warn', found: `${found}, nothing is appended to a file`, todo });
    }
    return diagnoses.length > 0 ? diagnoses : [{ state: 'ok', found: `${found}, ${policy}, append-only file` }];
  } finally {
    connection.disconnect();
  }
}

/** `INFO` as names and values. */
function facts(info: string): Map<string, string> {
  return new Map(
    info.split('\r\n').flatMap((line) => {
      const [name, value] = line.split(':');
      return name && value !== undefined ? [[name, value] as const] : [];
    }),
  );
}
