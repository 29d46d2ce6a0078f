import type { z } from 'zod';
import { createDocument, createSchema, type ZodOpenApiPathsObject } from 'zod-openapi';
import { NEWEST_VERSION, type Since } from '#platform/http/answer/version.ts';
import type { Description } from '#platform/http/endpoint/endpoint.ts';
import { schemasOfTexts } from '#platform/http/endpoint/endpoint-schemas.ts';
import { operationOf } from './operation.ts';

/** The introduction of the document, in Markdown. */
const INTRODUCTION = `Events (recordings), series and playlists: their metadata, access control lists, tracks, publications and scheduling.

**Versions.** \`Accept: application/v1.11.0+json\` asks for a version; \`application/json\`, \`*/*\` or no header ask for the
newest one. Answers have the media type of their version. \`x-since\` marks what was added after 1.0.0; older versions omit
such fields.

**Forms.** Requests carry form fields. Fields with JSON carry it as text (\`contentMediaType\`). Unknown fields and query
parameters are ignored.

**Errors.** An error is a sentence as \`text/plain\`; only scheduling conflicts are JSON. A resource that the account may
not read answers 404.

**Browsers.** Pages of other sites cannot change anything unless the operator lists them in \`CORS_ORIGINS\`. Users who are
signed in to \`/admin\` need no other credentials.

**Acting for other users.** An account with \`ROLE_SUDO\` may send \`X-RUN-AS-USER\` (a user name) and
\`X-RUN-WITH-ROLES\` (comma-separated roles).

**Units.** Times are in UTC, durations in milliseconds, sizes in bytes.`;

interface ObjectSchema {
  'x-introduced'?: Since;
  'x-required-since'?: Record<string, string>;
  properties?: Record<string, Record<string, unknown>>;
  required?: string[];
}

/**
 * Replaces `x-introduced` of a schema: a property that was added after the first version gets `x-since` and becomes
 * optional. `x-required-since` holds the version from which it is always present.
 */
function markVersions<D extends { components?: { schemas?: object } }>(document: D): D {
  for (const schema of Object.values(document.components?.schemas ?? {}) as ObjectSchema[]) {
    const since = schema['x-introduced'];
    if (!since) continue;
    delete schema['x-introduced'];
    const later = Object.keys(schema.properties ?? {}).filter((name) => Object.hasOwn(since, name));
    for (const name of later) {
      const property = schema.properties?.[name] ?? {};
      // OpenAPI 3.1 allows other keywords beside a reference.
      property['x-since'] = since[name];
      if (!schema.required?.includes(name)) continue;
      schema.required = schema.required.filter((each) => each !== name);
      schema['x-required-since'] = { ...schema['x-required-since'], [name]: since[name] ?? '' };
    }
  }
  return document;
}

/** Replaced by the public URL of the server. */
const PLACEHOLDER_SERVER = 'http://127.0.0.1:8080';

/** A group of endpoints in the document. */
export interface Group<E extends Description = Description> {
  name: string;
  /** A sentence; Markdown. */
  description: string;
  endpoints: readonly E[];
}

/** Builds an OpenAPI 3.1 document of the endpoints that have a summary. */
export function buildDocument(groups: readonly Group[]) {
  const paths: ZodOpenApiPathsObject = {};
  for (const { name, endpoints } of groups) {
    for (const endpoint of endpoints.filter(({ summary }) => summary !== undefined)) {
      paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method]: operationOf(endpoint, name) };
    }
  }
  return markVersions(
    createDocument({
      openapi: '3.1.1',
      info: {
        title: 'Inlet',
        version: NEWEST_VERSION,
        summary: 'Recordings in, publications out.',
        description: INTRODUCTION,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: PLACEHOLDER_SERVER }],
      tags: groups.map(({ name, description }) => ({ name, description })),
      security: [{ basic: [] }, { bearer: [] }],
      paths,
      components: {
        schemas: sent(schemasOfTexts()),
        securitySchemes: {
          basic: { type: 'http', scheme: 'basic', description: 'An account of Inlet.' },
          bearer: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'JWT',
            description: "A token of the site's identity provider, where one is configured.",
          },
        },
      },
    }),
  );
}

/** Returns the input schemas by identifier. */
function sent(schemas: readonly z.ZodType[]) {
  return Object.assign({}, ...schemas.map((schema) => createSchema(schema, { io: 'input' }).components));
}
