import { once } from 'node:events';
import { Queue } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import { withTimeout } from '../process/timeout.ts';
import type { BullBackend } from './bull.ts';
import { WatchedWorker } from './consumer.ts';

const CHECK_MS = 2_000;
/** A silent connection with open commands is replaced after this time. */
const SILENCE_MS = 5_000;
/** Workers wait five seconds for a job. */
const WORKER_SILENCE_MS = 10_000;

export function redisBackend(url: string, { silenceMs = SILENCE_MS } = {}): BullBackend {
  // Fails fast while Redis is down; BullMQ's default waits forever.
  const commands = connect(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    socketTimeout: silenceMs,
  });
  const ready = readiness(commands);
  const consumers = new Set<Redis>();
  return {
    kind: 'redis',
    queue: (name, options) => new Queue(name, { ...options, connection: commands, prefix: 'inlet' }),
    worker: (name, process, options) => {
      // Blocking commands may take any time.
      const connection = connect(url, { maxRetriesPerRequest: null, socketTimeout: WORKER_SILENCE_MS });
      consumers.add(connection);
      const worker = new WatchedWorker(name, process, { ...options, connection, prefix: 'inlet' });
      worker.release = () => {
        connection.disconnect();
        consumers.delete(connection);
      };
      return worker;
    },
    check: async () => {
      await withTimeout(
        ready().then(() => commands.ping()),
        CHECK_MS,
        'Redis does not answer.',
      );
    },
    // Redis measures locks by its own clock.
    forgetFuture: async () => undefined,
    close: async () => {
      for (const connection of [commands, ...consumers]) connection.disconnect();
    },
  };
}

function connect(
  url: string,
  options: Pick<RedisOptions, 'enableOfflineQueue' | 'maxRetriesPerRequest' | 'socketTimeout'>,
): Redis {
  const connection = new Redis(url, {
    ...options,
    connectTimeout: 5_000,
    keepAlive: 10_000,
    retryStrategy: (attempt) => Math.min(attempt * 200, 2_000),
  });
  // BullMQ reports errors; without a listener ioredis prints them.
  connection.on('error', () => undefined);
  return connection;
}

/** Waits until the connection is ready, with one listener for all callers. @throws {Error} when Redis is unreachable */
function readiness(connection: Redis): () => Promise<void> {
  let coming: Promise<void> | undefined;
  return async () => {
    if (connection.status === 'ready') return;
    coming ??= once(connection, 'ready', { signal: AbortSignal.timeout(CHECK_MS) })
      .then(
        () => undefined,
        // The original error quotes commands, even passwords.
        ({ message }: Error) => {
          throw new Error(`Redis does not answer: ${message}`);
        },
      )
      .finally(() => {
        coming = undefined;
      });
    await coming;
  };
}
