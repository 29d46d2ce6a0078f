import type { Hono } from 'hono';
import type { Config } from '#platform/config/config.ts';
import { PLAIN_TEXT } from '#platform/http/errors/errors.ts';
import { measureProcess } from '#platform/telemetry/metrics.ts';
import manifest from '../../package.json' with { type: 'json' };
import { createApp } from './app.ts';
import { type Context, createContext } from './context.ts';
import { logRuntimeProblems, printStartFailure, startTracing } from './process.ts';
import { Shutdown } from './shutdown.ts';

/** Shortest time between two attempts to start. */
const PAUSE_MS = 1_000;
/** The process exits this long after its shutdown deadline, whatever hangs. */
const LAST_RESORT_MS = 500;
const NOT_NOW = {
  'Content-Type': PLAIN_TEXT,
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Retry-After': '5',
};

interface Started {
  context: Context;
  app: Hono;
  shutdown: Shutdown;
}

/** The API for a server that already exists. Built at the first request; a failed build is repeated later. */
export class EdgeApp {
  readonly #underWay = new Set<Promise<unknown>>();
  #started: Promise<Started | undefined> | undefined;
  #closing: Promise<void> | undefined;
  #owned = false;
  readonly #config: () => Config;

  constructor(config: () => Config) {
    this.#config = config;
  }

  /** Answers 503 while the application cannot be built. @param completed settles when the response is sent, if known */
  async fetch(
    request: Request,
    peer: { remoteAddress: string | undefined },
    completed?: Promise<unknown>,
  ): Promise<Response> {
    const started = this.#closing ? undefined : await this.#start();
    if (!started) return new Response('The server cannot start. Try again later.', { status: 503, headers: NOT_NOW });
    const answer = Promise.resolve(started.app.fetch(request, peer));
    this.#wait(answer);
    if (completed) this.#wait(completed);
    return answer;
  }

  /** Finishes open requests and releases everything within `SHUTDOWN_SECONDS`. Close the server first. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  /** Takes over the process: signals stop it, unhandled rejections do not. */
  ownProcess(): void {
    this.#owned = true;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void this.close());
  }

  #start(): Promise<Started | undefined> {
    this.#started ??= this.#build().catch((error) => {
      printStartFailure(error);
      setTimeout(() => {
        this.#started = undefined;
      }, PAUSE_MS).unref();
      return undefined;
    });
    return this.#started;
  }

  async #build(): Promise<Started> {
    const context = await createContext(this.#config(), 'api');
    const shutdown = new Shutdown({ log: context.log, deadlineMs: context.config.shutdownMs });
    if (this.#owned) {
      logRuntimeProblems(context.log);
      measureProcess({ ...context, version: manifest.version });
      await startTracing(context, shutdown);
    }
    return { context, app: createApp(context), shutdown };
  }

  async #end(): Promise<void> {
    const started = await this.#started;
    if (!started) return;
    const { shutdown } = started;
    const { config, locks, streams, close } = started.context;
    shutdown.finish('answer open requests', async () => {
      // Uploads that can resume elsewhere need not be waited for.
      locks.wantAll();
      await streams.close();
      while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
    });
    shutdown.release('connections', close);
    if (this.#owned) setTimeout(() => process.exit(1), config.shutdownMs + LAST_RESORT_MS).unref();
    await shutdown.run();
  }

  #wait(work: Promise<unknown>): void {
    this.#underWay.add(work);
    const remove = () => this.#underWay.delete(work);
    work.then(remove, remove);
  }
}
