import { sql } from 'kysely';
import type pg from 'pg';
import type { Database } from '../../database/kysely.ts';
import { kindOf, objectKey } from '../../storage/keys.ts';
import { type ObjectStorage, StorageRefused } from '../../storage/port.ts';
import type { WorkflowDefinitions } from '../../workflows/definitions.ts';
import { storeFromBackup } from '../backup/backed-up.ts';
import { digestOf, type Reading } from '../digests.ts';
import type { OwnedObject } from '../owned-objects.ts';
import { isEndangered } from '../verify/examine.ts';
import type { Finding } from '../verify/finding.ts';
import type { Notes } from '../verify/notes.ts';
import { giveKey } from './give-key.ts';
import { keepForNow } from './keep.ts';
import type { Outcome } from './outcome.ts';
import { rebuild } from './rebuild.ts';
import { relink, soughtObjects } from './relink.ts';
import { isStillTrue } from './still-true.ts';

/** More is missing than is looked up at once. */
const MAY_BE_SOUGHT = 'it may be one of many that are missing; repair once more';

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
  const relinked = new Map<string, string>();
  for await (const finding of notes.findings()) {
    if (!(await mayBeSought(finding, parts))) continue;
    const owner = await relink(finding, sought, parts);
    if (!owner) continue;
    relinked.set(owner.key, `its object was found under ${finding.key}`);
    if (!finding.owner) relinked.set(finding.key, `it is the object of ${owner.label}, which names it again`);
  }
  for await (const finding of notes.findings()) {
    if (isMadeOfOthers(finding)) continue;
    const isOpen = finding.kind === 'orphaned' && !finding.what && !sought.complete;
    const note = relinked.get(finding.key) ?? (isOpen ? undefined : await mendIfTrue(finding, parts));
    yield note === undefined
      ? { finding, state: 'left', note: isOpen ? MAY_BE_SOUGHT : whatToDo(finding, parts.backup) }
      : { finding, state: 'mended', note };
  }
  // What they are made of has its objects again by now.
  const rebuilt = new Map<string, number | string>();
  for await (const finding of notes.findings()) {
    if (!isMadeOfOthers(finding)) continue;
    const { eventId } = finding.owner;
    const begun = rebuilt.get(eventId);
    const isBegun = typeof begun === 'number';
    const note = relinked.get(finding.key) ?? (isBegun ? undefined : await mendIfTrue(finding, parts));
    if (note !== undefined) {
      yield { finding, state: 'mended', note };
      continue;
    }
    const result = begun ?? (await rebuild(eventId, parts.creator, parts));
    rebuilt.set(eventId, result);
    yield typeof result === 'string'
      ? { finding, state: 'left', note: result }
      : { finding, state: 'begun', note: `workflow ${result} makes it anew from what was uploaded` };
  }
}

/** Whether it is what a workflow makes again. */
function isMadeOfOthers(finding: Finding): finding is Finding & { owner: OwnedObject & { eventId: string } } {
  return finding.owner?.derived === true && finding.owner.eventId !== null;
}

/** Whether an object may be what another row does not find. */
async function mayBeSought(finding: Finding, parts: RepairParts): Promise<boolean> {
  const { kind, what } = finding;
  if (kind === 'size' || kind === 'digest') return true;
  return kind === 'orphaned' && !what && (await isStillTrue(finding, parts));
}

function whatToDo({ what, kind }: Finding, backup: string | undefined): string {
  if (what === 'foreign') return 'Inlet leaves alone what it did not name; move it elsewhere';
  if (kind === 'orphaned' || kind === 'staged') return 'it has changed meanwhile; verify again';
  return backup === undefined
    ? 'it is what was uploaded; only a backup has it (--from DIR)'
    : 'the backup does not have it as it should be, or the storage does not take it';
}

/** @returns what was done; undefined when that did not mend it */
async function mendIfTrue(finding: Finding, parts: RepairParts): Promise<string | undefined> {
  return (await isStillTrue(finding, parts)) ? mend(finding, parts) : 'it is in order by now';
}

async function mend(finding: Finding, parts: RepairParts): Promise<string | undefined> {
  const { kind, key, owner, what } = finding;
  if (kind === 'orphaned') {
    if (what === 'foreign') return undefined;
    return `kept until ${(await keepForNow(parts.database, key)).toISOString()}, then removed`;
  }
  if (!owner) return undefined;
  const taken = isEndangered(owner) ? await takeOffLedger(parts.database, owner) : undefined;
  if (kind === 'staged') return taken;
  if (kind === 'size' && (await isWhole(finding, parts.storage))) return correctSize(finding, owner, parts);
  return (await isStoredFrom(parts.backup, finding, owner, parts))
    ? 'stored anew from the backup'
    : undefined;
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

/** Stores it under another key: what is damaged may be better than nothing, until the other one is there. */
async function isStoredFrom(
  backup: string | undefined,
  { size }: Finding,
  owner: OwnedObject,
  { database, storage }: Pick<RepairParts, 'database' | 'storage'>,
): Promise<boolean> {
  if (backup === undefined) return false;
  const key = objectKey(kindOf(owner.key));
  const onLedger = async () => {
    await keepForNow(database, key);
    return key;
  };
  const isStored = await storeFromBackup(backup, owner, storage, onLedger).catch((error) => {
    // That keeps nothing else from being mended.
    if (error instanceof StorageRefused) return false;
    throw error;
  });
  if (!isStored || !(await giveKey(database, owner, key))) return false;
  if (size !== null) await keepForNow(database, owner.key);
  return true;
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
