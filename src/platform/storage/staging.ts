import { sql } from 'kysely';
import type { ObservedPeriod } from '../database/database-watch.ts';
import type { Database, Transaction } from '../database/kysely.ts';
import { withTimeout } from '../process/timeout.ts';
import type { Logger } from '../telemetry/log.ts';
import { objectKey } from './object-keys.ts';
import type { ObjectStorage } from './object-storage.ts';
import {
  commitOwned,
  DEAD_OWNER,
  hasKeyIn,
  LEASE_SECONDS,
  removalAllowed,
  StagingExpired,
  sweepStaging,
  updateOwned,
} from './staging-sweep.ts';

/** A file that is being received. Sizes are in bytes. */
interface IncomingFile {
  account: string;
  filename: string;
  /** An upper bound; undefined when unknown. */
  expectedBytes: number | undefined;
  received: () => number;
}

interface LedgerParts {
  database: Database;
  /** Connections for the renewal that nothing else can use up; by default it shares `database`. */
  vital?: Database;
  storage: ObjectStorage;
  owner: string;
  log: Logger;
}

const RENEWAL_MS = 15_000;
/** The longest time that `discard` waits for the storage; the sweep removes the rest. */
const REMOVAL_MS = 3_000;

/**
 * The staging ledger: objects that no committed row owns. An object is entered before its first byte is stored and
 * leaves in the transaction that commits the row naming it, so the leftovers of a killed process are known. One ledger
 * per process, under a unique `owner`. An object may be removed only after its entry has lost its owner. That is a
 * separate transaction, which either waits for a running commit and then finds no entry, or makes that commit fail.
 */
export class StagingLedger {
  readonly #parts: Required<LedgerParts>;
  readonly #renewal: NodeJS.Timeout;
  /** Entries of this process that may still be on the ledger. */
  readonly #staged = new Map<string, Staged>();
  /** Keys whose objects the storage may still store after they are discarded. */
  readonly #doubtful = new Set<string>();
  #renewing = false;

  constructor(parts: LedgerParts) {
    this.#parts = { vital: parts.database, ...parts };
    this.#renewal = setInterval(() => void this.renew(), RENEWAL_MS);
    this.#renewal.unref();
  }

