import type { Context } from 'hono';
import { z } from 'zod';
import { requireAccess } from '#access/acl/acl.queries.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { EVENT_ID } from '#catalogue/events/event-examples.ts';
import { EVENT_MISSING } from '#catalogue/events/event-refusals.ts';
import { CHANGE_FILTER_HELP, parseChangeFilter } from '#changes/change.ts';
import type { Database } from '#platform/database/kysely.ts';
import { EVENT_STREAM, STREAM_HEADERS } from '#platform/http/answer/event-stream.ts';
import { type Answer, defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { pathParameter } from '#platform/http/endpoint/endpoint-schemas.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { UNKNOWN_FILTER } from '#platform/http/list/index.ts';
import { TOO_MANY_STREAMS, type UpdateRequest, type UpdateStreams } from './update-streams.ts';

/** Returns the processing state of an event as the first message; undefined without a workflow. */
async function processingNow(
  database: Database,
  eventId: string,
): Promise<{ kind: 'workflow.state'; data: object } | undefined> {
  const workflow = await database
    .selectFrom('workflows as w')
    .leftJoin('workflow_operations as o', (join) =>
      join
        .onRef('o.workflow_id', '=', 'w.id')
        .on('o.parent_id', 'is', null)
        .on('o.state', 'in', ['ready', 'running', 'divided', 'paused', 'failed']),
    )
    .select(['w.id', 'w.definition', 'w.state', 'w.reason', 'o.operation', 'o.progress'])
    .where('w.event_id', '=', eventId)
    .orderBy('w.id', 'desc')
    .orderBy('o.position', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!workflow) return undefined;
  const { id, definition, state, reason, operation, progress } = workflow;
  const step = { ...(operation !== null && { operation, progress }), ...(reason !== null && { reason }) };
  const data = { event: eventId, workflow: id, state, definition, ...step, at: new Date().toISOString() };
  return { kind: 'workflow.state', data };
}

const MOST_DIGITS = 15;

const INVALID_CURSOR = refusal(
  400,
  (text: string) =>
    `The header 'Last-Event-ID' is ${JSON.stringify(text)}; it must be the id of a message, or 0 for the beginning.`,
  ['yesterday'],
);

const HEADER =
  'A client that reconnects with `Last-Event-ID`, as browsers do, receives everything it missed; `0` is the beginning of the log.';

const stream: Answer = {
  description: 'Server-Sent Events until the client disconnects.',
  mediaType: EVENT_STREAM,
  body: z.string(),
  example: `id: 4711\nevent: operation.progress\ndata: {"event":"${EVENT_ID}","workflow":42,"state":"RUNNING","operation":"encode","progress":0.45,"at":"2026-11-23T08:15:00.000Z"}\n\n`,
};

interface Services {
  database: Database;
  streams: UpdateStreams;
}

export const eventUpdates = defineEndpoint({
  method: 'get',
  path: '/api/events/{event_id}/updates',
  access: apiRole('EVENTS_VIEW'),
  produces: 'text/event-stream',
  summary: 'Follow an event',
  description: `An extension of Inlet: states, operations and progress as they change. Without \`Last-Event-ID\`, the first message has the current processing state. ${HEADER}`,
  params: { event_id: pathParameter('Identifier of the event.', EVENT_ID) },
  answers: { 200: stream },
  refusals: [EVENT_MISSING, INVALID_CURSOR, TOO_MANY_STREAMS],
  handle: async ({ c, params }, { database, streams }: Services) => {
    const eventId = params.event_id;
    const { principal } = c.var;
    await requireAccess(database, 'events', principal, eventId, 'read', EVENT_MISSING);
    const known = cursorOf(c);
    await streams.start();
    const after = await streams.begin(known);
    const first = known === undefined ? await processingNow(database, eventId) : undefined;
    return answer(c, streams, { principal, eventId, after, first, wants: () => true });
  },
});

export const allUpdates = defineEndpoint({
  method: 'get',
  path: '/api/updates',
  access: apiRole('EVENTS_VIEW'),
  produces: 'text/event-stream',
  summary: 'Follow everything',
  description: `An extension of Inlet: changes of all events, series, playlists and capture agents that the account may read. ${HEADER}`,
  query: z.object({
    filter: z
      .string()
      .optional()
      .meta({
        description: `${CHANGE_FILTER_HELP} \`kind\` is the kind of the message, or its first word.`,
        example: 'kind:workflow.state,state:FAILED',
      }),
  }),
  answers: { 200: stream },
  refusals: [UNKNOWN_FILTER, INVALID_CURSOR, TOO_MANY_STREAMS],
  handle: async ({ c, query }, { streams }: Services) => {
    const wants = parseChangeFilter(query().filter ?? '');
    const known = cursorOf(c);
    await streams.start();
    const after = await streams.begin(known);
    return answer(c, streams, { principal: c.var.principal, after, wants });
  },
});

function cursorOf(c: Context): number | undefined {
  const text = c.req.header('Last-Event-ID')?.trim();
  if (!text) return undefined;
  if (/^\d+$/.test(text) && text.length <= MOST_DIGITS) return Number(text);
  throw INVALID_CURSOR(text.slice(0, 100));
}

function answer(c: Context, streams: UpdateStreams, request: UpdateRequest): Response {
  if (c.req.method === 'HEAD') return c.body(null, 200, STREAM_HEADERS);
  return c.body(streams.open(request), 200, STREAM_HEADERS);
}
