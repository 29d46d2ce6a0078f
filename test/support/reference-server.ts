import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from './listen.ts';
import {
  ACL,
  type CatalogueOptions,
  type EventChange,
  eventFields,
  eventId,
  kindOf,
  numberOf,
  playerFiles,
  seriesCatalogs,
  seriesCreated,
  seriesFields,
  seriesId,
  sourceTracks,
  usualStart,
} from './reference-catalogue.ts';
import { ASSETS, FILES, minor, ReferenceDocuments, signatureFault } from './reference-documents.ts';
import { MEDIATYPES, referenceFiles } from './reference-files.ts';
import { furtherList, type ListOptions, listPage } from './reference-lists.ts';
import { RequestCounter } from './request-counter.ts';

export interface ReferenceOptions extends Partial<CatalogueOptions>, Partial<ListOptions> {
  /** The newest version of the API. */
  version?: string;
  username?: string;
  password?: string;
  /** Roles that the account does not have, such as `ROLE_API_SERIES_ACL_VIEW`. */
  missingRoles?: string[];
  latencyMs?: number;
  /** A path in front of `/api`. */
  basePath?: string;
  /** Answers `/api/version` without credentials. */
  hasPublicVersion?: boolean;
  /** Demands signed addresses for published files, which expire after so long. */
  signedForMs?: number;
  /** Sorts no list. */
  isUnsorted?: boolean;
}

const WINDOW = 16_000;
const SERIES_LIMIT = 100;
/** The response to a request, unless it is a body. */
class Answer extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;
  constructor(status: number, text = '', headers: Record<string, string> = {}) {
    super(text);
    this.status = status;
    this.headers = headers;
  }
}

/**
 * A stand-in for the reference server of the External API, with its quirks: lists without totals, 500 beyond 16,000
 * items, versions, escaped slashes. Its events and series are computed when they are requested.
 */
export class ReferenceServer {
  readonly requests = new RequestCounter();
  readonly options: Required<ReferenceOptions>;
  url = '';
  readonly #files: Awaited<ReturnType<typeof referenceFiles>>;
  readonly #documents: ReferenceDocuments;
  readonly #server = createServer((request, response) => void this.#respond(request, response));
  readonly #changes = new Map<number, EventChange>();
  readonly #deleted = new Set<number>();
  #added = 0;
  #throttled: { left: number; retryAfter: string } | undefined;
  #away: 'refused' | 503 | undefined;

  static async start(options: ReferenceOptions = {}): Promise<ReferenceServer> {
    const server = new ReferenceServer(options, await referenceFiles());
    const { basePath } = server.options;
    server.url = `${await listen(server.#server)}${basePath}`;
    return server;
  }

