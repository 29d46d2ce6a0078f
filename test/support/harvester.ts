import { expect } from 'vitest';
import { z } from 'zod';

/** What the portal's own types say of a response, every field strict. */
const ms = z.int().min(0);
const url = z.url();
const acl = z.looseObject({ read: z.array(z.string()), write: z.array(z.string()) }).catchall(z.array(z.string()));
const metadata = z.record(z.string(), z.record(z.string(), z.array(z.string())));
const Item = z.discriminatedUnion('kind', [
  z.strictObject({
    ...{ kind: z.literal('event'), id: z.string(), title: z.string(), updated: ms, created: ms, acl, metadata },
    ...{ partOf: z.string().nullable(), description: z.string().nullable(), creators: z.array(z.string()) },
    ...{ duration: ms, thumbnail: url.nullable(), slideText: url.nullable(), isLive: z.boolean() },
    ...{ startTime: ms.nullable(), endTime: ms.nullable() },
    tracks: z.array(
      z.strictObject({
        ...{ uri: url, flavor: z.string(), mimetype: z.string().nullable(), isMaster: z.boolean().nullable() },
        resolution: z.tuple([z.int(), z.int()]).nullable(),
      }),
    ),
    captions: z.array(z.strictObject({ uri: url, lang: z.string().nullable() })),
    segments: z.array(z.strictObject({ uri: url, startTime: ms })),
  }),
  z.strictObject({
    ...{ kind: z.literal('series'), id: z.string(), title: z.string(), description: z.string().nullable() },
    ...{ updated: ms, created: ms, acl, metadata },
  }),
  z.strictObject({
    ...{ kind: z.literal('playlist'), id: z.string(), title: z.string(), description: z.string() },
    ...{ creator: z.string(), updated: ms, acl },
    entries: z.array(z.strictObject({ id: z.int(), type: z.literal('E'), contentId: z.string() })),
  }),
  ...(['event-deleted', 'series-deleted', 'playlist-deleted'] as const).map((kind) =>
    z.strictObject({ kind: z.literal(kind), id: z.string(), updated: ms }),
  ),
]);
const Response = z.strictObject({ includesItemsUntil: ms, hasMore: z.boolean(), items: z.array(Item) });
export type HarvestedItem = z.infer<typeof Item>;

type Get = (path: string) => Promise<{ status: number; json(): Promise<unknown> }>;

/** Follows the catalogue as the portal does: it keeps what it got, and hands the last time back. */
export class Harvester {
  readonly items = new Map<string, HarvestedItem>();
  since = 0;
  readonly #get: Get;
  readonly #amount: number;

  constructor(get: Get, amount = 500) {
    this.#get = get;
    this.#amount = amount;
  }

  /** One request. @returns the items of its response, and whether there is more */
  async step(): Promise<{ items: HarvestedItem[]; hasMore: boolean }> {
    const answer = await this.#get(`/tobira/harvest?since=${this.since}&preferredAmount=${this.#amount}`);
    expect(answer.status).toBe(200);
    const { includesItemsUntil, hasMore, items } = Response.parse(await answer.json());
    // Without progress the portal stops; items from before it ignores, and after later ones it waits.
    expect(includesItemsUntil).toBeGreaterThan(this.since);
    const times = items.map(({ updated }) => updated);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.every((time) => time > this.since && time <= includesItemsUntil)).toBe(true);
    if (hasMore) expect(items.length).toBeGreaterThan(0);
    for (const item of items) {
      const key = `${item.kind.replace('-deleted', '')} ${item.id}`;
      if (item.kind.endsWith('-deleted')) this.items.delete(key);
      else this.items.set(key, item);
    }
    this.since = includesItemsUntil;
    return { items, hasMore };
  }

  /** Requests until there is no more. @returns all items of the responses */
  async catchUp(): Promise<HarvestedItem[]> {
    const all: HarvestedItem[] = [];
    for (;;) {
      const { items, hasMore } = await this.step();
      all.push(...items);
      if (!hasMore) return all;
    }
  }
}
