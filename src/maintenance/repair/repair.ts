import { sql } from 'kysely';
import type pg from 'pg';
import type { Database } from '#platform/database/kysely.ts';
import type { ObjectStorage } from '#platform/storage/port.ts';
import type { WorkflowDefinitions } from '#processing/definitions.ts';
import { digestOf, type Reading, UNREADABLE } from '../digests.ts';
import { type OwnedObject, ownersOf } from '../owned-objects.ts';
import { isEndangered } from '../verify/examine.ts';
import { type Finding, subjectOf } from '../verify/finding.ts';
import type { Notes } from '../verify/notes.ts';
import { candidates } from './candidates.ts';
import { type BackupSource, correctDigest, openBackup, takeFromBackup } from './from-backup.ts';
import { giveKey } from './give-key.ts';
import { keepForNow } from './keep.ts';
import { keyLike } from './key-like.ts';
import { makingRun } from './making-run.ts';
import type { Outcome } from './outcome.ts';
import { rebuild } from './rebuild.ts';
import { relink } from './relink.ts';
import { type SoughtObjects, soughtObjects } from './sought.ts';
import { isStillTrue } from './still-true.ts';

/** More is missing than is looked up at once. */
const MAY_BE_SOUGHT = 'it may be one of many that are missing; repair once more';
/** Nobody can tell. */
const MAY_BE_UNSUMMED =
  'a row misses an object of this size whose SHA-256 nobody knows, and it may be that one';
const LOST_SUM =
  'only a backup that knows its SHA-256 tells whether it is whole (--from DIR); a workflow with inspect takes that of what is there';

/** What a repair works with. */
export interface RepairParts {
  database: Database;
  /** Looks at single rows. */
  look: pg.Client;
  storage: Reading & Pick<ObjectStorage, 'put' | 'size' | 'unfinished'>;
  definitions: WorkflowDefinitions;
  /** The user name that workflows are started by. */
  creator: string;
  /** A backup to take objects from. */
  backup: string | undefined;
}

/**
 * Mends what can be mended of what a verification has found, and loses nothing: nothing is removed at once, and no row is
 * changed but to what the object itself proves.
 */
export async function* repair(notes: Pick<Notes, 'findings'>, parts: RepairParts): AsyncGenerator<Outcome> {
  const sought = await soughtObjects(notes.findings());
  const backup = parts.backup === undefined ? undefined : await openBackup(parts.backup, sought);
  const relinked = await relinkAll(notes, sought, parts);
  for await (const finding of notes.findings()) {
    if (isMadeOfOthers(finding)) continue;
    const open = openQuestion(finding, sought);
    const note =
      relinked.get(subjectOf(finding)) ?? (open ? undefined : await mendIfTrue(finding, parts, backup));
    yield note === undefined
      ? { finding, state: 'left', note: open ?? whatToDo(finding, parts.backup) }
      : { finding, state: 'mended', note };
  }
  // What they are made of has its objects again by now.
  const rebuilt = new Map<string, number | string>();
  for await (const finding of notes.findings()) {
    if (!isMadeOfOthers(finding)) continue;
    const { owner } = finding;
    const run = await makingRun(parts.database, owner.eventId, owner);
    const subject = `${owner.eventId} ${run?.id ?? owner.table}`;
    const begun = rebuilt.get(subject);
    const isBegun = typeof begun === 'number';
    const note =
      relinked.get(subjectOf(finding)) ?? (isBegun ? undefined : await mendIfTrue(finding, parts, backup));
    if (note !== undefined) {
      yield { finding, state: 'mended', note };
      continue;
    }
    await letGoOfShared(finding, parts);
    const result = begun ?? (await rebuild({ owner, run }, parts));
    rebuilt.set(subject, result);
    yield typeof result === 'string'
      ? { finding, state: 'left', note: result }
      : { finding, state: 'begun', note: `workflow ${result} makes it anew from what was uploaded` };
  }
}

/** Gives rows the objects that stand elsewhere. @returns what was done, by what it was done for (`subjectOf`) */
async function relinkAll(
  notes: Pick<Notes, 'findings'>,
  sought: SoughtObjects,
  parts: RepairParts,
): Promise<Map<string, string>> {
  const relinked = new Map<string, string>();
  for await (const candidate of candidates(notes, sought, parts)) {
    // What has an owner is copied, for as many as lack the same.
    for (let given = await relink(candidate, sought, parts); given; ) {
      relinked.set(subjectOf(given), `its object was found under ${candidate.key}`);
      if (!candidate.owner)
        relinked.set(candidate.key, `it is the object of ${given.owner?.label}, which names it again`);
      given = candidate.owner ? await relink(candidate, sought, parts) : undefined;
    }
  }
  return relinked;
}

