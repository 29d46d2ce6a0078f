import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Transaction } from '#platform/database/kysely.ts';
import { HttpError } from '#platform/http/errors/errors.ts';
import { forEachConcurrent, inBatches } from '../concurrency.ts';
import {
  type CatalogueSource,
  isPartial,
  ListUnavailable,
  type SourceChoice,
  SourceError,
} from './catalogue-source.ts';
import {
  beginPass,
  forgetItem,
  hasItems,
  type ItemKey,
  type ItemKind,
  type ItemResult,
  type KnownItem,
  type MissingCount,
  noteFound,
  notFoundIn,
  saveResult,
  storable,
  type VanishedItem,
} from './import-items.queries.ts';
import type { ImportServices } from './import-services.ts';
import { HANDLERS, type Item, kindsOf } from './item-kinds.ts';
import { pathOf } from './planned-file.ts';
import { ConcurrentChange } from './write-imported-event.ts';

export interface ImportChoice extends Omit<SourceChoice, 'signal' | 'onUnreadable'> {
  /** The number of items that are copied concurrently. */
  parallel: number;
  /** True to copy groups, which grant their roles to accounts here. */
  groups: boolean;
  /** True to look for changes until the signal aborts. */
  follow: boolean;
}

type SourceServices = ImportServices & { source: CatalogueSource };

/** After a longer pass, the source is read again for changes since its beginning. */
const LONG_PASS_MS = 600_000;
/** The pause before a source is read again, in milliseconds. */
const FOLLOW_MS = 10_000;
/** After so many passes, what has failed is tried again. */
const PASSES_BEFORE_RETRY = 20;
/** A source of which a larger share is missing is not believed, but for a few items. */
const MOST_VANISHED = 0.1;
const FEW = 20;
/** Longer identifiers are refused, and do not fit into an index. */
const MAX_ID = 500;

/**
 * Copies everything of a source that is not here or has changed there: first all series, then all events, playlists and
 * groups. Repeats it after a long pass, or for ever (`follow`). The first run lists everything before, so that progress has
 * a total.
 *
 * @throws the signal's reason
 */
export async function runImport(choice: ImportChoice, given: SourceServices) {
  const warnings = new Set<string>();
  const onWarning = (message: string) => {
    if (!warnings.has(message)) given.onWarning?.(message);
    warnings.add(message);
  };
  const services = { ...given, onWarning };
  if (!(await hasItems(services.database, services.sourceId))) await pass('list', choice, services, new Set());
  let failed = new Set<string>();
  for (let count = 1; ; count++) {
    const begun = performance.now();
    const copied = await pass('copy', choice, services, failed);
    if (!choice.follow && (copied === 0 || performance.now() - begun < LONG_PASS_MS)) return;
    if (!choice.follow) continue;
    if (count % PASSES_BEFORE_RETRY === 0) failed = new Set();
    if (copied === 0) await delay(FOLLOW_MS, undefined, { signal: services.signal });
  }
}

