import type { z } from 'zod';
import { createDocument, createSchema, type ZodOpenApiPathsObject } from 'zod-openapi';
import { NEWEST_VERSION, type Since } from '#platform/http/answer/version.ts';
import type { Description } from '#platform/http/endpoint/endpoint.ts';
import { schemasOfTexts } from '#platform/http/endpoint/schemas.ts';
import { operationOf } from './operation.ts';

/** What has to be known of the API as a whole; Markdown. */
const INTRODUCTION = `Events (recordings) and series: their metadata, access control lists, tracks, publications and scheduling.

**Versions.** \`Accept: application/v1.11.0+json\` asks for one; \`application/json\`, \`*/*\` or no header at all get the
newest. Answers carry the media type of their version. What came later than 1.0.0 says so (\`x-since\`); a field is
missing in answers of older versions.

**Forms.** Requests carry form fields; those that hold JSON hold it as text (\`contentMediaType\`). Unknown fields and
query parameters are ignored.

**Errors.** A refusal is a bare sentence as \`text/plain\`; only scheduling conflicts are JSON. What an account may not
read does not exist for it (404).

**Browsers.** Pages of other sites may change nothing, unless the operator lists them (\`CORS_ORIGINS\`); who signed in to
\`/admin\` needs no credentials here, as long as that lasts.

**Acting for others.** An account with \`ROLE_SUDO\` may send \`X-RUN-AS-USER\` (a user name) and
\`X-RUN-WITH-ROLES\` (roles with commas between them).

**Times** are in UTC; durations and sizes are in milliseconds and bytes.`;

interface ObjectSchema {
  'x-introduced'?: Since;
  'x-required-since'?: Record<string, string>;
  properties?: Record<string, Record<string, unknown>>;
  required?: string[];
}

/**
 * Tells what came with which version, by the table that a schema carries as `x-introduced`: a property that the first
 * version did not have gets `x-since`, and is not required. `x-required-since` says from which version on it is there
 * all the same.
 */
function markVersions<D extends { components?: { schemas?: object } }>(document: D): D {
  for (const schema of Object.values(document.components?.schemas ?? {}) as ObjectSchema[]) {
    const since = schema['x-introduced'];
    if (!since) continue;
    delete schema['x-introduced'];
    const later = Object.keys(schema.properties ?? {}).filter((name) => Object.hasOwn(since, name));
    for (const name of later) {
      const property = schema.properties?.[name] ?? {};
      // Beside a reference other keywords are allowed since 3.1.
      property['x-since'] = since[name];
      if (!schema.required?.includes(name)) continue;
      schema.required = schema.required.filter((each) => each !== name);
      schema['x-required-since'] = { ...schema['x-required-since'], [name]: since[name] ?? '' };
    }
  }
  return document;
}

/** Where the document says the API is, until a server puts its own address there. */
const PLACEHOLDER_SERVER = 'http://127.0.0.1:8080';

/** Endpoints that stand together in the reference. */
export interface Group<E extends Description = Description> {
  name: string;
  /** A sentence; Markdown. */
  description: string;
  endpoints: readonly E[];
}

/** The declared endpoints as an OpenAPI 3.1 document; those without a summary are not in it. */
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

/** Schemas of what is sent, by their identifiers. */
function sent(schemas: readonly z.ZodType[]) {
  return Object.assign({}, ...schemas.map((schema) => createSchema(schema, { io: 'input' }).components));
}
