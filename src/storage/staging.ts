import { sql } from 'kysely';
import type { Database, Transaction } from '../database/kysely.ts';
import type { Logger } from '../telemetry.ts';
import { type ObjectKind, objectKey } from './keys.ts';
import type { ObjectStorage } from './port.ts';

/** How long an entry outlives its owner's last sign of life. */
const LEASE_SECONDS = 60;
const RENEWAL_MS = 15_000;
const SWEEP_BATCH = 100;

/** The sweep took an object that was still being written: its writer had been silent for a whole lease. */
export class StagingExpired extends Error {
  override name = 'StagingExpired';
}

/**
 * The staging ledger: objects that no committed row owns. An object is entered before its first byte is stored and
 * leaves in the transaction that commits the row naming it, so whatever a killed process leaves behind is known.
 * One ledger per process; `owner` is unique to it.
 */
export class StagingLedger {
  readonly #database: Database;
  readonly #storage: ObjectStorage;
  readonly #owner: string;
  readonly #log: Logger;
  readonly #renewal: NodeJS.Timeout;

  constructor(options: { database: Database; storage: ObjectStorage; owner: string; log: Logger }) {
    this.#database = options.database;
    this.#storage = options.storage;
    this.#owner = options.owner;
    this.#log = options.log;
    this.#renewal = setInterval(() => void this.#renew(), RENEWAL_MS);
    this.#renewal.unref();
  }

  /** Enters a new key; the caller may then store an object under it. */
  async stage(kind: ObjectKind): Promise<string> {
    const key = objectKey(kind);
    await this.#database
      .insertInto('staging')
      .values({ object_key: key, owner: this.#owner, expires_at: lease() })
      .execute();
    return key;
  }

  /**
   * Takes keys off the ledger in the transaction that inserts the rows naming them.
   *
   * @throws {StagingExpired} when one of them has been swept; the transaction must roll back
   */
  async commit(trx: Transaction, keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    const taken = await trx
      .deleteFrom('staging')
      .where('object_key', 'in', keys)
      .where('owner', '=', this.#owner)
      .returning('object_key')
      .execute();
    if (taken.length !== keys.length) throw new StagingExpired('A staged object has been swept.');
  }

  /**
   * Removes objects that will not be committed. An object that has been committed after all is left alone: when the
   * connection breaks in the middle of a commit, nobody here can know. What cannot be removed now is left to the sweep.
   */
  async discard(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    try {
      await this.#remove(async (trx) => {
        // Waits for a commit of theirs that is still under way.
        await trx
          .selectFrom('staging')
          .select('object_key')
          .where('object_key', 'in', keys)
          .forUpdate()
          .execute();
        return unowned(trx, keys);
      });
    } catch (error) {
      this.#log.warn({ err: error, objects: keys.length }, 'could not remove staged objects; the sweep will');
    }
  }

  /**
   * Removes the objects of expired entries, then the entries. Safe to run in several processes at once.
   *
   * @returns how many entries were swept
   */
  async sweep(): Promise<number> {
    for (let swept = 0; ; ) {
      const batch = await this.#remove((trx) =>
        trx
          .selectFrom('staging')
          .select('object_key')
          .where('expires_at', '<', sql<Date>`now()`)
          .limit(SWEEP_BATCH)
          .forUpdate()
          .skipLocked()
          .execute(),
      );
      swept += batch;
      if (batch < SWEEP_BATCH) return swept;
    }
  }

  /** Entries stay locked until their objects are gone, so that none can be committed in between. */
  async #remove(select: (trx: Transaction) => Promise<{ object_key: string }[]>): Promise<number> {
    return this.#database.transaction().execute(async (trx) => {
      const keys = (await select(trx)).map((row) => row.object_key);
      if (keys.length === 0) return 0;
      await this.#storage.remove(keys);
      await trx.deleteFrom('staging').where('object_key', 'in', keys).execute();
      return keys.length;
    });
  }

  /** Stops renewing; entries of this process expire unless committed or discarded before. */
  close(): void {
    clearInterval(this.#renewal);
  }

  async #renew(): Promise<void> {
    try {
      await this.#database
        .updateTable('staging')
        .set({ expires_at: lease() })
        .where('owner', '=', this.#owner)
        .execute();
    } catch (error) {
      this.#log.warn({ err: error }, 'could not renew staged objects');
    }
  }
}

/**
 * Enters objects whose rows the same transaction deletes: the sweep removes them soon after the commit, whatever
 * happens to this process.
 */
export async function releaseObjects(trx: Transaction, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await trx
    .insertInto('staging')
    .values(keys.map((key) => ({ object_key: key, owner: null, expires_at: sql<Date>`now()` })))
    .execute();
}

function lease() {
  return sql<Date>`now() + make_interval(secs => ${LEASE_SECONDS})`;
}

/** Those of the keys that no row names: staged, or swept while their writer was still at work. */
async function unowned(trx: Transaction, keys: readonly string[]): Promise<{ object_key: string }[]> {
  const owned = await trx
    .selectFrom('tracks')
    .select('object_key')
    .where('object_key', 'in', keys)
    .unionAll(trx.selectFrom('publication_elements').select('object_key').where('object_key', 'in', keys))
    .execute();
  const taken = new Set(owned.map((row) => row.object_key));
  return keys.filter((key) => !taken.has(key)).map((key) => ({ object_key: key }));
}
