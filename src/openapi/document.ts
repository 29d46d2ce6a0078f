import type { z } from 'zod';
import { createDocument, createSchema, type ZodOpenApiPathsObject } from 'zod-openapi';
import { LenientAcl, StrictAcl } from '../access/acl.schemas.ts';
import { NEWEST_VERSION } from '../http/version.ts';
import { CatalogsRequest, FieldsRequest } from '../metadata/schemas.ts';
import { NewScheduling, SchedulingUpdate } from '../recordings/schedules/scheduling.schemas.ts';
import { PropertiesRequest } from '../series/properties.schemas.ts';
import { Processing } from '../workflows/processing.schemas.ts';
import { TAGS } from './endpoint.ts';
import { ENDPOINTS } from './endpoints/index.ts';
import { INTRODUCTION } from './introduction.ts';
import { markVersions } from './mark-versions.ts';
import { operationOf } from './operation.ts';

/** Where the document says the API is, until a server puts its own address there. */
export const PLACEHOLDER_SERVER = 'http://127.0.0.1:8080';

/** The whole API as an OpenAPI 3.1 document. */
export function buildDocument() {
  const paths: ZodOpenApiPathsObject = {};
  for (const endpoint of ENDPOINTS) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method]: operationOf(endpoint) };
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
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      security: [{ basic: [] }, { bearer: [] }],
      paths,
      components: {
        // Named by fields that hold JSON as text.
        schemas: sent(
          LenientAcl,
          StrictAcl,
          CatalogsRequest,
          FieldsRequest,
          Processing,
          PropertiesRequest,
          NewScheduling,
          SchedulingUpdate,
        ),
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
function sent(...schemas: z.ZodType[]) {
  return Object.assign({}, ...schemas.map((schema) => createSchema(schema, { io: 'input' }).components));
}
