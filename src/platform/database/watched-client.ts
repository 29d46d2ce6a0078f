import type pg from 'pg';
import { createClient, type Limits } from './limits.ts';

/**
 * A connection of its own for somebody who waits to hear something on it. Nobody may notice that such a one has gone, so
 * it is asked again and again.
 */
export class WatchedClient {
  readonly #client: pg.Client;
  readonly #probeMs: number;
  readonly #onLost: (error: Error) => void;
  #probe: NodeJS.Timeout | undefined;
  #lost = false;
  #closed = false;
  #last: Promise<unknown> = Promise.resolve();

  /**
   * @param watching.probeMs how long after an answer it is asked again
   * @param watching.onNotification hears what comes on channels that are listened to
   * @param watching.onLost is told once that it has gone, or did not come about; also after `close`
   */
  constructor(
    databaseUrl: string,
    applicationName: string,
    {
      limits,
      probeMs,
      onNotification,
      onLost,
    }: {
      limits: Limits;
      probeMs: number;
      onNotification: (message: pg.Notification) => void;
      onLost: (error: Error) => void;
    },
  ) {
    this.#probeMs = probeMs;
    this.#onLost = onLost;
    this.#client = createClient(databaseUrl, limits, applicationName);
    this.#client.on('notification', onNotification);
    this.#client.on('error', (error) => this.#lose(error));
    this.#client.on('end', () => this.#lose(new Error('The connection was closed.')));
  }

  /** Connects, and runs a statement before anything else. */
  async open(statement: string): Promise<void> {
    try {
      await this.#client.connect();
      await this.ask(statement);
    } catch (error) {
      this.#lose(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
    this.#probeLater();
  }

  /** One after the other, as the driver wants it. */
  ask<Row extends pg.QueryResultRow>(text: string, values?: string[]): Promise<pg.QueryResult<Row>> {
    const asked = this.#last.then(() => this.#client.query<Row>(text, values));
    this.#last = asked.catch(() => undefined);
    return asked;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#probe);
    await this.#client.end().catch(() => undefined);
  }

  #probeLater(): void {
    if (this.#closed) return;
    const probe = () =>
      this.ask('SELECT 1').then(
        () => this.#probeLater(),
        (error) => this.#lose(error),
      );
    this.#probe = setTimeout(probe, this.#probeMs).unref();
  }

  #lose(error: Error): void {
    if (this.#lost) return;
    this.#lost = true;
    void this.close();
    this.#onLost(error);
  }
}
