import { API_VERSIONS, type ApiVersion, atLeast, mediaType } from '#platform/http/answer/version.ts';
import type { NamedHost } from '#platform/setting/value-kinds.ts';
import { inBatches } from '../concurrency.ts';
import {
  type CatalogueSource,
  type SourceChoice,
  SourceError,
  type SourceFile,
  SourceUnusable,
} from './catalogue-source.ts';
import {
  type ListedEvent,
  listedEvent,
  listedSeries,
  parseEvent,
  parseGroup,
  parsePlaylist,
  parseSeries,
  parseTracks,
} from './parse-source.ts';
import { accessRefused, baseOf, isRefused, newestCommonVersion } from './server-access.ts';
import { listGroups, listPlaylists } from './server-lists.ts';
import type { SourceEvent, SourceGroup, SourcePlaylist, SourceSeries, SourceTrack } from './source.schemas.ts';
import { SourceConnection } from './source-connection.ts';
import { type Outage, type RequestLimits, SourceRequests } from './source-requests.ts';
import { LATEST, type PageRequest, walkByOffset, walkByTime } from './walk.ts';

export interface ServerOptions extends Partial<RequestLimits> {
  username: string;
  password: string;
  /** Further hosts of the same installation, which get the credentials, too. */
  nodes?: readonly NamedHost[];
  /** Hosts with files that may have private addresses. The host of the server is one. */
  mediaHosts?: readonly NamedHost[];
  signal: AbortSignal;
  /** Called when the server does not answer, and with undefined when it answers again. */
  onWait?: (outage: Outage | undefined) => void;
  /** Called when the server cannot list everything. */
  onWarning?: (message: string) => void;
}

const MAX_PER_SECOND = 200;
const DEFAULTS: RequestLimits = { concurrency: 4, requestsPerSecond: 50, idleMs: 60_000, retryMs: 500 };
const PAGE = 100;
/** Series whose details are requested before they are copied: nothing is requested while a batch is copied. */
const SERIES_BATCH = 32;

/**
 * Opens a server with the External API as a source.
 *
 * @param url its address, also with `/api`
 * @throws {SourceUnusable} if it has no External API or does not let it be read; the message says what to do
 */
export async function openServer(url: string, options: ServerOptions): Promise<CatalogueSource> {
  const { username, password, nodes = [], mediaHosts = [], signal, onWait = () => undefined } = options;
  const limits = { ...DEFAULTS, ...options };
  const requestsPerSecond = Math.min(limits.requestsPerSecond, MAX_PER_SECOND);
  const requests = new SourceRequests({ ...limits, requestsPerSecond }, signal, onWait);
  const connection = new SourceConnection({ base: baseOf(url), username, password, nodes, mediaHosts, requests });
  const version = await newestCommonVersion(connection, signal);
  connection.accept = mediaType(version);
  const source = new ServerSource(connection, version, options);
  await source.checkAccess();
  if (version === API_VERSIONS[0])
    options.onWarning?.(
      `The source supports only version ${version} of the External API, which lists no events by date: events after the first 16,000 may not be readable.`,
    );
  requests.waitForOutages(async () => {
    await connection.attemptJson('/api/version', signal);
    await connection.attemptJson('/api/events?limit=1', signal);
  });
  return source;
}

class ServerSource implements CatalogueSource {
  readonly name: string;
  readonly #connection: SourceConnection;
  readonly #version: ApiVersion;
  readonly #signal: AbortSignal;
  readonly #onWarning: (message: string) => void;

  constructor(
    connection: SourceConnection,
    version: ApiVersion,
    { signal, onWarning = () => undefined }: ServerOptions,
  ) {
    this.name = connection.base;
    this.#connection = connection;
    this.#version = version;
    this.#signal = signal;
    this.#onWarning = onWarning;
  }

  /** Requests one of everything. @throws {SourceUnusable} for a role that is missing */
  async checkAccess(): Promise<void> {
    const [series] = await this.#check('SERIES_VIEW', '/api/series?limit=1');
    const [event] = await this.#check('EVENTS_VIEW', '/api/events?limit=1');
    for (const [role, part] of Object.entries(SERIES_PARTS))
      if (series) await this.#check(role, seriesPath(series, part));
    if (event) await this.#check('EVENTS_MEDIA_VIEW', eventPath(event, '/media'));
  }

