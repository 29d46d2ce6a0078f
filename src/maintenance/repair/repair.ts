import { sql } from 'kysely';
import type pg from 'pg';
import type { Database, Queryable } from '#platform/database/kysely.ts';
import { isObjectKey, kindOf, objectKey } from '#platform/storage/object-keys.ts';
import { type ObjectStorage, StorageRefused } from '#platform/storage/object-storage.ts';
import { type BackedUpObject, storeFromBackup } from '../backup/backup-objects.ts';
import { contentOf, findInBackup } from '../backup/dump.ts';
import { inBatches } from '../concurrency.ts';
import { UNREADABLE } from '../digests.ts';
import { OWNED, type OwnedObject, ownersOf } from '../owned-objects.ts';
import { examine, isEndangered, isLasting } from '../verify/examine.ts';
import { type Finding, subjectOf } from '../verify/finding.ts';

/** Findings per pass through the list of a backup. */
const BATCH = 10_000;

const FOREIGN = 'not a file of Inlet; remove it yourself';
const IN_ORDER = 'it is correct now';
const NOT_IN_BACKUP = 'the backup does not have the object as the row describes it, or the storage rejects it';
const NO_BACKUP = 'restore it from a backup (--from DIR)';
const UNKNOWN_SUM = 'a backup has its SHA-256 (--from DIR); a workflow with inspect records that of the present bytes';
const DERIVED = 'run its workflow again, or restore it from a backup (--from DIR)';

/** The result for one finding. */
interface RepairResult {
  finding: Finding;
  state: 'repaired' | 'left';
  /** The repair, or the next step, for people. */
  note: string;
}

/** The parts of a repair. */
interface RepairParts {
  database: Database;
  /** Reads single rows. */
  look: pg.Client;
  storage: Pick<ObjectStorage, 'put' | 'size'>;
  backup: string | undefined;
}

/**
 * Repairs the findings of a verification by three rules: an object without an owner is kept seven days, then removed; a
 * missing or damaged object is taken from a backup; everything else is reported. Rows do not change otherwise. Owned
 * objects are taken off the staging ledger.
 */
export async function* repair(findings: AsyncIterable<Finding>, parts: RepairParts): AsyncGenerator<RepairResult> {
  for await (const batch of inBatches(findings, BATCH)) yield* repairBatch(batch, parts);
}

async function* repairBatch(findings: readonly Finding[], parts: RepairParts): AsyncGenerator<RepairResult> {
  const folder = parts.backup;
  const wanted = findings.flatMap(({ owner }) => owner ?? []);
  const backup = folder === undefined ? undefined : { folder, listed: await findInBackup(folder, wanted) };
  for (const finding of findings) {
    const { owner } = finding;
    const note = owner ? await repairObject(finding, owner, parts, backup) : await keep(finding, parts);
    if (note !== undefined) yield { finding, state: 'repaired', note };
    else yield { finding, state: 'left', note: adviceFor(finding, backup) };
  }
}

async function keep({ key, what }: Finding, { database }: RepairParts): Promise<string | undefined> {
  if (what === 'foreign') return undefined;
  const until = await keepOrphan(database, key);
  return until ? `kept until ${until.toISOString()}, then removed` : IN_ORDER;
}

/** @returns the repair that was done, if any */
async function repairObject(
  finding: Finding,
  owner: OwnedObject,
  parts: RepairParts,
  backup: BackupSource | undefined,
): Promise<string | undefined> {
  if (!(await isStillTrue(finding, owner, parts))) return IN_ORDER;
  if (isEndangered(owner)) await takeOffLedger(parts.database, owner);
  if (finding.kind === 'staged') return 'taken off the staging ledger';
  if (!backup || !(await replaceFromBackup(backup, finding, owner, parts))) return undefined;
  return 'stored again from the backup';
}

/** Checks a finding again: a resumed verification may have found it days ago. */
async function isStillTrue(
  { kind, key }: Finding,
  owner: OwnedObject,
  { look, storage }: RepairParts,
): Promise<boolean> {
  const subject = subjectOf({ key, owner });
  if (kind === 'digest') {
    const owners = await ownersOf(look, [key]);
    return owners.some((now) => now.sha256 === owner.sha256 && subjectOf({ key, owner: now }) === subject);
  }
  const found = await Array.fromAsync(examine({ client: look, storage }, [key]));
  return found.some((now) => now.kind === kind && subjectOf(now) === subject);
}

