import { sql } from 'kysely';
import type { Database, Transaction } from '../database/kysely.ts';
import type { Watched } from '../database/watch.ts';
import { withTimeout } from '../process/timeout.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Incoming } from './incoming.ts';
import { objectKey } from './keys.ts';
import type { ObjectStorage } from './port.ts';
import { mayRemove } from './removals.ts';
import { commitOwned, requireAll, StagingExpired } from './staging-entries.ts';
import { GONE, sweepStaging } from './sweep.ts';

/** How long an entry outlives its owner's last sign of life. */
const LEASE_SECONDS = 60;
const RENEWAL_MS = 15_000;
/** What the sweep does in any case may hold up the caller for so long. */
const REMOVAL_MS = 3_000;

/**
 * The staging ledger: objects that no committed row owns. An object is entered before its first byte is stored and
 * leaves in the transaction that commits the row naming it, so whatever a killed process leaves behind is known.
 * One ledger per process; `owner` is unique to it. An object that is stored and has to outlive the process is handed to
 * an owner of another kind, which says itself when it expires (`handToOwner`).
 *
 * An object may be removed only once its owner has left its entry. That happens in a transaction of its own, which either
 * waits for a commit under way and then finds no entry, or makes that commit fail.
 */
export class StagingLedger {
  readonly #database: Database;
  readonly #vital: Database;
  readonly #storage: ObjectStorage;
  readonly #owner: string;
  readonly #log: Logger;
  readonly #renewal: NodeJS.Timeout;
  /** Entered by this process and not known to have left the ledger: whom to tell when they are lost. */
  readonly #staged = new Map<string, Staged>();
  /** Discarded while the database did not answer; must not be renewed. */
  readonly #undiscarded = new Set<string>();
  /** Those that may still be stored when nobody wants them any more. */
  readonly #doubtful = new Set<string>();
  #renewing = false;
  #discarding = false;

  /** @param options.vital connections that nothing else can use up, for the renewal; else it waits with the others */
  constructor(options: {
    database: Database;
    vital?: Database;
    storage: ObjectStorage;
    owner: string;
    log: Logger;
  }) {
    this.#database = options.database;
    this.#vital = options.vital ?? options.database;
    this.#storage = options.storage;
    this.#owner = options.owner;
    this.#log = options.log;
    this.#renewal = setInterval(() => void this.renew(), RENEWAL_MS);
    this.#renewal.unref();
  }

  /**
   * Enters a new key; the caller may then store an object under it.
   *
   * @param onLost is told soon after the sweep has taken the key: what is being stored under it, or beside it, is in vain.
   * May be told of a key that has left the ledger in another way.
   * @param incoming what is told of it while it is stored; how far it is, at each renewal
   */
  async stage(
    kind: string,
    onLost: (reason: StagingExpired) => void = () => undefined,
    incoming?: Incoming,
  ): Promise<string> {
    const key = objectKey(kind);
    await this.#database
      .insertInto('staging')
      .values({
        object_key: key,
        owner: this.#owner,
        expires_at: lease(),
        ...(incoming && {
          account: incoming.account,
          filename: incoming.filename,
          expected_bytes: incoming.expectedBytes ?? null,
        }),
      })
      .execute();
    this.#staged.set(key, { onLost, ...(incoming && { received: incoming.received }) });
    return key;
  }