  private constructor(options: ReferenceOptions, files: Awaited<ReturnType<typeof referenceFiles>>) {
    this.#files = files;
    this.#documents = new ReferenceDocuments(this, files);
    this.options = {
      ...{ events: 24, series: 3, startOf: usualStart, kindOf, faultOf: () => undefined, isSeriesBroken: () => false },
      ...{ version: '1.11.0', username: 'import', password: 'secret', missingRoles: [], latencyMs: 0, basePath: '' },
      ...{ hasPublicVersion: false, signedForMs: 0, isUnsorted: false },
      ...{ playlists: [], groups: [], hasPlaylists: true, pageSize: 0, refusedOffset: Infinity },
      ...options,
    };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Adds events after the last one. */
  add(count: number): void {
    this.#added += count;
  }

  /** Replaces fields of an event. */
  change(number: number, fields: EventChange): void {
    this.#changes.set(number, { ...this.#changes.get(number), ...fields });
  }

  delete(number: number): void {
    this.#deleted.add(number);
  }

  /** Answers the next requests with 429. */
  throttle(count: number, retryAfter: string): void {
    this.#throttled = { left: count, retryAfter };
  }

  /** Refuses connections, or answers with 503, until it comes back. */
  leave(how: 'refused' | 503): void {
    this.#away = how;
  }

  comeBack(): void {
    this.#away = undefined;
  }

  get #count(): number {
    return this.options.events + this.#added;
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://host');
    if (this.#away === 'refused') return void request.socket.destroy();
    this.requests.begin(url.pathname, response);
    if (this.options.latencyMs > 0) await sleep(this.options.latencyMs);
    try {
      await this.#answer(request, url, response);
    } catch (error) {
      if (!(error instanceof Answer)) throw error;
      response.writeHead(error.status, { 'Content-Type': 'text/plain', ...error.headers }).end(error.message);
    }
  }

  async #answer(request: IncomingMessage, url: URL, response: ServerResponse): Promise<void> {
    if (this.#away === 503) throw new Answer(503, '<html>Service Unavailable</html>');
    if (this.#throttled && this.#throttled.left > 0) {
      this.#throttled.left -= 1;
      throw new Answer(429, 'Too many requests', { 'Retry-After': this.#throttled.retryAfter });
    }
    if (!url.pathname.startsWith(`${this.options.basePath}/`)) throw new Answer(404, '<html>Not found</html>');
    const path = decodeURIComponent(url.pathname.slice(this.options.basePath.length));
    if (path.startsWith(FILES) || path.startsWith(ASSETS)) return this.#sendFile(path, url, request, response);
    if (!(path === '/api/version' && this.options.hasPublicVersion)) this.#authenticate(request);
    const version = this.#versionOf(request, path);
    const json = this.#api(path, url, version);
    const type = path === '/api/version' ? 'application/json' : `application/v${version}+json`;
    response.writeHead(200, { 'Content-Type': type });
    response.end(JSON.stringify(json).replaceAll('/', '\\/'));
  }

  #authenticate({ headers }: IncomingMessage): void {
    const { username, password } = this.options;
    if (!headers.authorization) throw new Answer(302, '', { Location: `${this.url}/login.html` });
    const expected = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    if (headers.authorization !== expected)
      throw new Answer(401, '<html>Unauthorized</html>', { 'WWW-Authenticate': 'Basic realm="Opencast"' });
  }

  /** Returns the version that a request accepts; the newest for plain JSON. */
  #versionOf({ headers }: IncomingMessage, path: string): string {
    const { accept = '*/*' } = headers;
    const newest = this.options.version;
    if (path === '/api/version' || /application\/(json|\*)|\*\/\*/.test(accept)) return newest;
    const [, version] = /application\/v(1\.\d+\.0)\+json/.exec(accept) ?? [];
    if (!version || minor(version) > minor(newest)) throw new Answer(406);
    return version;
  }

  #api(path: string, url: URL, version: string): unknown {
    const [, api, kind, id, part] = path.split('/');
    if (api !== 'api') throw new Answer(404, '<html>Not found</html>');
    if (kind === 'version' && !id) {
      const versions = Array.from({ length: minor(this.options.version) + 1 }, (_, i) => `v1.${i}.0`);
      return { versions, default: versions.at(-1) };
    }
    const upper = [kind, part].filter(Boolean).join('_').toUpperCase();
    const role = `ROLE_API_${upper}_VIEW`;
    if (this.options.missingRoles.includes(role)) throw new Answer(403);
    if (kind === 'events') return id ? this.#event(id, part, url, version) : this.#events(url, version);
    if (kind === 'series') return id ? this.#series(id, part) : this.#seriesList(url);
    const all = furtherList(kind, this.options, version);
    if (!all || part) throw new Answer(404, '<html>Not found</html>');
    if (!id) {
      const { pageSize, refusedOffset } = this.options;
      const { offset, limit } = pageOf(url.searchParams);
      if (offset >= refusedOffset) throw new Answer(403);
      return pageSize === Infinity ? all : listPage(all, { offset, limit: pageSize || limit });
    }
    const item = all.find((each) => (each.identifier ?? each.id) === id);
    if (!item) throw new Answer(404, `Cannot find an instance with id '${id}'.`);
    return item;
  }

  #event(id: string, part: string | undefined, url: URL, version: string): unknown {
    const number = numberOf(id, eventId);
    if (number === undefined || number >= this.#count || this.#deleted.has(number))
      throw new Answer(404, `Cannot find an event with id '${id}'.`);
    const fault = this.options.faultOf(number);
    if (part === 'media') {
      if (fault === 'tracks-broken') throw new Answer(500, '<html>Server error</html>');
      return this.#documents.tracks(number);
    }
    if (part !== undefined) throw new Answer(404);
    if (fault === 'broken') throw new Answer(500, '<html>Server error</html>');
    return this.#documents.eventJson(number, url.searchParams, version, this.#changes.get(number));
  }

