import type pg from 'pg';
import { createClient, type Limits } from './limits.ts';

/**
 * A separate connection that waits for notifications. The loss of an idle connection goes unnoticed, so it is probed
 * periodically.
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
   * @param watching.probeMs time from an answer to the next probe
   * @param watching.onLost called once when the connection breaks, fails or is closed
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

  /** Connects and runs a first statement. */
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

  /** Runs statements one after another, as the driver requires. */
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