/** Why an orphan may be somebody's all the same. */
function openQuestion({ kind, what, size }: Finding, sought: SoughtObjects): string | undefined {
  if (kind !== 'orphaned' || what) return undefined;
  if (!sought.complete) return MAY_BE_SOUGHT;
  return size !== null && sought.unsummed.has(size) ? MAY_BE_UNSUMMED : undefined;
}

/** Has a row name nothing in place of what another one names as well, which would go when it is replaced. */
async function letGoOfShared(
  { owner }: { owner: OwnedObject },
  { database, look }: RepairParts,
): Promise<void> {
  const owners = await ownersOf(look, [owner.key]);
  if (owners.length > 1) await giveKey(database, owner, keyLike(owner.key));
}

/** Whether it is what a workflow makes again. */
function isMadeOfOthers(finding: Finding): finding is Finding & { owner: OwnedObject & { eventId: string } } {
  return finding.owner?.derived === true && finding.owner.eventId !== null;
}

/** Whether nothing but a backup says what the SHA-256 of an object is that can be read. */
function isUnsummed({ kind, owner, sha256 }: Finding): boolean {
  return kind === 'digest' && owner?.lostSum === true && sha256 !== UNREADABLE;
}

function whatToDo(finding: Finding, backup: string | undefined): string {
  const { what, kind } = finding;
  if (what === 'foreign') return 'Inlet leaves alone what it did not name; take it away';
  if (kind === 'orphaned' || kind === 'staged') return 'it has changed meanwhile; verify again';
  if (isUnsummed(finding)) return LOST_SUM;
  return backup === undefined
    ? 'it is what was uploaded; only a backup has it (--from DIR)'
    : 'the backup does not have it as it should be, or the storage does not take it';
}

/** @returns what was done; undefined when that did not mend it */
async function mendIfTrue(
  finding: Finding,
  parts: RepairParts,
  backup: BackupSource | undefined,
): Promise<string | undefined> {
  return (await isStillTrue(finding, parts)) ? mend(finding, parts, backup) : 'it is in order by now';
}

async function mend(
  finding: Finding,
  parts: RepairParts,
  backup: BackupSource | undefined,
): Promise<string | undefined> {
  const { kind, key, owner, what } = finding;
  if (kind === 'orphaned') {
    if (what === 'foreign') return undefined;
    const until = await keepForNow(parts.database, key);
    return until && `kept until ${until.toISOString()}, then removed`;
  }
  if (!owner) return undefined;
  const taken = isEndangered(owner) ? await takeOffLedger(parts.database, owner) : undefined;
  if (kind === 'staged') return taken;
  if (kind === 'size' && (await isWhole(finding, parts.storage))) return correctSize(finding, owner, parts);
  if (!backup) return undefined;
  const corrected =
    kind === 'digest' ? await correctDigest(backup, finding, owner, parts.database) : undefined;
  if (corrected !== undefined) return corrected;
  // What is there may be whole, and nothing says that what the backup has is.
  if (isUnsummed(finding) && backup.listed.byKey.get(key)?.sha256 == null) return undefined;
  return takeFromBackup(backup, finding, owner, parts);
}

async function takeOffLedger(
  database: Database,
  { table, key }: Pick<OwnedObject, 'table' | 'key'>,
): Promise<string | undefined> {
  const { numDeletedRows } = await database
    .deleteFrom('staging')
    .where('object_key', '=', key)
    .where((eb) => eb.exists(eb.selectFrom(table).select(sql`1`.as('one')).where('object_key', '=', key)))
    .executeTakeFirst();
  return numDeletedRows > 0n ? 'taken off the staging ledger' : undefined;
}

/** Whether the object is what was stored, and the row has another size. */
async function isWhole({ key, owner }: Finding, storage: Reading): Promise<boolean> {
  return owner?.sha256 != null && (await digestOf(storage, key)) === owner.sha256;
}

async function correctSize(
  { size, key }: Finding,
  { table, id }: OwnedObject,
  { database }: RepairParts,
): Promise<string> {
  const column = table === 'uploads' ? 'stored' : 'size';
  await database
    .updateTable(table)
    .set({ [column]: size })
    .where('id', '=', id)
    .where('object_key', '=', key)
    .execute();
  return 'its SHA-256 is right; the size was corrected';
}
