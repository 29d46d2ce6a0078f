import type { z } from 'zod';
import { createDocument, createSchema, type ZodOpenApiPathsObject } from 'zod-openapi';
import { NEWEST_VERSION } from '#platform/http/answer/version.ts';
import type { Description } from '#platform/http/endpoint/endpoint.ts';
import { schemasOfTexts } from '#platform/http/endpoint/schemas.ts';
import { INTRODUCTION } from './introduction.ts';
import { markVersions } from './mark-versions.ts';
import { operationOf } from './operation.ts';

/** Where the document says the API is, until a server puts its own address there. */
export const PLACEHOLDER_SERVER = 'http://127.0.0.1:8080';

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