  /**
   * Takes keys off the ledger in the transaction that inserts the rows naming them.
   *
   * @throws {StagingExpired} when one of them has been swept; the transaction must roll back
   */
  async commit(trx: Transaction, keys: readonly string[]): Promise<void> {
    await commitOwned(trx, this.#owner, keys);
  }

  /**
   * Hands objects that are stored to another owner, which is no process: from then on they live until `expiresAt`,
   * whatever becomes of this process. See `commitOwned`, `extendOwned` and `releaseOwned`.
   *
   * @param owner a name that no process has
   * @throws {StagingExpired} when one of them has been swept; the transaction must roll back
   */
  async handToOwner(
    trx: Transaction,
    keys: readonly string[],
    { owner, expiresAt }: { owner: string; expiresAt: Date },
  ): Promise<void> {
    if (keys.length === 0) return;
    const handed = await trx
      .updateTable('staging')
      .set({ owner, expires_at: expiresAt, account: null })
      .where('object_key', 'in', keys)
      .where('owner', '=', this.#owner)
      .returning('object_key')
      .execute();
    requireAll(keys, handed);
  }

  /**
   * An object may be stored at a time that nobody knows: when it is discarded, it is given up like those of a process that
   * has gone.
   */
  doubt(key: string): void {
    this.#doubtful.add(key);
  }

  /**
   * Removes objects that will not be committed, or were released. Keys that are not on the ledger are left alone: of
   * a commit whose answer was lost, nobody knows but the database. What cannot be removed now is left to the sweep.
   */
  async discard(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    for (const key of keys) this.#staged.delete(key);
    let disowned = false;
    try {
      const removable = await this.#disown(keys);
      disowned = true;
      if (removable.length === 0) return;
      await withTimeout(this.#storage.remove(removable), REMOVAL_MS, 'Removing the objects takes long.');
      await this.#database.deleteFrom('staging').where('object_key', 'in', removable).execute();
    } catch (error) {
      if (!disowned) for (const key of keys) this.#undiscarded.add(key);
      this.#log.warn({ err: error, objects: keys.length }, 'could not remove staged objects; the sweep will');
    }
  }

  /**
   * Removes the objects of expired entries, then the entries. Safe to run in several processes at once.
   *
   * @param seen of the database: an outage of it is no silence of the owners
   * @returns how many objects were removed
   */
  async sweep(seen: Watched | undefined): Promise<number> {
    const parts = { database: this.#database, storage: this.#storage, log: this.#log };
    return sweepStaging(parts, LEASE_SECONDS, seen);
  }

  /** Keeps the entries of this process alive, and tells of those that are lost; runs by itself. */
  async renew(): Promise<void> {
    // An entry that somebody else holds for a minute must not keep the others from being renewed.
    await Promise.all([this.#renewStaged(), this.#discardLate()]);
  }

  async #renewStaged(): Promise<void> {
    if (this.#renewing) return;
    this.#renewing = true;
    try {
      // Nobody here knows of an entry whose answer was lost on the way: it shall expire.
      const staged = [...this.#staged.keys()];
      if (staged.length === 0) return;
      const received = JSON.stringify(
        Object.fromEntries([...this.#staged].map(([key, { received }]) => [key, received?.() ?? 0])),
      );
      await this.#vital
        .updateTable('staging')
        .set({
          expires_at: lease(),
          received_bytes: sql<number>`coalesce((${received}::jsonb ->> object_key)::bigint, received_bytes)`,
        })
        .where('object_key', 'in', (from) =>
          // An entry in a commit that takes long must not hold up the others.
          from
            .selectFrom('staging')
            .select('object_key')
            .where('owner', '=', this.#owner)
            .where('object_key', '=', sql<string>`ANY(${staged})`)
            .forUpdate()
            .skipLocked(),
        )
        .execute();
      await this.#tellOfLost();
    } catch (error) {
      this.#log.warn({ err: error }, 'could not renew staged objects');
    } finally {
      this.#renewing = false;
    }
  }

  /** Stops renewing; entries of this process expire unless committed or discarded before. */
  close(): void {
    clearInterval(this.#renewal);
  }

  /**
   * Takes the owner from those of the keys that no commit has taken; they expire now.
   *
   * @returns those that can be removed for good; the doubtful ones are left to the sweep
   */
  async #disown(keys: readonly string[]): Promise<string[]> {
    const doubtful = keys.filter((key) => this.#doubtful.has(key));
    const certain = keys.filter((key) => !this.#doubtful.has(key));
    await this.#giveUp(doubtful, GONE);
    for (const key of doubtful) this.#doubtful.delete(key);
    return this.#giveUp(certain, null);
  }

  async #giveUp(keys: readonly string[], owner: string | null): Promise<string[]> {
    if (keys.length === 0) return [];
    const given = await this.#database
      .updateTable('staging')
      .set({ owner, expires_at: sql<Date>`now()` })
      .where('object_key', 'in', keys)
      .where((is) => is.or([is('owner', '=', this.#owner), is('owner', 'is', null)]))
      .where(mayRemove)
      .returning('object_key')
      .execute();
    return given.map((row) => row.object_key);
  }

  /** Those that a commit under way holds are there to be read. */
  async #tellOfLost(): Promise<void> {
    const staged = [...this.#staged.keys()];
    if (staged.length === 0) return;
    const rows = await this.#vital
      .selectFrom('staging')
      .select('object_key')
      .where('owner', '=', this.#owner)
      .execute();
    const there = new Set(rows.map(({ object_key }) => object_key));
    for (const key of staged.filter((each) => !there.has(each))) {
      const lost = this.#staged.get(key);
      this.#staged.delete(key);
      this.#doubtful.delete(key);
      lost?.onLost(new StagingExpired('A staged object has been swept.'));
    }
  }

  async #discardLate(): Promise<void> {
    const keys = [...this.#undiscarded];
    if (keys.length === 0 || this.#discarding) return;
    this.#discarding = true;
    try {
      await this.#disown(keys);
      for (const key of keys) this.#undiscarded.delete(key);
    } catch (error) {
      this.#log.warn({ err: error, objects: keys.length }, 'could not give up staged objects');
    } finally {
      this.#discarding = false;
    }
  }
}

/** What a process knows of an entry of its own. */
interface Staged {
  /** Whom to tell when it is lost. */
  onLost: (reason: StagingExpired) => void;
  /** How many of its bytes have come. */
  received?: () => number;
}

function lease() {
  return sql<Date>`now() + make_interval(secs => ${LEASE_SECONDS})`;
}
