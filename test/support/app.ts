import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { hashPassword } from '#access/accounts/secrets.ts';
import { createApp } from '#app/app.ts';
import { type Context, createContext } from '#app/context.ts';
import { ChangeFeed } from '#changes/change-feed.ts';
import { UpdateStreams } from '#notifications/stream/update-streams.ts';
import { loadConfig } from '#platform/config/config.ts';
import type { Database } from '#platform/database/kysely.ts';
import { Notifications } from '#platform/database/notifications.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { silentLogger } from '#platform/telemetry/log.ts';
import { LoopMonitor } from '#platform/telemetry/pulse.ts';
import { createTestDatabase } from './database.ts';
import { checkAnswer } from './openapi.ts';
import { FOR_AGES } from './watched.ts';

export const ADMIN = basic('admin', 'opencast');

/** Whoever reads an answer to its end does not wait for long. */
const STREAM_MS = 200;

/** The application in this process, on a database and a folder of its own, without a server or a worker. */
export interface TestApp {
  context: Context;
  database: Database;
  storage: ObjectStorage;
  /** What is registered: handlers by their method, middleware as `ALL`. */
  routes: readonly { method: string; path: string }[];
  /** As the administrator, unless the headers say otherwise. Fails for answers that the OpenAPI document forbids. */
  request(path: string, init?: RequestInit): Promise<Response>;
  /** The same without any credentials. */
  anonymous(path: string, init?: RequestInit): Promise<Response>;
  /** Adds an account. @returns its Authorization header */
  account(username: string, ...roles: string[]): Promise<string>;
  close(): Promise<void>;
}

/**
 * @param wrap puts something between the application and its object storage
 * @param environment more configuration
 * @param options.streamMs how long streams of updates last, which have no end elsewhere
 * @param options.database what it asks the database by, given its address
 */
export async function createTestApp(
  wrap: (storage: ObjectStorage) => ObjectStorage = (storage) => storage,
  environment: Record<string, string> = {},
  { streamMs = STREAM_MS, ...options }: { streamMs?: number; database?: (url: string) => Database } = {},
): Promise<TestApp> {
  const { url, database, close } = await createTestDatabase();
  const logged = options.database?.(url);
  // The folder of the run: what an application that stays open keeps is removed with it.
  const dataDir = await mkdtemp(join(process.env.TEST_CLIPS ?? tmpdir(), 'inlet-app-'));
  const config = loadConfig({
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    PUBLIC_URL: 'http://inlet.test',
    ADMIN_PASSWORD: 'opencast',
    ...environment,
  });
  const storage = await config.storage.open(config.uploadMemoryBytes);
  const notifications = new Notifications(url, silentLogger);
  const feed = new ChangeFeed({ database, notifications, pulse: new LoopMonitor(), log: silentLogger });
  const context = await createContext(config, 'api', {
    log: silentLogger,
    storage: wrap(storage),
    ...(logged && { database: logged }),
    notifications,
    watch: { seen: FOR_AGES, close: () => undefined },
    streams: new UpdateStreams({ feed, database }, { lifetimeMs: streamMs }),
  });
  const app = await createApp(context);
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await app.request(path, init);
    await checkAnswer(init.method ?? 'GET', path, answer);
    return answer;
  };
  return {
    context,
    database,
    storage,
    routes: app.routes,
    request: (path, init = {}) => {
      const headers = new Headers(init.headers);
      if (!headers.has('Authorization')) headers.set('Authorization', ADMIN);
      return ask(path, { ...init, headers });
    },
    anonymous: ask,
    account: async (username, ...roles) => {
      await database
        .insertInto('accounts')
        .values({ username, password_hash: await hashPassword('secret'), roles })
        .execute();
      return basic(username, 'secret');
    },
    close: async () => {
      await context.close();
      await logged?.destroy();
      await close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

const shared = new Map<string, Promise<TestApp>>();

/**
 * The application of this worker with this configuration, for the files that need nothing special. Other files have left
 * rows in its database, and it stays open after the file: tests look at the series, events and accounts that they made.
 */
export function workerApp(environment: Record<string, string> = {}): Promise<TestApp> {
  const key = JSON.stringify(environment);
  const app =
    shared.get(key) ??
    createTestApp(undefined, environment).then((made) => ({ ...made, close: async () => undefined }));
  shared.set(key, app);
  return app;
}

/** An application for one file or group alone, which calls this where it is described; closed after it. */
export async function ownApp(...options: Parameters<typeof createTestApp>): Promise<TestApp> {
  const app = await createTestApp(...options);
  afterAll(() => app.close());
  return app;
}

function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
