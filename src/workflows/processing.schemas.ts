import { z } from 'zod';

/** Which workflow to run on a new event, as it is sent. */
export const Processing = z
  .object({
    workflow: z.string().describe('Identifier of the workflow definition.'),
    configuration: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Values of its configuration keys, such as `straightToPublishing`.'),
  })
  .meta({ id: 'Processing' });
