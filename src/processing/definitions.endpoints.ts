import { z } from 'zod';
import { apiRole } from '#access/roles/api-roles.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { flag, NO_WHOLE_NUMBER, PAGE, pathParameter, TextByName } from '#platform/http/endpoint/endpoint-schemas.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { listHeaders, parseFilters, parseSort, UNKNOWN_FILTER, wholeListHeaders } from '#platform/http/list/index.ts';
import type { WorkflowDefinitions } from './load-definitions.ts';
import type { WorkflowDefinition } from './workflow-definition.ts';
import { DEFINITION } from './workflow-examples.ts';
import { DEFINITION_MISSING } from './workflow-refusals.ts';

const UNKNOWN_CRITERION = refusal(400, (name: string) => `Unknown search criterion in request: ${name}`, ['colour']);

const DefinitionQuery = z.object({
  withoperations: flag('Include its operations.'),
  withconfigurationpanel: flag('Include its configuration panel as HTML.'),
  withconfigurationpaneljson: flag('Include its configuration panel as JSON.'),
});
type DefinitionQuery = z.infer<typeof DefinitionQuery>;

const DefinitionListQuery = z.object({
  filter: z.string().optional().meta({
    description: 'Filters as `name:value`, separated by commas. Names: `tag`.',
    example: 'tag:upload',
  }),
  sort: z.string().optional().meta({
    description:
      'Criteria as `name:ASC` or `name:DESC`, separated by commas, the most important first. Names: `identifier`, `title`, `displayorder`.',
    example: 'displayorder:DESC',
  }),
  ...PAGE,
  ...DefinitionQuery.shape,
});

/** A workflow definition as the API shows it (compatibility 6). */
const DefinitionShape = z
  .object({
    identifier: z.string(),
    title: z.string(),
    description: z.string(),
    tags: z.array(z.string()),
    configuration_panel: z.string().optional().describe('With `withconfigurationpanel`.'),
    configuration_panel_json: z.string().optional().describe('With `withconfigurationpaneljson`.'),
    operations: z
      .array(
        z.object({
          operation: z.string(),
          description: z.string(),
          configuration: TextByName,
          if: z.string(),
          unless: z.string(),
          fail_workflow_on_error: z.boolean(),
          error_handler_workflow: z.string(),
          retry_strategy: z.enum(['none', 'retry']),
          max_attempts: z.int(),
        }),
      )
      .optional()
      .describe('With `withoperations`. The operations that run when the workflow fails come last.'),
  })
  .meta({ id: 'WorkflowDefinition' });
type DefinitionJson = z.infer<typeof DefinitionShape>;

/** Converts a workflow definition for the API; fields that Inlet does not support have their defaults. */
function definitionJson(definition: WorkflowDefinition, query: DefinitionQuery): DefinitionJson {
  const { id, title, description, tags, configuration_panel, configuration_panel_json } = definition;
  return {
    identifier: id,
    title,
    description,
    tags,
    ...(query.withconfigurationpanel && { configuration_panel }),
    ...(query.withconfigurationpaneljson && { configuration_panel_json }),
    ...(query.withoperations && { operations: operationsOf(definition) }),
  };
}

function operationsOf({ operations, on_failure }: WorkflowDefinition): DefinitionJson['operations'] {
  return [...operations, ...on_failure].map((operation) => ({
    operation: operation.operation,
    description: operation.description,
    configuration: operation.configuration,
    if: operation.if?.source ?? '',
    unless: '',
    fail_workflow_on_error: true,
    error_handler_workflow: '',
    retry_strategy: operation.retries > 0 ? 'retry' : 'none',
    max_attempts: operation.retries + 1,
  }));
}

const MAX_SHOWN = 200;

const COMPARE: Readonly<Record<string, (a: WorkflowDefinition, b: WorkflowDefinition) => number>> = {
  identifier: (a, b) => compare(a.id, b.id),
  title: (a, b) => a.title.localeCompare(b.title, 'en'),
  displayorder: (a, b) => a.display_order - b.display_order,
};

/** Selects definitions with one of the tags, sorted as requested or by identifier. @throws {HttpError} 400 */
function listedDefinitions(
  all: readonly WorkflowDefinition[],
  { filter = '', sort }: z.infer<typeof DefinitionListQuery>,
): WorkflowDefinition[] {
  const tags = tagsOf(filter);
  const comparisons = [...parseSort(sort), { name: 'identifier', descending: false }].map(({ name, descending }) => {
    const comparison = Object.hasOwn(COMPARE, name) ? COMPARE[name] : undefined;
    if (!comparison) throw UNKNOWN_CRITERION(name.slice(0, MAX_SHOWN));
    return (a: WorkflowDefinition, b: WorkflowDefinition) => (descending ? comparison(b, a) : comparison(a, b));
  });
  return all
    .filter((definition) => tags.length === 0 || tags.some((tag) => definition.tags.includes(tag)))
    .sort((a, b) => comparisons.map((comparison) => comparison(a, b)).find((order) => order !== 0) ?? 0);
}

function tagsOf(filter: string): string[] {
  return parseFilters([filter], { colons: true })
    .flat()
    .map(({ name, value }) => {
      if (name !== 'tag') throw UNKNOWN_FILTER(name.slice(0, MAX_SHOWN));
      return value;
    });
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

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

export const listDefinitions = defineEndpoint({
  method: 'get',
  path: PATH,
  since: '1.1.0',
  access: apiRole('WORKFLOW_DEFINITION_VIEW'),
  summary: 'List workflow definitions',
  description: 'Sorted by identifier unless `sort` is given.',
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

/** The workflow definitions in the format for capture agents. */
export const definitionsForAgents = defineEndpoint({
  method: 'get',
  path: '/workflow/definitions.json',
  operationId: 'getWorkflowDefinitionsForAgents',
  access: ['ROLE_CAPTURE_AGENT', 'ROLE_STUDIO', 'ROLE_API_WORKFLOW_DEFINITION_VIEW', 'ROLE_API_EVENTS_CREATE'],
  summary: 'List workflow definitions for capture agents',
  description: 'Workflows for recordings have the tag `schedule`.',
  answers: {
    200: {
      description: 'All definitions, always as a list.',
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
    c.json({ definitions: { definition: definitions.all().map(agentDefinitionJson) } }),
});

function agentDefinitionJson({ id, title, description, tags, display_order }: WorkflowDefinition) {
  return { id, title, description, displayOrder: display_order, tags: { tag: tags } };
}
