import { z } from 'zod';
import { matchesNone } from '#platform/http/answer/etag.ts';
import { API_VERSIONS, NEWEST_VERSION } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { EXAMPLE_URL, TAGGED_HEADERS } from '#platform/http/endpoint/endpoint-schemas.ts';
import type { ServedDocument } from './served-document.ts';

const ALL = API_VERSIONS.map((version) => `v${version}` as const);
const DEFAULT = `v${NEWEST_VERSION}` as const;
const VERSIONS = { versions: ALL, default: DEFAULT };
const Version = z.enum(ALL);

/** Address and newest version of the API. */
const ApiInfo = z
  .object({ url: z.url().describe('Address of the API.'), version: Version.describe('The newest version.') })
  .meta({ id: 'ApiInfo' });

/** All versions of the API, oldest first. */
const ApiVersions = z.object({ versions: z.array(Version), default: Version }).meta({ id: 'ApiVersions' });

/** The version for requests that ask for none. */
const DefaultVersion = z.object({ default: Version }).meta({ id: 'DefaultVersion' });

export const apiInfo = defineEndpoint({
  method: 'get',
  path: '/api',
  access: 'public',
  summary: 'Address and newest version of the API',
  description: 'Use it to check the connection.',
  answers: {
    200: {
      description: 'Address and newest version.',
      plain: true,
      body: ApiInfo,
      example: { url: `${EXAMPLE_URL}/api`, version: DEFAULT },
    },
  },
  handle: ({ c }, { config }: { config: { publicUrl: string } }) =>
    c.json({ url: `${config.publicUrl}/api`, version: DEFAULT }),
});

export const apiVersions = defineEndpoint({
  method: 'get',
  path: '/api/version',
  access: 'public',
  summary: 'All versions of the API',
  description: 'The versions that the header `Accept` may ask for, oldest first.',
  answers: { 200: { description: 'The versions.', plain: true, body: ApiVersions, example: VERSIONS } },
  handle: ({ c }) => c.json(VERSIONS),
});

export const defaultVersion = defineEndpoint({
  method: 'get',
  path: '/api/version/default',
  access: 'public',
  summary: 'The default version',
  description: 'The version for requests that ask for none.',
  answers: {
    200: { description: 'The version.', plain: true, body: DefaultVersion, example: { default: DEFAULT } },
  },
  handle: ({ c }) => c.json({ default: DEFAULT }),
});

export const apiDocument = defineEndpoint({
  method: 'get',
  path: '/api/openapi.json',
  access: 'public',
  summary: 'This document',
  description: 'The OpenAPI 3.1 document of the API, for reading and for generating clients.',
  answers: {
    200: {
      description: 'The document.',
      plain: true,
      body: z.looseObject({ openapi: z.string() }).meta({ id: 'OpenApiDocument' }),
      example: { openapi: '3.1.1', info: { title: 'Inlet', version: NEWEST_VERSION }, paths: {} },
      headers: TAGGED_HEADERS,
    },
    304: { description: 'The document still has this `ETag`.' },
  },
  handle: ({ c }, { document }: { document: ServedDocument }) => {
    const headers = { ETag: document.etag, 'Cache-Control': 'no-cache' };
    if (matchesNone(c.req.header('If-None-Match'), document.etag)) return c.body(null, 304, headers);
    return c.body(document.text, 200, { ...headers, 'Content-Type': 'application/json' });
  },
});