/** Reads the whole source once. @param failed items that are not tried again, with their digests @returns the copied items */
async function pass(
  purpose: 'list' | 'copy',
  choice: ImportChoice,
  services: SourceServices,
  failed: Set<string>,
): Promise<number> {
  const { database, source, sourceId, signal, onWarning } = services;
  const { seriesId, since, parallel } = choice;
  const number = await beginPass(database, sourceId);
  let copied = 0;
  const handle = async (found: Found) => {
    let attempt = '';
    const result = await copyFound(found, services, (digest) => {
      attempt = `${found.key.kind} ${found.key.id} ${digest}`;
      return failed.has(attempt);
    });
    if (result?.state === 'copied') copied += 1;
    else if (result && result.state !== 'pending') failed.add(attempt);
  };
  /** @returns true if everything was read */
  const walk = async (kind: ItemKind): Promise<boolean> => {
    const unreadable: [id: string, reason: string][] = [];
    const onUnreadable = (id: string, reason: string) => void unreadable.push([id, reason]);
    const items = HANDLERS[kind].list(source, { signal, seriesId, since, onUnreadable });
    const found = noteItems(items, { kind, pass: number }, services);
    const limits = { concurrency: purpose === 'list' ? 1 : parallel, signal };
    const read = forEachConcurrent(found, async (each) => purpose === 'copy' && handle(each), limits);
    const isListed = await read.then(
      () => true,
      (error) => {
        if (!(error instanceof ListUnavailable)) throw error;
        onWarning?.(error.message);
        return false;
      },
    );
    for (const [id, reason] of unreadable) {
      const key = keyOf(sourceId, kind, id);
      await noteFound(database, { sourceId, kind }, [{ id: key.id, title: '' }], number);
      await saveResult(database, key, { state: 'failed', reason });
    }
    return isListed && unreadable.length === 0;
  };
  const whole: ItemKind[] = [];
  for (const kind of kindsOf(choice)) if (await walk(kind)) whole.push(kind);
  if (purpose === 'copy' && !isPartial(choice) && !services.source.isPartial)
    copied += await followDeletions(number, whole, services);
  return copied;
}

/** An item that a pass has found for the first time. */
interface Found {
  key: ItemKey;
  item: Item;
  known: KnownItem;
}

/** Copies an item unless it is here as it is at the source. @returns the outcome, which is stored; undefined if there is none */
async function copyFound(
  { key, item, known }: Found,
  services: ImportServices,
  isRefused: (digest: string) => boolean = () => false,
): Promise<ItemResult | undefined> {
  const result = await outcome(async () => {
    const digest = digestOf(item);
    if (isRefused(digest) || (await isCurrent(key, digest, known, services))) return undefined;
    return HANDLERS[key.kind].copy(item, digest, known, services);
  }, services.signal);
  // A result with a version has been stored together with the item.
  if (result && result.state !== 'copied' && result.version === undefined)
    await saveResult(services.database, key, result);
  return result;
}

/** Copies one item of a source of which nothing else is read. @returns the outcome, which is stored */
export async function copyItem(kind: ItemKind, item: Item, services: ImportServices): Promise<ItemResult> {
  const { database, sourceId } = services;
  const key = keyOf(sourceId, kind, item.identifier);
  const known = await noteFound(database, { sourceId, kind }, [{ id: key.id, title: item.title }], 0);
  const found = known.get(key.id);
  if (!found) throw new Error(`The ${kind} ${key.id} was not noted.`);
  return (await copyFound({ key, item, known: found }, services)) ?? { state: 'copied' };
}

/** Items that are noted in one statement. */
const BATCH = 100;

const keyOf = (sourceId: number, kind: ItemKind, id: string): ItemKey => ({ sourceId, kind, id: storable(id, MAX_ID) });

/** Notes that a pass has found items, and answers each of them once: one that moves in the list may come twice. */
async function* noteItems(
  items: AsyncIterable<Item>,
  { kind, pass }: { kind: ItemKind; pass: number },
  { database, sourceId }: ImportServices,
): AsyncGenerator<Found> {
  for await (const batch of inBatches(items, BATCH)) {
    const byId = new Map(batch.map((item) => [keyOf(sourceId, kind, item.identifier).id, item]));
    const titles = [...byId].map(([id, { title }]) => ({ id, title }));
    const known = await noteFound(database, { sourceId, kind }, titles, pass);
    for (const [id, item] of byId) {
      const before = known.get(id);
      if (before && before.foundIn !== pass) yield { key: { sourceId, kind, id }, item, known: before };
    }
  }
}

/** Turns errors of one item into its outcome. Other errors end the import. */
async function outcome<T>(copy: () => Promise<ItemResult | T>, signal: AbortSignal): Promise<ItemResult | T> {
  try {
    // Two events that name the same files may have been written concurrently: now one is seen.
    return await copy().catch((error) => (codeOf(error) === TAKEN ? copy() : Promise.reject(error)));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ConcurrentChange) return { state: 'pending', reason: error.message };
    const reason = faultOf(error);
    if (reason === undefined) throw error;
    return { state: 'failed', reason };
  }
}

