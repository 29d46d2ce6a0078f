import type { Context, MiddlewareHandler } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { refusal } from '../errors/errors.ts';

/** The versions of the API, oldest first. */
export const API_VERSIONS = [
  '1.0.0',
  '1.1.0',
  '1.2.0',
  '1.3.0',
  '1.4.0',
  '1.5.0',
  '1.6.0',
  '1.7.0',
  '1.8.0',
  '1.9.0',
  '1.10.0',
  '1.11.0',
] as const;

export type ApiVersion = (typeof API_VERSIONS)[number];

export const NEWEST_VERSION: ApiVersion = '1.11.0';

declare module 'hono' {
  interface ContextVariableMap {
    version: ApiVersion;
  }
}

const NEWEST_FIRST = [...API_VERSIONS].reverse();
const UNVERSIONED = ['application/json', 'application/*', '*/*'];

export function atLeast(version: ApiVersion, since: ApiVersion): boolean {
  return API_VERSIONS.indexOf(version) >= API_VERSIONS.indexOf(since);
}

/** Returns the media type of a version: `application/v1.11.0+json`. */
export function mediaType(version: ApiVersion): string {
  return `application/v${version}+json`;
}

/**
 * Resolves an `Accept` header to a version: the newest version if the header is missing or accepts unversioned JSON,
 * otherwise the newest version that it lists.
 *
 * @returns undefined if it lists no version
 */
export function resolveVersion(accept: string | undefined): ApiVersion | undefined {
  const wanted = accept?.trim().toLowerCase();
  if (!wanted || UNVERSIONED.some((type) => wanted.includes(type))) return NEWEST_VERSION;
  return NEWEST_FIRST.find((version) => wanted.includes(mediaType(version)));
}

/** Sets `c.var.version` from `Accept`, or responds 406. @param producedBy returns an unversioned media type */
export function negotiateVersion(
  producedBy: (method: string, path: string) => string | undefined = () => undefined,
): MiddlewareHandler {
  return async (c, next) => {
    const accept = c.req.header('Accept');
    const produced = producedBy(c.req.method, c.req.path);
    const isOther = produced !== undefined && accept?.toLowerCase().includes(produced);
    const version = isOther ? NEWEST_VERSION : resolveVersion(accept);
    if (!version) throw NO_VERSION(API_VERSIONS[0]);
    c.set('version', version);
    await next();
  };
}

/** The version that introduced a field, parameter or behaviour, by name; the first one by default. */
export type Since = Readonly<Record<string, ApiVersion>>;

export function fieldsIn<T extends object>(version: ApiVersion, since: Since, fields: T): Partial<T> {
  if (version === NEWEST_VERSION) return fields;
  return Object.fromEntries(
    Object.entries(fields).filter(([name]) => atLeast(version, since[name] ?? API_VERSIONS[0])),
  ) as Partial<T>;
}

/** Responds with JSON in the media type of the request's version. */
export function versionedJson(
  c: Context,
  body: unknown,
  status: ContentfulStatusCode = 200,
  headers: Record<string, string> = {},
): Response {
  return c.body(JSON.stringify(body), status, {
    'Content-Type': mediaType(c.get('version')),
    Vary: 'Accept',
    ...headers,
  });
}

export const NO_VERSION = refusal(
  406,
  (since: ApiVersion) =>
    `The Accept header names no media type of this resource: application/json, or ${mediaType(since)} to ${mediaType(NEWEST_VERSION)}.`,
  ['1.0.0'],
);
