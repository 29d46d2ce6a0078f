import { afterAll, beforeAll, expect } from 'vitest';
import { createTestApp, type TestApp, workerApp } from './app.ts';
import { giveAcl, licenseCatalog, sendForm } from './event-writes.ts';
import type { Part } from './form.ts';
import { isRemembered } from './leftovers.ts';
import { insertEvent, tracksOf } from './publication.ts';
import { insertScheduled, type ScheduleValues } from './scheduled-event.ts';
import { newAgent } from './scheduling.ts';
import { ace, type SentAce, send } from './series.ts';

const RIGHTS = ['VIEW', 'CREATE', 'EDIT', 'DELETE'].flatMap((right) =>
  ['', '_ACL', '_METADATA', '_SCHEDULING', '_TRACK'].map((part) => `ROLE_API_EVENTS${part}_${right}`),
);

/** An Authorization header. */
export type Account = { Authorization: string };

/** What an event of the bench allows unless a test says otherwise. */
export const BENCH_ACL = [ace('ROLE_READER'), ace('ROLE_WRITER'), ace('ROLE_WRITER', 'write')];

/** When an event of the bench is to be recorded unless a test says otherwise. */
export const BENCH_PERIOD = { start: '2030-01-07T09:00:00Z', end: '2030-01-07T10:00:00Z' };

/** A field of a catalog as the API shows it. */
export interface ShownField {
  id: string;
  value: unknown;
  readOnly: boolean;
}

/** The bench of this worker, for the files that need no application for themselves. */
let shared: Promise<EventBench> | undefined;

/**
 * An application with the catalog `license/episode`, and three accounts that may use every URL of events: one may read
 * the events of the bench, one may write them as well, and one neither.
 */
export class EventBench {
  #app: TestApp | undefined;
  reader: Account = { Authorization: '' };
  writer: Account = { Authorization: '' };
  stranger: Account = { Authorization: '' };

  /**
   * Opens it before the tests of a file.
   *
   * @param options.own `true` for an application that no other file uses, closed after the file; `false` for that of the
   *   worker, where tests look at the events and series that they made
   */
  static forThisFile({ own = true } = {}): EventBench {
    const bench = new EventBench();
    beforeAll(async () => {
      if (own) return bench.#open((environment) => createTestApp(undefined, environment));
      shared ??= new EventBench().#open(workerApp);
      bench.#copy(await shared);
    });
    afterAll(() => bench.#app?.close());
    return bench;
  }

  async #open(create: (environment: Record<string, string>) => Promise<TestApp>): Promise<EventBench> {
    const folder = await licenseCatalog();
    // Catalogs are read when an application starts.
    const app = await create({ METADATA_DIR: folder.dir }).finally(folder.remove);
    const account = async (name: string, ...roles: string[]) => ({
      Authorization: await app.account(name, ...RIGHTS, ...roles),
    });
    this.#app = app;
    this.reader = await account('reader', 'ROLE_READER');
    this.writer = await account('writer', 'ROLE_WRITER');
    this.stranger = await account('stranger');
    return this;
  }

  #copy({ app, reader, writer, stranger }: EventBench): void {
    this.#app = app;
    Object.assign(this, { reader, writer, stranger });
  }

  get app(): TestApp {
    if (!this.#app) throw new Error('The bench is not open yet.');
    return this.#app;
  }

  async event(values: Parameters<typeof insertEvent>[1] = {}, acl: readonly SentAce[] = BENCH_ACL): Promise<string> {
    const id = await insertEvent(this.app.database, values);
    await giveAcl(this.app, id, acl);
    return id;
  }

  /** An event that is to be recorded, on an agent of its own unless it says otherwise. */
  async scheduled(
    { agent_id = newAgent(), ...schedule }: Partial<ScheduleValues> = {},
    values: Parameters<typeof insertScheduled>[2] = {},
    acl: readonly SentAce[] = BENCH_ACL,
  ): Promise<string> {
    const id = await insertScheduled(this.app.database, { agent_id, ...BENCH_PERIOD, ...schedule }, values);
    await giveAcl(this.app, id, acl);
    return id;
  }

  /** Sends a request for an event, as the administrator unless an account is given. */
  send(method: string, id: string, path = '', fields?: Record<string, string>, headers = {}) {
    return send(this.app, method, `/api/events/${id}${path}`, fields, headers);
  }

  /** Sends an update of an event, a multipart form. */
  update(id: string, parts: readonly Part[], headers: Record<string, string> = {}) {
    return sendForm(this.app, `/api/events/${id}`, parts, headers);
  }

  /** Makes a request that may add no event and no object. @returns its answer */
  async addingNothing<T>(request: () => Promise<T>): Promise<T> {
    const before = new Set(await this.#everything());
    const answer = await request();
    expect((await this.#everything()).filter((id) => !before.has(id))).toEqual([]);
    return answer;
  }

  async #everything(): Promise<string[]> {
    const { database, storage } = this.app;
    const [events, staged, stored] = await Promise.all([
      database.selectFrom('events').select('id').execute(),
      database.selectFrom('staging').selectAll().execute(),
      Array.fromAsync(storage.list('')),
    ]);
    const kept = staged.filter((entry) => !isRemembered(entry)).map(({ object_key }) => `staged ${object_key}`);
    return [...events.map(({ id }) => id), ...stored.map(({ key }) => key), ...kept];
  }

  /** JSON that the administrator gets. */
  async read<T = Record<string, unknown>>(path: string): Promise<T> {
    const { status, text } = await send(this.app, 'GET', path);
    expect(status, text).toBe(200);
    return JSON.parse(text) as T;
  }

  /** The tracks of an event as they are stored, in their order. */
  tracks(id: string) {
    return tracksOf(this.app.database, id);
  }

  workflows(id: string) {
    return this.app.database.selectFrom('workflows').selectAll().where('event_id', '=', id).execute();
  }

  acl(id: string): Promise<unknown> {
    return this.read(`/api/events/${id}/acl`);
  }

  fields(id: string, type = 'dublincore/episode'): Promise<ShownField[]> {
    return this.read(metadataPath(id, type));
  }

  /** The values of a catalog by field. */
  async values(id: string, type?: string): Promise<Record<string, unknown>> {
    const fields = await this.fields(id, type);
    return Object.fromEntries(fields.map(({ id, value }) => [id, value]));
  }

  putMetadata(id: string, metadata: unknown, type?: string, account: Partial<Account> = {}) {
    const text = typeof metadata === 'string' ? metadata : JSON.stringify(metadata);
    return send(this.app, 'PUT', metadataPath(id, type ?? 'dublincore/episode'), { metadata: text }, account);
  }

  async version(id: string): Promise<number> {
    const row = this.app.database.selectFrom('events').select('archive_version').where('id', '=', id);
    return (await row.executeTakeFirstOrThrow()).archive_version;
  }
}

/** All catalogs of an event, or the one of a type. */
export function metadataPath(id: string, type?: string): string {
  return `/api/events/${id}/metadata${type === undefined ? '' : `?type=${encodeURIComponent(type)}`}`;
}
