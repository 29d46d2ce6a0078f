import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { couldSpeakFor, type DatabaseWatch, type Watched } from '#platform/database/watch.ts';
import type { Logger } from '#platform/telemetry/log.ts';

/** Time for which a request holds its key after its process last renewed it. */
export const LEASE_SECONDS = 60;
const RENEWAL_MS = 15_000;
const KEPT_HOURS = 24;
const TRIES = 3;

/** An answer as it was sent. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** The state of a key. */
export type KeyState =
  | { state: 'taken'; attempt: string }
  | { state: 'under way' }
  | { state: 'answered'; fingerprint: string; answer: Answer };

/** Another request took the key: this process did not renew it for a whole lease. */
export class KeyLost extends Error {
  override name = 'KeyLost';
}

/**
 * Keeps the idempotency keys in use and the answers to their requests. A unique constraint decides between
 * processes. One ledger per process; it keeps the keys of its own requests alive.
 */
export class IdempotencyLedger {
  readonly #database: Database;
  readonly #vital: Database;
  readonly #watch: Pick<DatabaseWatch, 'seen'>;
  readonly #log: Logger;
  readonly #renewal: NodeJS.Timeout;
  /** Requests of this process that hold a key. */
  readonly #attempts = new Set<string>();

  /** @param options.vital connections that nothing else can use up, for the renewal; else it waits with the others */
  constructor(options: {
    database: Database;
    vital?: Database;
    watch: Pick<DatabaseWatch, 'seen'>;
    log: Logger;
  }) {
    this.#database = options.database;
    this.#vital = options.vital ?? options.database;
    this.#watch = options.watch;
    this.#log = options.log;
    this.#renewal = setInterval(() => void this.renew(), RENEWAL_MS);
    this.#renewal.unref();
  }

  /** Takes the key when it is new, has expired, or is held by a request that died; else says what is known of it. */
  async take(sender: string, key: string): Promise<KeyState> {
    const attempt = randomUUID();
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (await this.#insert(sender, key, attempt)) {
        this.#attempts.add(attempt);
        return { state: 'taken', attempt };
      }
      const row = await this.#database
        .selectFrom('idempotency_keys')
        .select(['fingerprint', 'status', 'headers', 'body'])
        .select(this.#expired().as('expired'))
        .where('sender', '=', sender)
        .where('key', '=', key)
        .executeTakeFirst();
      // Given back, or expired, between the two statements.
      if (!row || row.expired) continue;
      const { fingerprint, status, headers, body } = row;
      if (fingerprint === null || status === null || body === null) return { state: 'under way' };
      const answer = { status, headers: headers as Record<string, string>, body };
      return { state: 'answered', fingerprint, answer };
    }
    return { state: 'under way' };
  }

  /**
   * Remembers the answer in the transaction that writes what it tells of.
   *
   * @throws {KeyLost} when the transaction must roll back, because another request may have done the same
   */
  async complete(trx: Transaction, attempt: string, fingerprint: string, answer: Answer): Promise<void> {
    const { numUpdatedRows } = await trx
      .updateTable('idempotency_keys')
      .set({
        fingerprint,
        status: answer.status,
        headers: JSON.stringify(answer.headers),
        body: answer.body,
        expires_at: sql<Date>`now() + make_interval(hours => ${KEPT_HOURS})`,
      })
      .where('attempt', '=', attempt)
      .where('status', 'is', null)
      .executeTakeFirst();
    if (Number(numUpdatedRows) !== 1) throw new KeyLost('Another request has taken the key over.');
  }

  /** Gives the key back unless the request was answered. When that fails, the key comes free with its lease. */
  async release(attempt: string): Promise<void> {
    this.#attempts.delete(attempt);
    try {
      await this.#database
        .deleteFrom('idempotency_keys')
        .where('attempt', '=', attempt)
        .where('status', 'is', null)
        .execute();
    } catch (error) {
      this.#log.warn({ err: error }, 'could not give an idempotency key back; its lease will end');
    }
  }

  /** Keeps the keys of requests under way; runs by itself. */
  async renew(): Promise<void> {
    if (this.#attempts.size === 0) return;
    try {
      await this.#vital
        .updateTable('idempotency_keys')
        .set({ expires_at: lease() })
        .where('attempt', 'in', (from) =>
          // One that is being answered must not hold up the others.
          from
            .selectFrom('idempotency_keys')
            .select('attempt')
            .where('attempt', 'in', [...this.#attempts])
            .where('status', 'is', null)
            .forUpdate()
            .skipLocked(),
        )
        .where('status', 'is', null)
        .execute();
    } catch (error) {
      this.#log.warn({ err: error }, 'could not renew idempotency keys');
    }
  }

  /** Stops renewing. */
  close(): void {
    clearInterval(this.#renewal);
  }

  /** An outage of the database is no silence of a request under way. */
  #expired() {
    return sql<boolean>`(idempotency_keys.expires_at <= now()
      AND (idempotency_keys.status IS NOT NULL OR ${couldSpeakFor(LEASE_SECONDS, this.#watch.seen)}))`;
  }

  async #insert(sender: string, key: string, attempt: string): Promise<boolean> {
    const taken = await this.#database
      .insertInto('idempotency_keys')
      .values({ sender, key, attempt, expires_at: lease() })
      .onConflict((conflict) =>
        conflict
          .columns(['sender', 'key'])
          .doUpdateSet({
            attempt,
            fingerprint: null,
            status: null,
            headers: null,
            body: null,
            expires_at: lease(),
          })
          .where(this.#expired()),
      )
      .returning('attempt')
      .executeTakeFirst();
    return taken !== undefined;
  }
}

function lease() {
  return sql<Date>`now() + make_interval(secs => ${LEASE_SECONDS})`;
}

const BATCH = 1000;
const BATCHES = 20;

/**
 * Removes expired keys, a bounded number at a time. Safe to run in several processes at once.
 *
 * @param seen of the database: requests that an outage keeps from renewing their keys do not lose them
 * @returns how many were removed
 */
export async function sweepIdempotencyKeys(
  database: Database,
  seen: Watched | undefined,
  batch = BATCH,
): Promise<number> {
  let removed = 0;
  for (let i = 0; i < BATCHES; i += 1) {
    const { numAffectedRows = 0n } = await sql`
      DELETE FROM idempotency_keys WHERE (sender, key) IN (
        SELECT sender, key FROM idempotency_keys WHERE expires_at <= now()
          AND (status IS NOT NULL OR ${couldSpeakFor(LEASE_SECONDS, seen)})
        ORDER BY expires_at LIMIT ${batch} FOR UPDATE SKIP LOCKED
      )`.execute(database);
    removed += Number(numAffectedRows);
    if (numAffectedRows < batch) break;
  }
  return removed;
}
