import { sql } from 'kysely';
import type pg from 'pg';
import type { Database, Queryable } from '#platform/database/kysely.ts';
import { isObjectKey, kindOf, objectKey } from '#platform/storage/keys.ts';
import { type ObjectStorage, StorageRefused } from '#platform/storage/port.ts';
import { type BackedUpObject, storeFromBackup } from '../backup/backup-objects.ts';
import { contentOf, findInBackup } from '../backup/dump.ts';
import { UNREADABLE } from '../digests.ts';
import { OWNED, type OwnedObject, ownersOf } from '../owned-objects.ts';
import { examine, isEndangered, isLasting } from '../verify/examine.ts';
import { type Finding, subjectOf } from '../verify/finding.ts';

/** Findings that are looked up in a backup with one reading of its list. */
const BATCH = 10_000;

const FOREIGN = 'Inlet did not name it and leaves it alone; remove it yourself';
const IN_ORDER = 'it is in order by now';
const NOT_IN_BACKUP = 'the backup does not have the object that the row describes, or the storage refuses it';
const NO_BACKUP = 'only a backup has it (--from DIR)';
const UNKNOWN_SUM =
  'only a backup knows its SHA-256 (--from DIR); a workflow with inspect takes that of the present bytes';
const DERIVED = 'a workflow made it: run that again, or take it from a backup (--from DIR)';

/** The result for one finding. */
interface RepairResult {
  finding: Finding;
  state: 'repaired' | 'left';
  /** For people: what was done, or what they can do. */
  note: string;
}

/** What a repair works with. */
interface RepairParts {
  database: Database;
  /** Reads single rows. */
  look: pg.Client;
  storage: Pick<ObjectStorage, 'put' | 'size'>;
  /** The folder of a backup to take objects from. */
  backup: string | undefined;
}

/**
 * Repairs what a verification has found, by three rules: an object that nobody owns is kept seven days, then removed; an
 * object that is missing or damaged is taken from a backup; everything else is reported. No row changes in any other way, and
 * what the staging ledger would remove although a row names it is taken off the ledger.
 */
export async function* repair(findings: AsyncIterable<Finding>, parts: RepairParts): AsyncGenerator<RepairResult> {
  let batch: Finding[] = [];
  for await (const finding of findings) {
    batch.push(finding);
    if (batch.length < BATCH) continue;
    yield* repairBatch(batch, parts);
    batch = [];
  }
  yield* repairBatch(batch, parts);
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

/** @returns what was done; undefined when that did not repair it */
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

/** Looks again: a verification that continued after a pause may have found it days ago. */
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

/** Keeps the sweep from removing the object of a row. */
async function takeOffLedger(database: Database, { table, key }: OwnedObject): Promise<void> {
  await database
    .deleteFrom('staging')
    .where('object_key', '=', key)
    .where((eb) => eb.exists(eb.selectFrom(table).select(sql`1`.as('one')).where('object_key', '=', key)))
    .execute();
}

/** The next step for people where nothing could be repaired. */
function adviceFor({ kind, what, owner, sha256 }: Finding, backup: BackupSource | undefined): string {
  if (what === 'foreign') return FOREIGN;
  if (kind === 'digest' && owner?.lostSum && sha256 !== UNREADABLE) return UNKNOWN_SUM;
  if (backup) return NOT_IN_BACKUP;
  return owner?.derived ? DERIVED : NO_BACKUP;
}

/** A backup to take objects from. */
interface BackupSource {
  folder: string;
  /** The objects that it lists, by key and by content (`findInBackup`). */
  listed: ReadonlyMap<string, BackedUpObject>;
}

/**
 * Stores the object of a row again from a backup, under a new key that the row names from then on. Damaged bytes stay under
 * the former key until the sweep removes them.
 *
 * @returns false when the backup does not have what the row describes, or the storage refuses it
 */
async function replaceFromBackup(
  { folder, listed }: BackupSource,
  finding: Finding,
  owner: OwnedObject,
  { database, storage }: { database: Database; storage: Pick<ObjectStorage, 'put'> },
): Promise<boolean> {
  const former = listed.get(owner.key);
  const sha256 = owner.sha256 ?? (former?.size === owner.size ? former.sha256 : null);
  // The object can be read, and nothing says that the bytes of the backup are better.
  if (finding.kind === 'digest' && finding.sha256 !== UNREADABLE && sha256 === null) return false;
  // The row may have had another key when the backup was taken.
  const alike = owner.sha256 === null ? undefined : listed.get(contentOf(owner));
  for (const source of [former, alike]) {
    if (!source || !isObjectKey(source.key)) continue;
    const key = objectKey(kindOf(source.key));
    const expected = { ...owner, sha256, key: source.key };
    const onLedger = async () => {
      await keepOrphan(database, key);
      return key;
    };
    const isStored = await storeFromBackup(folder, expected, storage, onLedger).catch((error) => {
      // The other findings can be repaired all the same.
      if (error instanceof StorageRefused) return false;
      throw error;
    });
    if (isStored) return nameObject(database, owner, { key, sha256, isFormerStored: finding.size !== null });
  }
  return false;
}

/** Has a row name another object. @returns false when the row has been deleted or names another one already */
async function nameObject(
  database: Database,
  owner: OwnedObject,
  { key, sha256, isFormerStored }: { key: string; sha256: string | null; isFormerStored: boolean },
): Promise<boolean> {
  return database.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable(owner.table)
      .set({ object_key: key, sha256 })
      .where('id', '=', owner.id)
      .where('object_key', '=', owner.key)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    await trx.deleteFrom('staging').where('object_key', '=', key).execute();
    if (isLasting(owner)) await trx.deleteFrom('staging').where('object_key', '=', owner.key).execute();
    // Drafts and uploads keep their entry of the ledger.
    else await trx.updateTable('staging').set({ object_key: key }).where('object_key', '=', owner.key).execute();
    if (isFormerStored) await keepOrphan(trx, owner.key);
    return true;
  });
}

/** Days that an object without an owner is kept before the sweep of the staging ledger removes it. */
const RETENTION_DAYS = 7;
/** The owner of these entries of the ledger. */
const OWNER = 'repair';

/**
 * Puts an object that has no owner on the staging ledger, whose sweep removes it after seven days. Objects that a row names
 * or that are on the ledger already stay as they are.
 *
 * @returns when it will be removed; undefined when it has an owner or is on the ledger
 */
export async function keepOrphan(db: Queryable, key: string): Promise<Date | undefined> {
  // A draft or an upload that an event has taken still names the object that the event has now.
  const { rows } = await sql<{ expires_at: Date }>`
    INSERT INTO staging (object_key, owner, expires_at)
    SELECT ${key}, ${OWNER}, now() + make_interval(days => ${sql.lit(RETENTION_DAYS)})
    WHERE NOT EXISTS (SELECT FROM (${sql.raw(OWNED)}) AS owned WHERE key = ${key})
      AND NOT EXISTS (SELECT FROM uploads WHERE object_key = ${key} AND event_id IS NULL AND expires_at > now())
    ON CONFLICT DO NOTHING RETURNING expires_at`.execute(db);
  return rows[0]?.expires_at;
}
