import { z } from 'zod';
import { flag, PAGE } from '#platform/http/endpoint/query.schemas.ts';
import { TextByName } from '#platform/http/endpoint/schemas.ts';
import { refusal } from '#platform/http/errors/refusal.ts';

export const UNKNOWN_CRITERION = refusal(400, (name: string) => `Unknown search criterion in request: ${name}`, [
  'colour',
]);

/** Optional parts of a workflow definition. */
export const DefinitionQuery = z.object({
  withoperations: flag('Include its operations.'),
  withconfigurationpanel: flag('Include its configuration panel as HTML.'),
  withconfigurationpaneljson: flag('Include its configuration panel as JSON.'),
});
export type DefinitionQuery = z.infer<typeof DefinitionQuery>;

export const DefinitionListQuery = z.object({
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
export const DefinitionShape = z
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
export type DefinitionJson = z.infer<typeof DefinitionShape>;
