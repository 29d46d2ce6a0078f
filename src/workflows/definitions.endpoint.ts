import { z } from 'zod';
import { defineEndpoint } from '../http/endpoint/endpoint.ts';
import type { WorkflowDefinition } from './definition.ts';
import type { WorkflowDefinitions } from './definitions.ts';

const Definition = z.looseObject({
  id: z.string(),
  title: z.string(),
  description: z.string(),
  tags: z.object({ tag: z.array(z.string()) }),
});

/** The workflows that recordings can go through, as agents ask for them. */
export const definitionsForAgents = defineEndpoint({
  method: 'get',
  path: '/workflow/definitions.json',
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
  handle: ({ c }, { definitions }: { definitions: WorkflowDefinitions }) =>
    c.json({ definitions: { definition: definitions.all().map(shown) } }),
});

function shown({ id, title, description, tags }: WorkflowDefinition) {
  return { id, title, description, displayOrder: 0, tags: { tag: tags } };
}
