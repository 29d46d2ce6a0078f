import { sql } from 'kysely';
import type pg from 'pg';
import type { Database } from '#platform/database/kysely.ts';
import type { ObjectStorage } from '#platform/storage/port.ts';
import { findInBackup } from '../backup/objects-list.ts';
import { UNREADABLE } from '../digests.ts';
import { type OwnedObject, ownersOf } from '../owned-objects.ts';
import { examine, isEndangered } from '../verify/examine.ts';
import { type Finding, subjectOf } from '../verify/finding.ts';
import { keepOrphan } from './orphan-retention.ts';
import { type BackupSource, replaceFromBackup } from './replace-object.ts';

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
export interface RepairResult {
  finding: Finding;
  state: 'repaired' | 'left';
  /** For people: what was done, or what they can do. */
  note: string;
}

/** What a repair works with. */
export interface RepairParts {
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
