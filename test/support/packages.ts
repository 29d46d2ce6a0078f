import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { ADMIN, type TestApp } from './app.ts';
import { bytes } from './bytes.ts';
import { field, file, form, type Part } from './form.ts';
import { tracksOf } from './publication.ts';

const DUBLIN_CORE = 'xmlns="http://www.opencastproject.org/xsd/1.0/dublincore/"';

/** Dublin Core of an episode, as agents write it. */
export const episode = (terms: Record<string, string | string[]>) =>
  `<?xml version="1.0" encoding="UTF-8"?><dublincore ${DUBLIN_CORE} xmlns:dcterms="http://purl.org/dc/terms/">${Object.entries(
    terms,
  )
    .flatMap(([name, values]) => [values].flat().map((value) => `<dcterms:${name}>${value}</dcterms:${name}>`))
    .join('')}</dublincore>`;

/** A file that its first bytes show as MP4. */
export const movie = (length: number) => Buffer.concat([Buffer.from('\0\0\0\x18ftypisom'), bytes(length)]);

/** What a client got. */
export interface PackageAnswer {
  status: number;
  text: string;
}

/** A capture agent or recorder that sends what such clients send, and looks at as much of the answers as they do. */
export class Recorder {
  readonly #app: Pick<TestApp, 'request'>;
  readonly #authorization: string;

  constructor(app: Pick<TestApp, 'request'>, authorization = ADMIN) {
    this.#app = app;
    this.#authorization = authorization;
  }

  async post(path: string, parts: readonly Part[], headers: Record<string, string> = {}): Promise<PackageAnswer> {
    const { type, body } = form(parts);
    return this.send('POST', path, { headers: { 'Content-Type': type, ...headers }, body });
  }

  async urlencoded(path: string, fields: Record<string, string>): Promise<PackageAnswer> {
    return this.send('POST', path, { body: new URLSearchParams(fields) });
  }

  async send(method: string, path: string, init: RequestInit = {}): Promise<PackageAnswer> {
    const headers = new Headers(init.headers);
    headers.set('Authorization', this.#authorization);
    const answer = await this.#app.request(path, { ...init, method, headers });
    return { status: answer.status, text: await answer.text() };
  }

  /** A new media package, as it is to be sent back. */
  async create(): Promise<string> {
    return ok(await this.send('GET', '/ingest/createMediaPackage'));
  }

  /** A new media package with a track. */
  async withTrack(content: Uint8Array): Promise<string> {
    return ok(await this.addTrack(await this.create(), content));
  }

  addTrack(mediaPackage: string, content: Uint8Array, flavor = 'presenter/source', name = 'BODY1') {
    const fields = [field('mediaPackage', mediaPackage), field('flavor', flavor)];
    return this.post('/ingest/addTrack', [...fields, file(name, 'camera.mp4', content)]);
  }

  addDublinCore(mediaPackage: string, terms: Record<string, string | string[]>) {
    return this.post('/ingest/addDCCatalog', [
      field('mediaPackage', mediaPackage),
      field('flavor', 'dublincore/episode'),
      field('dublinCore', episode(terms)),
    ]);
  }

  ingest(mediaPackage: string, fields: Record<string, string> = {}) {
    const more = Object.entries(fields).map(([name, value]) => field(name, value));
    return this.post('/ingest/ingest', [field('mediaPackage', mediaPackage), ...more]);
  }
}

/** The text of an answer that has to be 200. */
export function ok({ status, text }: PackageAnswer): string {
  expect(status, text).toBe(200);
  return text;
}

/** An answer that refuses, with a part of its sentence. */
export const refusal = (status: number, sentence = '') => ({
  ...{ status, text: expect.stringContaining(sentence) },
});

/** Of an event, package or account that no other file has. */
export const unique = (name: string) => `${name}-${randomUUID().slice(0, 8)}`;

/** As scripts find it: the first attribute of the element. */
export const packageId = (xml: string) => /<(?:mp:)?mediapackage id="([^"]+)"/.exec(xml)?.[1] ?? '';
export const workflowId = (xml: string) => Number(/<wf:workflow id="(\d+)"/.exec(xml)?.[1]);

/** What tests of packages look at: events as the administrator reads them, and rows as they are stored. */
export function packageRows({ request, database }: TestApp) {
  const count = async (table: 'events' | 'drafts' | 'staging') => {
    const { n } = await database
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<string>().as('n'))
      .executeTakeFirstOrThrow();
    return Number(n);
  };
  return {
    count,
    read: async (path: string) => {
      const answer = await request(path);
      expect(answer.status, path).toBe(200);
      return (await answer.json()) as Record<string, unknown>;
    },
    /** In their order. */
    tracks: (id: string) => tracksOf(database, id),
    workflows: (id: string) => database.selectFrom('workflows').selectAll().where('event_id', '=', id).execute(),
    /** Asserts that something adds no event, no draft and no object. */
    storesNothing: async (work: () => Promise<unknown>) => {
      const all = () => Promise.all((['events', 'drafts', 'staging'] as const).map(count));
      const before = await all();
      await work();
      expect(await all()).toEqual(before);
    },
  };
}