/** Prevents the sweep from removing an owned object. */
async function takeOffLedger(database: Database, { table, key }: OwnedObject): Promise<void> {
  await database
    .deleteFrom('staging')
    .where('object_key', '=', key)
    .where((eb) => eb.exists(eb.selectFrom(table).select(sql`1`.as('one')).where('object_key', '=', key)))
    .execute();
}

function adviceFor({ kind, what, owner, sha256 }: Finding, backup: BackupSource | undefined): string {
  if (what === 'foreign') return FOREIGN;
  if (kind === 'digest' && owner?.lostSum && sha256 !== UNREADABLE) return UNKNOWN_SUM;
  if (backup) return NOT_IN_BACKUP;
  return owner?.derived ? DERIVED : NO_BACKUP;
}

/** A backup to take objects from. */
interface BackupSource {
  folder: string;
  /** By key and by content (`findInBackup`). */
  listed: ReadonlyMap<string, BackedUpObject>;
}

/**
 * Stores the object of a row from a backup, under a new key. Damaged bytes stay under the old key until the sweep
 * removes them.
 * @returns false if the backup does not have the object as the row describes it, or the storage rejects it
 */
async function replaceFromBackup(
  { folder, listed }: BackupSource,
  finding: Finding,
  owner: OwnedObject,
  { database, storage }: { database: Database; storage: Pick<ObjectStorage, 'put'> },
): Promise<boolean> {
  const former = listed.get(owner.key);
  const sha256 = owner.sha256 ?? (former?.size === owner.size ? former.sha256 : null);
  // Nothing says that the bytes of the backup are better than the readable ones.
  if (finding.kind === 'digest' && finding.sha256 !== UNREADABLE && sha256 === null) return false;
  // The key may have changed since the backup.
  const alike = owner.sha256 === null ? undefined : listed.get(contentOf(owner));
  for (const source of [former, alike]) {
    if (!source || !isObjectKey(source.key)) continue;
    const key = objectKey(kindOf(source.key));
    const expected = { ...owner, sha256, key: source.key };
    const onLedger = async () => {
      await keepOrphan(database, key);
      return key;
    };
    const isStored = await storeFromBackup(folder, expected, { storage, key: onLedger }).catch((error) => {
      // Other findings can still be repaired.
      if (error instanceof StorageRefused) return false;
      throw error;
    });
    if (isStored) return nameObject(database, owner, { key, sha256, isFormerStored: finding.size !== null });
  }
  return false;
}

/** Changes the key in a row. @returns false if the row was deleted or has another key by now */
async function nameObject(
  database: Database,
  owner: OwnedObject,
  { key, sha256, isFormerStored }: { key: string; sha256: string | null; isFormerStored: boolean },
): Promise<boolean> {
  return database.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable(owner.table)
      .set({ object_key: key, ...(sha256 !== null && { sha256 }) })
      .where('id', '=', owner.id)
      .where('object_key', '=', owner.key)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    await trx.deleteFrom('staging').where('object_key', '=', key).execute();
    if (isLasting(owner)) await trx.deleteFrom('staging').where('object_key', '=', owner.key).execute();
    // Objects of drafts and uploads stay on the ledger.
    else await trx.updateTable('staging').set({ object_key: key }).where('object_key', '=', owner.key).execute();
    if (isFormerStored) await keepOrphan(trx, owner.key);
    return true;
  });
}

/** Days before the sweep of the staging ledger removes an orphan. */
const RETENTION_DAYS = 7;
const OWNER = 'repair';

/**
 * Puts an object on the staging ledger if it has no owner and no entry. The sweep removes it after seven days.
 * @returns the time of removal; undefined if it has an owner or an entry
 */
export async function keepOrphan(db: Queryable, key: string): Promise<Date | undefined> {
  // Drafts and uploads that an event has accepted still name its objects.
  const { rows } = await sql<{ expires_at: Date }>`
    INSERT INTO staging (object_key, owner, expires_at)
    SELECT ${key}, ${OWNER}, now() + make_interval(days => ${sql.lit(RETENTION_DAYS)})
    WHERE NOT EXISTS (SELECT FROM (${sql.raw(OWNED)}) AS owned WHERE key = ${key})
      AND NOT EXISTS (SELECT FROM uploads WHERE object_key = ${key} AND event_id IS NULL AND expires_at > now())
    ON CONFLICT DO NOTHING RETURNING expires_at`.execute(db);
  return rows[0]?.expires_at;
}
