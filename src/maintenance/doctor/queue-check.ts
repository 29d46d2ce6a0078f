import { Redis } from 'ioredis';
import type pg from 'pg';
import type { Check, Diagnosis } from './check.ts';

const PATIENCE_MS = 5_000;
/** Has the prefix of the queues' keys, because the account may be restricted to it. */
const PROBE = 'inlet:doctor';
const PROBE_SECONDS = 10;
const RECOMMENDED = '6.2';

/** Checks that the queue can store jobs and does not drop them. */
export function queueCheck(redisUrl: string | undefined, connect: () => Promise<{ client: pg.Client }>): Check {
  if (redisUrl === undefined) {
    return {
      name: 'queue',
      todo: 'Fix the database first.',
      run: async () => {
        const { client } = await connect();
        const { rows } = await client.query("SELECT FROM pg_namespace WHERE nspname = 'bullmq'");
        if (rows.length === 0) return { state: 'fail', found: 'the queue has no tables', todo: 'Run npm run migrate.' };
        return { state: 'ok', found: 'in the database; Redis (REDIS_URL) has a higher throughput' };
      },
    };
  }
  return {
    name: 'queue',
    todo: 'Check REDIS_URL, and that Redis runs there, accepts the password and can write.',
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
    // The rejection itself only says that the connection is closed.
    await connection.connect().catch((error) => {
      throw reason ?? error;
    });
    const server = facts(await connection.info('server'));
    const found = `Redis ${server.get('redis_version')}`;
    const unsuitable = unsuitableMode(server);
    if (unsuitable) return [unsuitable];
    // A server with a full disk and a replica both accept reads.
    await connection.set(PROBE, '1', 'EX', PROBE_SECONDS);
    const memory = facts(await connection.info('memory'));
    const persistence = facts(await connection.info('persistence'));
    const diagnoses: Diagnosis[] = [];
    if (isOutdated(server)) {
      diagnoses.push({ state: 'warn', found, todo: `BullMQ recommends Redis ${RECOMMENDED} or later.` });
    }
    const policy = memory.get('maxmemory_policy');
    if (policy !== 'noeviction') {
      const todo = 'Set maxmemory-policy noeviction. Otherwise Redis drops jobs when memory runs out.';
      diagnoses.push({ state: 'fail', found: `${found}, maxmemory-policy is ${policy}`, todo });
    }
    if (persistence.get('aof_enabled') !== '1') {
      const todo = 'Set appendonly yes. Otherwise each restart of Redis makes Inlet queue all work again.';
      diagnoses.push({ state: 'warn', found: `${found}, append-only file is off`, todo });
    }
    return diagnoses.length > 0 ? diagnoses : [{ state: 'ok', found: `${found}, ${policy}, append-only file` }];
  } finally {
    connection.disconnect();
  }
}

/** Reports a server that holds no queues, by the section `server` of its `INFO`. */
export function unsuitableMode(server: ReadonlyMap<string, string>): Diagnosis | undefined {
  const mode = server.get('redis_mode');
  if (mode === 'sentinel') {
    const todo = 'Let REDIS_URL lead to the primary that Sentinel watches, through a proxy.';
    return { state: 'fail', found: 'the server is a Sentinel', todo };
  }
  if (mode === 'cluster') {
    const todo = 'Use a server with cluster-enabled no. Inlet does not support clusters of Redis.';
    return { state: 'fail', found: 'the server is a node of a cluster', todo };
  }
  return undefined;
}

export function isOutdated(server: ReadonlyMap<string, string>): boolean {
  return (server.get('redis_version') ?? '').localeCompare(RECOMMENDED, 'en', { numeric: true }) < 0;
}

/** Parses the answer of `INFO`. */
function facts(info: string): Map<string, string> {
  return new Map(
    info.split('\r\n').flatMap((line) => {
      const [name, value] = line.split(':');
      return name && value !== undefined ? [[name, value] as const] : [];
    }),
  );
}