  /** Requests a list. @returns its identifiers @throws {SourceUnusable} for a role that is missing */
  async #check(role: string, path: string): Promise<string[]> {
    try {
      const list = await this.#connection.json(path, this.#signal);
      return Array.isArray(list)
        ? list.flatMap(({ identifier }) =>
            typeof identifier === 'string' && identifier.isWellFormed() ? identifier : [],
          )
        : [];
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      if (isRefused(error)) throw accessRefused(error, `ROLE_API_${role}`);
      return [];
    }
  }

  async *series({ seriesId, since, signal, onUnreadable }: SourceChoice): AsyncGenerator<SourceSeries> {
    if (seriesId !== undefined) {
      const series = await this.findSeries(seriesId);
      if (series) yield series;
      return;
    }
    const page = async ({ from, offset }: PageRequest) => {
      const query = new URLSearchParams({ sort: 'created:ASC', limit: String(PAGE), offset: String(offset) });
      if (from) query.set('filter', `CreationDate:${period(from)}`);
      return (await this.#list(`/api/series?${query}`, signal)).map(listedSeries);
    };
    const walk = walkByTime({ page, limit: PAGE, since, onWarning: this.#onWarning });
    for await (const batch of inBatches(walk, SERIES_BATCH)) {
      const read = batch.map(({ id, json }) =>
        this.#readSeries(id, json, signal).catch((error) => {
          onUnreadable?.(id, reasonOf(error));
          return undefined;
        }),
      );
      for (const series of await Promise.all(read)) if (series) yield series;
    }
  }

  async *events({ seriesId, since, signal, onUnreadable }: SourceChoice): AsyncGenerator<SourceEvent> {
    const page = (request: PageRequest) => this.#eventsPage(request, seriesId, signal);
    const walk = atLeast(this.#version, '1.1.0') ? walkByTime : walkByOffset;
    for await (const { id, event, fault } of walk({ page, limit: PAGE, since, onWarning: this.#onWarning })) {
      if (fault) onUnreadable?.(id, fault);
      else if (event && (seriesId === undefined || event.is_part_of === seriesId)) yield event;
    }
  }

  playlists(choice: SourceChoice): AsyncGenerator<SourcePlaylist> {
    return listPlaylists(this.#connection, this.#version, choice);
  }

  groups(choice: SourceChoice): AsyncGenerator<SourceGroup> {
    return listGroups(this.#connection, choice);
  }

  findEvent(id: string): Promise<SourceEvent | undefined> {
    return this.#findEvent(id, this.#signal);
  }

  async findSeries(id: string): Promise<SourceSeries | undefined> {
    const json = await this.#find(seriesPath(id), this.#signal);
    return json === undefined ? undefined : this.#readSeries(id, json, this.#signal);
  }

  async findPlaylist(id: string): Promise<SourcePlaylist | undefined> {
    const json = await this.#find(`/api/playlists/${encodeURIComponent(id)}`, this.#signal);
    return json === undefined ? undefined : parsePlaylist(json);
  }

  async findGroup(id: string): Promise<SourceGroup | undefined> {
    const json = await this.#find(`/api/groups/${encodeURIComponent(id)}`, this.#signal);
    return json === undefined ? undefined : parseGroup(json);
  }

  async tracks(eventId: string): Promise<SourceTrack[]> {
    return parseTracks((await this.#find(eventPath(eventId, '/media'), this.#signal)) ?? []);
  }

  open(url: string, signal: AbortSignal): Promise<SourceFile> {
    return this.#connection.open(url, signal);
  }

  /** Lists events with their parts. If the list fails, its events are requested one by one. */
  async #eventsPage(request: PageRequest, seriesId: string | undefined, signal: AbortSignal): Promise<ListedEvent[]> {
    const query = this.#eventsQuery(request, seriesId);
    try {
      const list = await this.#list(`/api/events?${query}&${this.#parts()}`, signal);
      return list.map((json) => listedEvent(json, this.#version));
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
    }
    const events: ListedEvent[] = [];
    for (const json of await this.#list(`/api/events?${query}`, signal)) {
      const { id, time } = listedEvent(json, this.#version);
      try {
        events.push({ id, time, event: await this.#findEvent(id, signal) });
      } catch (error) {
        events.push({ id, time, fault: reasonOf(error) });
      }
    }
    return events;
  }

  #eventsQuery({ from, offset }: PageRequest, seriesId: string | undefined): URLSearchParams {
    const query = new URLSearchParams({ sort: 'date:ASC', limit: String(PAGE), offset: String(offset) });
    const filters = from ? [`start:${period(from)}`] : [];
    // A filter cannot contain a comma.
    if (seriesId !== undefined && !seriesId.includes(','))
      filters.push(`${atLeast(this.#version, '1.1.0') ? 'is_part_of' : 'series'}:${seriesId}`);
    if (filters.length > 0) query.set('filter', filters.join(','));
    return query;
  }

  /** Returns the parameters for all parts of events that the version has. */
  #parts(): URLSearchParams {
    const query = new URLSearchParams({
      sign: 'true',
      withacl: 'true',
      withmetadata: 'true',
      withpublications: 'true',
    });
    if (atLeast(this.#version, '1.1.0')) query.set('withscheduling', 'true');
    if (atLeast(this.#version, '1.11.0')) query.set('includeInternalPublication', 'true');
    return query;
  }

  async #findEvent(id: string, signal: AbortSignal): Promise<SourceEvent | undefined> {
    const json = await this.#find(`${eventPath(id)}?${this.#parts()}`, signal);
    return json === undefined ? undefined : parseEvent(json);
  }

  /** Adds the details to a series of a list. @returns undefined if it was deleted */
  async #readSeries(id: string, json: unknown, signal: AbortSignal): Promise<SourceSeries | undefined> {
    const parts = Object.values(SERIES_PARTS).map((part) => this.#find(seriesPath(id, part), signal));
    const [acl, metadata, properties] = await Promise.all(parts);
    // Only the access list may be missing.
    if (metadata === undefined) return undefined;
    return parseSeries(json, { acl, metadata, properties });
  }

  /** Requests a resource. @returns undefined if it does not exist, or not in this version @throws {SourceError} */
  async #find(path: string, signal: AbortSignal): Promise<unknown> {
    return this.#connection.json(path, signal).catch((error) => {
      if (error instanceof SourceError && MISSING.includes(error.status ?? 0)) return undefined;
      throw error;
    });
  }

  /** Requests a list. @throws {SourceUnusable} if the request is refused @throws {SourceError} */
  async #list(path: string, signal: AbortSignal): Promise<unknown[]> {
    const list = await this.#connection.json(path, signal).catch((error) => {
      const { status = 0 } = error as SourceError;
      throw error instanceof SourceError && status >= 400 && status < 500 ? new SourceUnusable(error.message) : error;
    });
    if (Array.isArray(list)) return list;
    throw new SourceError(`${path.split('?', 1)[0]} is not answered with a list.`);
  }
}

/** The details of series, by the role that reads them. */
const SERIES_PARTS = {
  SERIES_ACL_VIEW: '/acl',
  SERIES_METADATA_VIEW: '/metadata',
  SERIES_PROPERTIES_VIEW: '/properties',
};
const MISSING: readonly number[] = [404, 406];

const seriesPath = (id: string, part = '') => `/api/series/${encoded(id)}${part}`;
const eventPath = (id: string, part = '') => `/api/events/${encoded(id)}${part}`;

/** @throws {SourceError} for text that no address can contain */
function encoded(id: string): string {
  if (id.isWellFormed()) return encodeURIComponent(id);
  throw new SourceError('Its identifier is not valid Unicode.');
}

const wholeSeconds = (time: Date) => `${time.toISOString().slice(0, 19)}Z`;

/** Formats a period without an end, to the second. */
const period = (from: Date) => `${wholeSeconds(from)}/${wholeSeconds(LATEST)}`;

/** Returns the message of an error about one item. @throws any other error */
function reasonOf(error: unknown): string {
  if (error instanceof SourceError) return error.message;
  throw error;
}
