import { z } from 'zod';
import { IdempotencyKey } from '../idempotency/key.ts';
import { AGENT_ID, BASE_URL, EVENT_ID, PUBLICATION_ID, SERIES_ID, TRACK_ID } from './examples.ts';

/** What may stand in a path between braces. */
const IN_PATHS: Readonly<Record<string, z.ZodString>> = {
  event_id: text('Identifier of the event.', EVENT_ID),
  series_id: text('Identifier of the series.', SERIES_ID),
  publication_id: text('Identifier of the publication.', PUBLICATION_ID),
  track_id: text('Identifier of the track.', TRACK_ID),
  agent_id: text('Name of the capture agent.', AGENT_ID),
  workflow_id: text('Number of the workflow.', '42').meta({ override: { type: 'integer' } }),
  action: text('What the entry allows.', 'read'),
  role: text('The role that may do it.', 'ROLE_STUDENT'),
  name: text('Name of the list provider.', 'LANGUAGES'),
};

/** The parameters of a path, or undefined when it has none. */
export function pathParameters(path: string): z.ZodObject | undefined {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  if (names.length === 0) return undefined;
  return z.object(
    Object.fromEntries(
      names.map((name) => {
        const schema = IN_PATHS[name];
        if (!schema) throw new Error(`The path ${path} has a parameter that is not described: ${name}.`);
        return [name, schema];
      }),
    ),
  );
}

/** The headers of an answer that may be asked for again. */
export const TAGGED_HEADERS = z.object({
  ETag: z.string().meta({ description: 'For `If-None-Match`.', example: '"4kYtT8Dq"' }),
});

/** The headers of an answer to what has been created. */
export const CREATED_HEADERS = z.object({
  Location: z.url().meta({ description: 'Where it is.', example: `${BASE_URL}/api/events/${EVENT_ID}` }),
});

/** The header under which an answer can be asked for again. */
export const IDEMPOTENCY_KEY = z.object({
  'Idempotency-Key': IdempotencyKey.optional().meta({
    description:
      'A key of your choice. The same key and request within 24 hours get the first answer again, and nothing is created twice.',
    example: 'c0a8012e-import-17',
  }),
});

function text(description: string, example: string) {
  return z.string().meta({ description, example });
}
