import type pg from 'pg';
import type { Database } from '#platform/database/kysely.ts';
import { forEachConcurrent } from '../concurrency.ts';
import { SourceError, SourceUnusable } from '../import/catalogue-source.ts';
import { ITEM_KINDS, type ItemKind } from '../import/folder-format.ts';
import { type ExportChoice, listItems } from './item-list.ts';
import { type Item, type ItemServices, loadItems, loadListed } from './load-items.ts';
import type { Receipt, ReceivingInlet } from './receiving-inlet.ts';

export interface SendParts extends ItemServices {
  database: Database;
  /** Used for nothing else. */
  client: pg.Client;
  choice: ExportChoice;
  /** True to send groups, which grant their roles to accounts there. */
  groups: boolean;
  /** The number of items to send concurrently. */
  concurrency: number;
  signal: AbortSignal;
  onItem(progress: { fraction: number; items: number }): void;
}

/** An item that did not come along, or only in part. */
export interface IncompleteItem extends Pick<Receipt, 'state' | 'reason' | 'notes'> {
  kind: ItemKind;
  id: string;
}

/** The outcome of a whole catalogue. */
export interface SentCatalogue {
  counts: Record<ItemKind, Record<Receipt['state'], number>>;
  incomplete: IncompleteItem[];
}

/** Sends the catalogue to another Inlet while the system runs. Items that it already has cost one request each. */
export async function sendCatalogue(inlet: ReceivingInlet, parts: SendParts): Promise<SentCatalogue> {
  const { client, choice, groups, concurrency, signal } = parts;
  const totals = await listItems(client, choice);
  if (choice.seriesId !== null && totals.series + totals.events === 0)
    throw new SourceUnusable(`No series has the identifier "${choice.seriesId}".`);
  const none = () => ({ copied: 0, failed: 0, skipped: 0, pending: 0 });
  const sent: SentCatalogue = {
    counts: { series: none(), events: none(), playlists: none(), groups: none() },
    incomplete: [],
  };
  let items = 0;
  const sendOne = async (item: Item) => {
    const receipt = await sendItem(inlet, item, parts);
    if (!receipt) return;
    const { kind, id } = item;
    const { state, reason, notes } = receipt;
    sent.counts[kind][state] += 1;
    if (state !== 'copied' || notes.length > 0) sent.incomplete.push({ kind, id, state, reason, notes });
    items += 1;
    parts.onItem({ fraction: Math.min(1, items / (totals.series + totals.events || 1)), items });
  };
  for (const kind of ITEM_KINDS) {
    if (kind === 'groups' && !groups) continue;
    await forEachConcurrent(listed(kind, parts), sendOne, { concurrency, signal });
  }
  return sent;
}

async function* listed(kind: ItemKind, parts: SendParts): AsyncGenerator<Item> {
  for await (const batch of loadListed(kind, parts)) yield* batch;
}

/** Sends an item, then again with the files that are missing there. @returns undefined if it no longer exists here */
async function sendItem(inlet: ReceivingInlet, item: Item, parts: SendParts): Promise<Receipt | undefined> {
  const receipt = await send(inlet, item);
  if (receipt.state !== 'failed') return receipt;
  // The item may have changed since it was loaded, and its objects may have been removed.
  const [present] = await loadItems(parts.database, item.kind, [item.id], parts);
  if (!present) return undefined;
  return present.text === item.text ? receipt : sendItem(inlet, present, parts);
}

async function send(inlet: ReceivingInlet, item: Item): Promise<Receipt> {
  try {
    const { missing, ...first } = await inlet.send(item, []);
    if (!missing) return first;
    const files = new Map(item.files.map((file) => [file.name, file]));
    return await inlet.send(
      item,
      missing.flatMap((name) => files.get(name) ?? []),
    );
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { state: 'failed', reason: error.message, notes: [] };
  }
}