  /**
   * Enters a new key; the caller may then store an object under it.
   *
   * @param onLost called soon after the sweep has taken the key; also for a key that has left the ledger in another way
   * @param incoming shown to operators while the object is stored
   */
  async stage(
    kind: string,
    onLost: (reason: StagingExpired) => void = () => undefined,
    incoming?: IncomingFile,
  ): Promise<string> {
    const key = objectKey(kind);
    await this.#parts.database
      .insertInto('staging')
      .values({
        object_key: key,
        owner: this.#parts.owner,
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

  /** Takes keys off the ledger in the transaction that inserts the rows naming them. @throws {StagingExpired} */
  async commit(trx: Transaction, keys: readonly string[]): Promise<void> {
    await commitOwned(trx, this.#parts.owner, keys);
  }

  /** Hands stored objects to an owner that is not a process, until `expiresAt`. @throws {StagingExpired} */
  async handToOwner(
    trx: Transaction,
    keys: readonly string[],
    { owner, expiresAt }: { owner: string; expiresAt: Date },
  ): Promise<void> {
    await updateOwned(trx, this.#parts.owner, keys, { owner, expires_at: expiresAt, account: null });
  }

  /** Marks an object that may be stored later: after `discard` it is treated like those of dead processes. */
  doubt(key: string): void {
    this.#doubtful.add(key);
  }

  /**
   * Removes objects that will not be committed. Ignores keys that are not on the ledger: after a lost answer only the
   * database knows the outcome of a commit.
   */
  async discard(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    for (const key of keys) this.#staged.delete(key);
    try {
      const removable = await this.#disown(keys);
      if (removable.length === 0) return;
      await withTimeout(
        this.#parts.storage.remove(removable),
        REMOVAL_MS,
        `The storage did not remove the objects within ${REMOVAL_MS} ms.`,
      );
      await this.#parts.database.deleteFrom('staging').where(hasKeyIn(removable)).execute();
    } catch (error) {
      // Entries that still have their owner are not renewed any more, and expire.
      this.#parts.log.warn(
        { err: error, objects: keys.length },
        'could not remove staged objects; the sweep will remove them',
      );
    }
  }

  /** Removes the objects of expired entries, then the entries. Safe to run concurrently. @returns their number */
  async sweep(seen: ObservedPeriod | undefined): Promise<number> {
    return sweepStaging(this.#parts, seen);
  }

  /** Renews the entries of this process, and reports lost ones; runs periodically by itself. */
  async renew(): Promise<void> {
    if (this.#renewing) return;
    this.#renewing = true;
    try {
      // An entry whose insertion got no answer is unknown here; it shall expire.
      const staged = [...this.#staged.keys()];
      if (staged.length === 0) return;
      const received = JSON.stringify(
        Object.fromEntries([...this.#staged].map(([key, { received }]) => [key, received?.() ?? 0])),
      );
      await this.#parts.vital
        .updateTable('staging')
        .set({
          expires_at: lease(),
          received_bytes: sql<number>`coalesce((${received}::jsonb ->> object_key)::bigint, received_bytes)`,
        })
        .where('object_key', 'in', (from) =>
          // An entry in a long commit must not delay the rest.
          from
            .selectFrom('staging')
            .select('object_key')
            .where('owner', '=', this.#parts.owner)
            .where('object_key', '=', sql<string>`ANY(${staged})`)
            .forUpdate()
            .skipLocked(),
        )
        .execute();
      await this.#tellOfLost();
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'could not renew staged objects');
    } finally {
      this.#renewing = false;
    }
  }

  /** Stops renewing; entries of this process expire unless committed or discarded before. */
  close(): void {
    clearInterval(this.#renewal);
  }

  /** Removes the owner of keys that no commit has taken. @returns keys that may be removed now */
  async #disown(keys: readonly string[]): Promise<string[]> {
    const doubtful = keys.filter((key) => this.#doubtful.has(key));
    const certain = keys.filter((key) => !this.#doubtful.has(key));
    for (const key of doubtful) this.#doubtful.delete(key);
    await this.#giveUp(doubtful, DEAD_OWNER);
    return this.#giveUp(certain, null);
  }

  async #giveUp(keys: readonly string[], owner: string | null): Promise<string[]> {
    if (keys.length === 0) return [];
    const given = await this.#parts.database
      .updateTable('staging')
      .set({ owner, expires_at: sql<Date>`now()` })
      .where(hasKeyIn(keys))
      .where((is) => is.or([is('owner', '=', this.#parts.owner), is('owner', 'is', null)]))
      .where(removalAllowed)
      .returning('object_key')
      .execute();
    return given.map((row) => row.object_key);
  }

  /** Entries that a running commit has locked can still be read. */
  async #tellOfLost(): Promise<void> {
    const staged = [...this.#staged.keys()];
    if (staged.length === 0) return;
    const rows = await this.#parts.vital
      .selectFrom('staging')
      .select('object_key')
      .where('owner', '=', this.#parts.owner)
      .execute();
    const there = new Set(rows.map(({ object_key }) => object_key));
    for (const key of staged.filter((each) => !there.has(each))) {
      const lost = this.#staged.get(key);
      this.#staged.delete(key);
      this.#doubtful.delete(key);
      lost?.onLost(new StagingExpired('A staged object has been swept.'));
    }
  }
}

interface Staged {
  onLost: (reason: StagingExpired) => void;
  received?: () => number;
}

function lease() {
  return sql<Date>`now() + make_interval(secs => ${LEASE_SECONDS})`;
}