/** SQLSTATE of an identifier that exists. */
const TAKEN = '23505';
const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '');

/** SQLSTATE: values that the database cannot store, or not twice, and values beyond its limits. */
const UNSTORABLE = /^(22|23|54)...$/;

/** Returns why one item cannot be copied; undefined for an error that concerns all: a full disk, a lost database. */
function faultOf(error: unknown): string | undefined {
  if (error instanceof SourceError || error instanceof HttpError) return error.message;
  if (!(error instanceof Error)) return undefined;
  if (UNSTORABLE.test(codeOf(error))) return `It cannot be stored: ${error.message}.`;
  // A value of a form that nobody has foreseen.
  const isUnforeseen = error instanceof RangeError || error.constructor === TypeError;
  return isUnforeseen ? `It cannot be read: ${error.message}.` : undefined;
}

/** Returns the digest of an item, without the signatures of its addresses. */
export function digestOf(item: Item): string {
  const text = JSON.stringify(item, (name, value) => {
    if (name === 'has_previews') return undefined;
    return (name === 'url' || name === 'uri') && typeof value === 'string' ? pathOf(value) : value;
  });
  return createHash('sha256').update(text).digest('hex');
}

/** Returns true for an item that was copied as it is at the source; with `theirs`, only if it was not changed here since. */
async function isCurrent(
  { kind, id }: ItemKey,
  digest: string,
  known: KnownItem,
  { database, theirs }: ImportServices,
): Promise<boolean> {
  return known.copied === digest && (!theirs || known.version === (await HANDLERS[kind].version(database, id)));
}

/**
 * Deletes what was deleted at the source, unless it was changed here or so much is missing, of all or of its kind, that an
 * account must have lost rights.
 *
 * @param kinds those that were read completely
 * @returns the number of items that vanished
 */
async function followDeletions(pass: number, kinds: readonly ItemKind[], services: SourceServices): Promise<number> {
  const { database, sourceId, signal } = services;
  const { vanished, counts } = await notFoundIn(database, sourceId, kinds, pass);
  const doubts = new Map(counts.map((count) => [count.kind, doubtOf(count)]));
  let deleted = 0;
  for (const item of vanished) {
    const follow = () => followDeletion(item, doubts.get(null) ?? doubts.get(item.kind), services);
    const result = await outcome(follow, signal);
    if (result === 'deleted') deleted += 1;
    else if (result) await saveResult(database, { sourceId, ...item }, result);
  }
  return deleted;
}

/** Returns why deletions are not believed; undefined if they are. */
function doubtOf({ kind, missing, total }: MissingCount): string | undefined {
  if (missing <= Math.min(total / 2, Math.max(FEW, total * MOST_VANISHED))) return undefined;
  const items = kind === null ? 'items' : 'items of this kind';
  return `The source no longer lists ${missing} of ${total} ${items}, among them this one. None of them was deleted here.`;
}

/** Follows one deletion. @returns undefined if the source still has the item */
async function followDeletion(
  { kind, id, version }: VanishedItem,
  doubt: string | undefined,
  services: SourceServices,
): Promise<ItemResult | 'deleted' | undefined> {
  const { database, source, sourceId, onDeleted } = services;
  const handler = HANDLERS[kind];
  if (await handler.find(source, id)) return undefined;
  if (doubt !== undefined) return { state: 'skipped', reason: doubt };
  const here = await handler.version(database, id);
  if (version !== null && here !== undefined) {
    const reason = 'It was deleted at the source, and changed here since it was copied.';
    if (here !== version) return { state: 'skipped', reason };
    const require = async (trx: Transaction) => {
      if ((await handler.version(trx, id)) !== version) throw new ConcurrentChange(reason);
    };
    await handler.remove(id, require, services);
    onDeleted?.(kind, id);
  }
  await forgetItem(database, { sourceId, kind, id });
  return 'deleted';
}
