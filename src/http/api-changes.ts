import type { MiddlewareHandler } from 'hono';
import { API_VERSIONS, type ApiVersion, atLeast, NEWEST_VERSION, noVersion } from './version.ts';

/**
 * What came with which version of the API: the one place that says so, but for the filters of lists (compatibility
 * 2.4). Whatever is not mentioned was there from the first. In a path `*` stands for one segment; the paths below an
 * endpoint came with it.
 */
export const INTRODUCED = {
  endpoints: {
    '/api/agents': '1.1.0',
    '/api/events/*/scheduling': '1.1.0',
    '/api/listproviders': '1.10.0',
    '/api/playlists': '1.11.0',
    '/api/statistics': '1.3.0',
    '/api/statistics/data/export.csv': '1.4.0',
    '/api/workflow-definitions': '1.1.0',
    '/api/workflows': '1.1.0',
  },
  eventFields: {
    language: '1.1.0',
    rightsholder: '1.1.0',
    license: '1.1.0',
    is_part_of: '1.1.0',
    series: '1.1.0',
    source: '1.1.0',
    status: '1.1.0',
    scheduling: '1.1.0',
  },
  /** Before, `start` and `duration` were those of the recording, so that only scheduled events had a duration. */
  eventTimes: { bibliographic: '1.4.0' },
  eventParameters: {
    withscheduling: '1.1.0',
    scheduling: '1.1.0',
    allowConflict: '1.2.0',
    repeatedFilter: '1.5.0',
    includeInternalPublication: '1.11.0',
  },
  publications: { signedUrl: '1.7.0', internalById: '1.11.0' },
  mediaFields: { has_video: '1.7.0', has_audio: '1.7.0', is_master_playlist: '1.7.0', is_live: '1.7.0' },
  publicationMediaFields: { is_master_playlist: '1.7.0', is_live: '1.7.0' },
  seriesListFields: {
    description: '1.1.0',
    language: '1.1.0',
    license: '1.1.0',
    rightsholder: '1.1.0',
    acl: '1.5.0',
  },
  seriesFields: { language: '1.1.0', license: '1.1.0', rightsholder: '1.1.0', acl: '1.5.0' },
  seriesParameters: { override: '1.2.0', withacl: '1.5.0' },
} as const satisfies Record<string, Record<string, ApiVersion>>;

/** A part of the API that has changed between versions. */
export type ApiPart = keyof typeof INTRODUCED;

/** The version that introduced something; the first one for whatever the table does not mention. */
export function introducedBy(part: ApiPart, name: string): ApiVersion {
  const changes: Record<string, ApiVersion> = INTRODUCED[part];
  return (Object.hasOwn(changes, name) && changes[name]) || API_VERSIONS[0];
}

/** Whether a version has a field, parameter, filter or behaviour. */
export function offers<P extends ApiPart>(
  version: ApiVersion,
  part: P,
  name: keyof (typeof INTRODUCED)[P] & string,
): boolean {
  return atLeast(version, introducedBy(part, name));
}

/** An object without the fields that a version does not have. */
export function fieldsOf<T extends object>(version: ApiVersion, part: ApiPart, fields: T): Partial<T> {
  if (version === NEWEST_VERSION) return fields;
  return Object.fromEntries(
    Object.entries(fields).filter(([name]) => atLeast(version, introducedBy(part, name))),
  ) as Partial<T>;
}

const ENDPOINTS = Object.entries(INTRODUCED.endpoints)
  .map(([path, since]) => ({ since, pattern: new RegExp(`^${path.replaceAll('*', '[^/]+')}(?:/|$)`) }))
  .sort((a, b) => API_VERSIONS.indexOf(b.since) - API_VERSIONS.indexOf(a.since));

/** The version that introduced the endpoint of a path. */
export function endpointIntroducedBy(path: string): ApiVersion {
  return ENDPOINTS.find(({ pattern }) => pattern.test(path))?.since ?? API_VERSIONS[0];
}

/** 406 for an endpoint that the version the client asks for does not have. Runs after `negotiateVersion`. */
export function requireEndpoint(): MiddlewareHandler {
  return async (c, next) => {
    const since = endpointIntroducedBy(c.req.path);
    if (!atLeast(c.var.version, since)) throw noVersion(since);
    await next();
  };
}
