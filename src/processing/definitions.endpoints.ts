import { z } from 'zod';
import { apiRole } from '#access/roles/api-roles.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { NO_WHOLE_NUMBER } from '#platform/http/endpoint/query.schemas.ts';
import { pathParameter } from '#platform/http/endpoint/schemas.ts';
import { listHeaders, UNKNOWN_FILTER, wholeListHeaders } from '#platform/http/list/index.ts';
import {
  DefinitionListQuery,
  DefinitionQuery,
  DefinitionShape,
  UNKNOWN_CRITERION,
} from './definition.schemas.ts';
import type { WorkflowDefinition } from './definition.ts';
import { definitionJson } from './definition-json.ts';
import { listedDefinitions } from './definition-list.ts';
import type { WorkflowDefinitions } from './definitions.ts';
import { DEFINITION } from './examples.ts';
import { DEFINITION_MISSING } from './refusals.ts';

const PATH = '/api/workflow-definitions';

const Definition = z.looseObject({
  id: z.string(),
  title: z.string(),
  description: z.string(),
  tags: z.object({ tag: z.array(z.string()) }),
});

interface Services {
  config: { publicUrl: string };
  definitions: WorkflowDefinitions;
}

/** What can be done with recordings (compatibility 6). */
export const listDefinitions = defineEndpoint({
  method: 'get',
  path: PATH,
  since: '1.1.0',
  access: apiRole('WORKFLOW_DEFINITION_VIEW'),
  summary: 'List workflow definitions',
  description: 'By identifier, unless `sort` says otherwise.',
  query: DefinitionListQuery,
  answers: {
    200: {
      description: 'Workflow definitions.',
      body: z.array(DefinitionShape),
      example: [DEFINITION],
      headers: listHeaders(PATH),
    },
  },
  refusals: [UNKNOWN_CRITERION, UNKNOWN_FILTER, NO_WHOLE_NUMBER],
  handle: ({ c, query }, { config, definitions }: Services) => {
    const { limit, offset = 0, ...wanted } = query();
    const found = listedDefinitions(definitions.all(), wanted);
    const page = found.slice(offset, limit && offset + limit);
    const search = new URL(c.req.url).searchParams;
    return versionedJson(
      c,
      page.map((definition) => definitionJson(definition, wanted)),
      200,
      wholeListHeaders(`${config.publicUrl}${PATH}`, search, { limit, offset, count: found.length }),
    );
  },
});

export const readDefinition = defineEndpoint({
  method: 'get',
  path: `${PATH}/{workflow_definition_id}`,
  since: '1.1.0',
  access: apiRole('WORKFLOW_DEFINITION_VIEW'),
  summary: 'Read a workflow definition',
  description: 'By its identifier or one of its other names.',
  params: { workflow_definition_id: pathParameter('Identifier of the workflow definition.', 'publish') },
  query: DefinitionQuery,
  answers: { 200: { description: 'The workflow definition.', body: DefinitionShape, example: DEFINITION } },
  refusals: [DEFINITION_MISSING],
  handle: ({ c, params, query }, { definitions }: Services) => {
    const id = params.workflow_definition_id;
    if (!definitions.knows(id)) throw DEFINITION_MISSING(id);
    return versionedJson(c, definitionJson(definitions.resolve(id), query()));
  },
});

/** The workflows that recordings can go through, as agents ask for them. */
export const definitionsForAgents = defineEndpoint({
  method: 'get',
  path: '/workflow/definitions.json',
  operationId: 'getWorkflowDefinitionsForAgents',
  access: [
    'ROLE_CAPTURE_AGENT',
    'ROLE_STUDIO',
    'ROLE_API_WORKFLOW_DEFINITION_VIEW',
    'ROLE_API_EVENTS_CREATE',
  ],
  summary: 'List workflow definitions, as agents ask',
  description: 'Those that a recording can go through have the tag `schedule`.',
  answers: {
    200: {
      description: 'All of them, always as a list.',
      plain: true,
      body: z.object({ definitions: z.object({ definition: z.array(Definition) }) }),
      example: {
        definitions: {
          definition: [
            {
              id: 'fast',
              title: 'Process and publish',
              description: 'Publishes every recording.',
              displayOrder: 0,
              tags: { tag: ['upload', 'schedule'] },
            },
          ],
        },
      },
    },
  },
  handle: ({ c }, { definitions }: Services) =>
    c.json({ definitions: { definition: definitions.all().map(shown) } }),
});

function shown({ id, title, description, tags, display_order }: WorkflowDefinition) {
  return { id, title, description, displayOrder: display_order, tags: { tag: tags } };
}
