import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { type DatabaseWatch, type ObservedPeriod, observedFor } from '#platform/database/database-watch.ts';
import { deleteInBatches } from '#platform/database/delete-in-batches.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import type { Logger } from '#platform/telemetry/log.ts';

/** A request keeps its key this long after its process last renewed it. */
export const LEASE_SECONDS = 60;
const RENEWAL_MS = 15_000;
const KEPT_HOURS = 24;
const TRIES = 3;

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

type KeyState =
  | { state: 'taken'; attempt: string }
  | { state: 'under way' }
  | { state: 'answered'; fingerprint: string; answer: Answer };

/** Another request has the key: this process did not renew it for a whole lease. */
export class KeyLost extends Error {
  override name = 'KeyLost';
}

interface LedgerOptions {
  database: Database;
  /** Connections reserved for renewals. */
  vital?: Database;
  watch: Pick<DatabaseWatch, 'seen'>;
  log: Logger;
}

/** Stores idempotency keys and responses; a unique constraint decides between processes. */
export class IdempotencyLedger {
  readonly #options: LedgerOptions;
  readonly #renewal: NodeJS.Timeout;
  /** Attempts of this process that hold a key. */
  readonly #attempts = new Set<string>();

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#renewal = setInterval(() => void this.renew(), RENEWAL_MS);
    this.#renewal.unref();
  }

  /** Claims the key if it is new or expired, or its request has died. */
  async take(sender: string, key: string): Promise<KeyState> {
    const attempt = randomUUID();
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (await this.#insert(sender, key, attempt)) {
        this.#attempts.add(attempt);
        return { state: 'taken', attempt };
      }
      const row = await this.#options.database
        .selectFrom('idempotency_keys')
        .select(['fingerprint', 'status', 'headers', 'body'])
        .select(expired(this.#options.watch.seen).as('expired'))
        .where('sender', '=', sender)
        .where('key', '=', key)
        .executeTakeFirst();
      // The key was released or expired between the two statements.
      if (!row || row.expired) continue;
      const { fingerprint, status, headers, body } = row;
      if (fingerprint === null || status === null || body === null) return { state: 'under way' };
      const answer = { status, headers: headers as Record<string, string>, body };
      return { state: 'answered', fingerprint, answer };
    }
    return { state: 'under way' };
  }

  /** Stores the response. @throws {KeyLost} if another request has the key; the transaction must roll back */
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
    if (Number(numUpdatedRows) !== 1) throw new KeyLost('Another request has claimed the idempotency key.');
  }

  /** Releases the key unless it has a response. If this fails, the key expires with its lease. */
  async release(attempt: string): Promise<void> {
    this.#attempts.delete(attempt);
    try {
      await this.#options.database
        .deleteFrom('idempotency_keys')
        .where('attempt', '=', attempt)
        .where('status', 'is', null)
        .execute();
    } catch (error) {
      this.#options.log.warn({ err: error }, 'could not release an idempotency key; it expires with its lease');
    }
  }

  /** Renews the keys of requests in progress; called by a timer. */
  async renew(): Promise<void> {
    if (this.#attempts.size === 0) return;
    try {
      await (this.#options.vital ?? this.#options.database)
        .updateTable('idempotency_keys')
        .set({ expires_at: lease() })
        .where('attempt', 'in', (from) =>
          // A key that is being completed must not block the rest.
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
      this.#options.log.warn({ err: error }, 'could not renew idempotency keys');
    }
  }

  close(): void {
    clearInterval(this.#renewal);
  }

  async #insert(sender: string, key: string, attempt: string): Promise<boolean> {
    const taken = await this.#options.database
      .insertInto('idempotency_keys')
      .values({ sender, key, attempt, expires_at: lease() })
      .onConflict((conflict) =>
        conflict
          .columns(['sender', 'key'])
          .doUpdateSet({ attempt, fingerprint: null, status: null, headers: null, body: null, expires_at: lease() })
          .where(expired(this.#options.watch.seen)),
      )
      .returning('attempt')
      .executeTakeFirst();
    return taken !== undefined;
  }
}

/** Compares with the time this process observed the database, so an outage does not expire running requests. */
function expired(seen: ObservedPeriod | undefined) {
  return sql<boolean>`(idempotency_keys.expires_at <= now()
    AND (idempotency_keys.status IS NOT NULL OR ${observedFor(LEASE_SECONDS, seen)}))`;
}

function lease() {
  return sql<Date>`now() + make_interval(secs => ${LEASE_SECONDS})`;
}

const BATCH = 1000;

/** Deletes expired keys, a limited number per call. */
export function sweepIdempotencyKeys(
  database: Database,
  seen: ObservedPeriod | undefined,
  batch = BATCH,
): Promise<number> {
  const statement = sql`
    DELETE FROM idempotency_keys WHERE (sender, key) IN (
      SELECT sender, key FROM idempotency_keys WHERE ${expired(seen)}
      ORDER BY expires_at LIMIT ${batch} FOR UPDATE SKIP LOCKED
    )`;
  return deleteInBatches(database, batch, statement);
}