  /** Lists events; for ever the same quirks: no totals, and 500 for a page that ends beyond the window. */
  #events({ searchParams }: URL, version: string): unknown[] {
    const { offset, limit } = pageOf(searchParams);
    this.requests.page(offset);
    const filters = filtersOf(searchParams);
    const [from, to] = periodOf(filters.start);
    if (offset + (limit || this.#count) > WINDOW) throw new Answer(500, '<html>Server error</html>');
    const events: unknown[] = [];
    let left = offset;
    for (const number of this.#numbers(from, to)) {
      const series = filters.is_part_of ?? filters.series;
      if (series !== undefined && eventFields(number, this.options).since11.is_part_of !== series) continue;
      if (left-- > 0) continue;
      const isDetailed = searchParams.get('withmetadata') === 'true';
      if (isDetailed && this.options.faultOf(number) === 'broken') throw new Answer(500, '<html>Server error</html>');
      events.push(this.#documents.eventJson(number, searchParams, version, this.#changes.get(number)));
      if (limit > 0 && events.length === limit) break;
    }
    return this.options.isUnsorted ? events.reverse() : events;
  }

  /** Returns the numbers of events in the order of their start; those without one last. */
  *#numbers(from: number | undefined, to: number | undefined): Generator<number> {
    const { startOf } = this.options;
    let low = 0;
    let high = this.#count;
    while (from !== undefined && low < high) {
      const middle = (low + high) >> 1;
      if ((startOf(middle) ?? Number.POSITIVE_INFINITY) < from) low = middle + 1;
      else high = middle;
    }
    for (let number = low; number < this.#count; number++) {
      const start = startOf(number);
      if (from !== undefined && (start === undefined || start > (to ?? start))) return;
      if (!this.#deleted.has(number)) yield number;
    }
  }

  #sendFile(path: string, url: URL, request: IncomingMessage, response: ServerResponse): void {
    if (path.startsWith(ASSETS)) this.#authenticate(request);
    else if (this.options.signedForMs > 0) {
      const fault = signatureFault(path, url.searchParams);
      if (fault !== undefined) throw new Answer(fault, 'The address is not valid');
    }
    const [id = '', elementId] = path.slice((path.startsWith(FILES) ? FILES : ASSETS).length).split('/');
    const number = numberOf(id, eventId) ?? -1;
    const { kind } = eventFields(number, this.options);
    const files = path.startsWith(FILES) ? Object.values(playerFiles(kind)).flat() : sourceTracks(kind);
    const file = files.find((each) => each.id === elementId && path.endsWith(`/${each.name}`));
    const fault = this.options.faultOf(number);
    if (!file || number >= this.#count || fault === 'file-missing') throw new Answer(404, '<html>Not found</html>');
    const content = this.#files.content(file.kind, path);
    response.writeHead(200, { 'Content-Type': MEDIATYPES[file.kind], 'Content-Length': content.length });
    if (fault !== 'file-cut') return void response.end(content);
    response.write(content.subarray(0, content.length >> 1), () => response.destroy());
  }

  #seriesList({ searchParams }: URL): unknown[] {
    const { offset, limit: wanted } = pageOf(searchParams);
    this.requests.page(offset);
    const limit = wanted < 1 ? SERIES_LIMIT : wanted;
    if (offset + limit > WINDOW) throw new Answer(500, '<html>Server error</html>');
    const [from = 0, to = Number.POSITIVE_INFINITY] = periodOf(filtersOf(searchParams).CreationDate);
    const numbers = Array.from({ length: this.options.series }, (_, i) => i).filter((number) => {
      const created = seriesCreated(number);
      return created >= from && created <= to;
    });
    return numbers.slice(offset, offset + limit).map(seriesFields);
  }

  #series(id: string, part: string | undefined): unknown {
    const number = numberOf(id, seriesId);
    if (number === undefined || number >= this.options.series)
      throw new Answer(404, `Cannot find an series with id '${id}'.`);
    if (this.options.isSeriesBroken(number) && part) throw new Answer(500, '<html>Server error</html>');
    if (part === undefined) return { ...seriesFields(number), organization: 'mh_default_org', opt_out: false };
    if (part === 'metadata') return seriesCatalogs(number);
    if (part === 'properties') return number % 3 === 0 ? { theme: '1', live: 'true' } : {};
    if (part !== 'acl') throw new Answer(404);
    if (number % 5 === 0) throw new Answer(404, `Acl for series with id '${id}' is not defined.`);
    return ACL;
  }
}

function pageOf(query: URLSearchParams) {
  return { offset: Number(query.get('offset') ?? 0), limit: Number(query.get('limit') ?? 0) };
}

/** Parses a filter: a value may have colons. @throws {Answer} 400 */
function filtersOf(query: URLSearchParams): Record<string, string> {
  const parts = (query.get('filter') ?? '').split(',').filter((part) => part.includes(':'));
  const filters = Object.fromEntries(parts.map((part) => [part.split(':', 1)[0], part.slice(part.indexOf(':') + 1)]));
  const unknown = Object.keys(filters).find((name) => !FILTERS.includes(name));
  if (unknown) throw new Answer(400, `Unknown filter criterion in request: ${unknown}`);
  return filters;
}

const FILTERS = ['start', 'is_part_of', 'series', 'CreationDate'];
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

function periodOf(period: string | undefined): [from?: number, to?: number] {
  if (period === undefined) return [];
  const [from = '', to = ''] = period.split('/');
  if (!INSTANT.test(from) || !INSTANT.test(to))
    throw new Answer(400, "Filter 'start' could not be parsed: The date range string is malformed");
  return [Date.parse(from), Date.parse(to)];
}
