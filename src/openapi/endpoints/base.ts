import { z } from 'zod';
import { Home } from '../../about/home.schemas.ts';
import { ApiInfo, ApiVersions, DefaultVersion } from '../../http/base.schemas.ts';
import { API_VERSIONS, NEWEST_VERSION } from '../../http/version.ts';
import type { Endpoint } from '../endpoint.ts';
import { BASE_URL } from '../examples.ts';
import { TAGGED_HEADERS } from '../parameters.ts';

const newest = `v${NEWEST_VERSION}`;

/** What the API is; open to everybody. */
export const BASE: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/',
    tag: 'Base',
    summary: 'What runs here',
    description: 'Name and version of the program, and where to go on. Browsers get a page.',
    open: true,
    answers: {
      200: {
        description: 'It is Inlet.',
        plain: true,
        page: true,
        body: Home,
        example: {
          name: 'Inlet',
          version: '0.1.0',
          description: 'Takes lecture recordings in and makes them watchable.',
          links: {
            api: `${BASE_URL}/api`,
            docs: `${BASE_URL}/docs`,
            openapi: `${BASE_URL}/api/openapi.json`,
          },
        },
      },
    },
    refusals: { 500: 'Internal server error; the log has the details under request id 6f1f1d0e.' },
  },
  {
    method: 'get',
    path: '/api',
    tag: 'Base',
    summary: 'Address and newest version of the API',
    description: 'A first request to see that the API is there.',
    open: true,
    answers: {
      200: {
        description: 'Address and newest version.',
        plain: true,
        body: ApiInfo,
        example: { url: `${BASE_URL}/api`, version: newest },
      },
    },
  },
  {
    method: 'get',
    path: '/api/version',
    tag: 'Base',
    summary: 'All versions of the API',
    description: 'Which versions can be asked for with the header `Accept`, oldest first.',
    open: true,
    answers: {
      200: {
        description: 'The versions.',
        plain: true,
        body: ApiVersions,
        example: { versions: API_VERSIONS.map((version) => `v${version}`), default: newest },
      },
    },
  },
  {
    method: 'get',
    path: '/api/version/default',
    tag: 'Base',
    summary: 'The version answered by default',
    description: 'What requests get that ask for no version.',
    open: true,
    answers: {
      200: {
        description: 'The version.',
        plain: true,
        body: DefaultVersion,
        example: { default: newest },
      },
    },
  },
  {
    method: 'get',
    path: '/api/openapi.json',
    tag: 'Base',
    summary: 'This document',
    description: 'The API as an OpenAPI 3.1 document, from which clients can be generated.',
    open: true,
    answers: {
      200: {
        description: 'The document.',
        plain: true,
        body: z.looseObject({ openapi: z.string() }).meta({ id: 'OpenApiDocument' }),
        example: { openapi: '3.1.1', info: { title: 'Inlet', version: NEWEST_VERSION }, paths: {} },
        headers: TAGGED_HEADERS,
      },
      304: { description: 'It has not changed since the answer with this `ETag`.' },
    },
  },
];
