import { z } from 'zod';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import type { Database } from '#platform/database/kysely.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { NO_WHOLE_NUMBER, PAGE } from '#platform/http/endpoint/query.schemas.ts';
import { pathParameter } from '#platform/http/endpoint/schemas.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { foundWebhook, missingWebhook, numberIn, WEBHOOK_PARAMS } from './lookup.ts';
import { deliveriesOf, retryDelivery } from './queries.ts';
import { tryOut } from './try-out.ts';
import { DELIVERY, DELIVERY_MISSING, DELIVERY_STATES, DeliveryShape, WEBHOOK_MISSING } from './webhook.schemas.ts';

const DEFAULT_LIMIT = 100;

const UNKNOWN_DELIVERIES = refusal(
  400,
  (filter: string) =>
    `The parameter 'filter' is ${JSON.stringify(filter)}; allowed are ${DELIVERY_STATES.map((state) => `state:${state}`).join(', ')}.`,
  ['state:lost'],
);

interface Services {
  database: Database;
}

export const testWebhook = defineEndpoint({
  method: 'post',
  path: '/api/webhooks/{webhook_id}/test',
  access: ADMINISTRATORS,
  summary: 'Try a webhook',
  description:
    'An addition of Inlet. Sends a message of the kind `webhook.test` once, and answers with what came of it.',
  params: WEBHOOK_PARAMS,
  answers: {
    200: {
      description: 'What came of it; still `pending` when no worker runs.',
      body: DeliveryShape,
      example: {
        ...DELIVERY,
        kind: 'webhook.test',
        state: 'delivered',
        attempts: 1,
        status: 200,
        error: undefined,
      },
    },
  },
  refusals: [WEBHOOK_MISSING],
  handle: async ({ c, params }, { database }: Services) => {
    const tried = await tryOut(database, numberIn(params.webhook_id));
    if (!tried) throw missingWebhook(params.webhook_id);
    return versionedJson(c, tried);
  },
});

export const listDeliveries = defineEndpoint({
  method: 'get',
  path: '/api/webhooks/{webhook_id}/deliveries',
  access: ADMINISTRATORS,
  summary: 'List deliveries',
  description: `An addition of Inlet. Messages for a webhook, the latest first; ${DEFAULT_LIMIT} unless \`limit\` says otherwise.`,
  params: WEBHOOK_PARAMS,
  query: z.object({
    filter: z.string().optional().meta({ description: 'The state of those that are wanted.', example: 'state:parked' }),
    ...PAGE,
  }),
  answers: { 200: { description: 'The deliveries.', body: z.array(DeliveryShape), example: [DELIVERY] } },
  refusals: [WEBHOOK_MISSING, UNKNOWN_DELIVERIES, NO_WHOLE_NUMBER],
  handle: async ({ c, params, query }, { database }: Services) => {
    const { filter = '', limit = DEFAULT_LIMIT, offset = 0 } = query();
    const state = DELIVERY_STATES.find((each) => filter === `state:${each}`);
    if (filter !== '' && !state) throw UNKNOWN_DELIVERIES(filter.slice(0, 100));
    const { identifier } = await foundWebhook(database, params.webhook_id);
    const page = { limit: Math.min(limit, 1000), offset: Math.min(offset, 1_000_000) };
    return versionedJson(c, await deliveriesOf(database, identifier, { ...page, ...(state && { state }) }));
  },
});

export const retryParked = defineEndpoint({
  method: 'post',
  path: '/api/webhooks/{webhook_id}/deliveries/{delivery_id}',
  access: ADMINISTRATORS,
  summary: 'Send a parked message again',
  description: 'An addition of Inlet. It is tried for three days more.',
  params: { ...WEBHOOK_PARAMS, delivery_id: pathParameter('Number of the delivery.', '4711') },
  form: { schema: z.object({ state: z.literal('retry') }), example: { state: 'retry' } },
  answers: { 204: { description: 'It is on its way.' } },
  refusals: [DELIVERY_MISSING],
  handle: async ({ c, params, form }, { database }: Services) => {
    await form();
    const ids = [params.webhook_id, params.delivery_id].map(numberIn) as [number, number];
    if (!(await retryDelivery(database, ...ids))) throw DELIVERY_MISSING(params.delivery_id.slice(0, 100));
    return c.body(null, 204);
  },
});
