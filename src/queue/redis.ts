import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { withTimeout } from '../timeout.ts';
import type { BullBackend } from './bull.ts';

const CHECK_MS = 2_000;

/** BullMQ over Redis. */
export function redisBackend(url: string): BullBackend {
  // Fails at once while Redis is away, where BullMQ's default would wait for it for ever.
  const commands = connect(url, { enableOfflineQueue: false, maxRetriesPerRequest: 1 });
  const consumers: Redis[] = [];
  return {
    kind: 'redis',
    queue: (name, options) => new Queue(name, { ...options, connection: commands, prefix: 'inlet' }),
    worker: (name, process, options) => {
      // A blocking command waits as long as it takes.
      const connection = connect(url, { maxRetriesPerRequest: null });
      consumers.push(connection);
      return new Worker(name, process, { ...options, connection, prefix: 'inlet' });
    },
    check: async () => {
      await withTimeout(
        ready(commands).then(() => commands.ping()),
        CHECK_MS,
        'Redis does not answer.',
      );
    },
    close: async () => {
      for (const connection of [commands, ...consumers]) connection.disconnect();
    },
  };
}

function connect(
  url: string,
  options: { enableOfflineQueue?: boolean; maxRetriesPerRequest: number | null },
): Redis {
  const connection = new Redis(url, {
    ...options,
    connectTimeout: 5_000,
    retryStrategy: (attempt) => Math.min(attempt * 200, 2_000),
  });
  // BullMQ reports what matters; without a listener ioredis prints to the console.
  connection.on('error', () => undefined);
  return connection;
}

function ready(connection: Redis): Promise<void> {
  if (connection.status === 'ready') return Promise.resolve();
  return new Promise((resolve) => connection.once('ready', () => resolve()));
}
