import { z } from 'zod';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import type { Database } from '#platform/database/kysely.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { NO_WHOLE_NUMBER, PAGE, pathParameter } from '#platform/http/endpoint/endpoint-schemas.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { DELIVERY, DELIVERY_MISSING, DELIVERY_STATES, DeliveryShape, WEBHOOK_MISSING } from './webhook.schemas.ts';
import {
  deliveriesOf,
  missingWebhook,
  parseId,
  requireWebhook,
  retryDelivery,
  sendTestMessage,
  WEBHOOK_PARAMS,
} from './webhooks.queries.ts';

const DEFAULT_LIMIT = 100;

const UNKNOWN_DELIVERIES = refusal(
  400,
  (filter: string) =>
    `The parameter 'filter' is ${JSON.stringify(filter)}; allowed values: ${DELIVERY_STATES.map((state) => `state:${state}`).join(', ')}.`,
  ['state:lost'],
);

interface Services {
  database: Database;
}

export const testWebhook = defineEndpoint({
  method: 'post',
  path: '/api/webhooks/{webhook_id}/test',
  access: ADMINISTRATORS,
  summary: 'Test a webhook',
  description: 'An extension of Inlet. Sends a message of the kind `webhook.test` once and returns the result.',
  params: WEBHOOK_PARAMS,
  answers: {
    200: {
      description: 'The result; `pending` if no worker is running.',
      body: DeliveryShape,
      example: { ...DELIVERY, kind: 'webhook.test', state: 'delivered', attempts: 1, status: 200, error: undefined },
    },
  },
  refusals: [WEBHOOK_MISSING],
  handle: async ({ c, params }, { database }: Services) => {
    const tried = await sendTestMessage(database, parseId(params.webhook_id));
    if (!tried) throw missingWebhook(params.webhook_id);
    return versionedJson(c, tried);
  },
});

export const listDeliveries = defineEndpoint({
  method: 'get',
  path: '/api/webhooks/{webhook_id}/deliveries',
  access: ADMINISTRATORS,
  summary: 'List deliveries',
  description: `An extension of Inlet. Messages for a webhook, the latest first; ${DEFAULT_LIMIT} without \`limit\`.`,
  params: WEBHOOK_PARAMS,
  query: z.object({
    filter: z
      .string()
      .optional()
      .meta({ description: 'Returns deliveries in this state only.', example: 'state:parked' }),
    ...PAGE,
  }),
  answers: { 200: { description: 'The deliveries.', body: z.array(DeliveryShape), example: [DELIVERY] } },
  refusals: [WEBHOOK_MISSING, UNKNOWN_DELIVERIES, NO_WHOLE_NUMBER],
  handle: async ({ c, params, query }, { database }: Services) => {
    const { filter = '', limit = DEFAULT_LIMIT, offset = 0 } = query();
    const state = DELIVERY_STATES.find((each) => filter === `state:${each}`);
    if (filter !== '' && !state) throw UNKNOWN_DELIVERIES(filter.slice(0, 100));
    const { identifier } = await requireWebhook(database, params.webhook_id);
    const page = { limit: Math.min(limit, 1000), offset: Math.min(offset, 1_000_000) };
    return versionedJson(c, await deliveriesOf(database, identifier, { ...page, ...(state && { state }) }));
  },
});

export const retryParked = defineEndpoint({
  method: 'post',
  path: '/api/webhooks/{webhook_id}/deliveries/{delivery_id}',
  access: ADMINISTRATORS,
  summary: 'Send a parked message again',
  description: 'An extension of Inlet. The message is retried for three more days.',
  params: { ...WEBHOOK_PARAMS, delivery_id: pathParameter('Number of the delivery.', '4711') },
  form: { schema: z.object({ state: z.literal('retry') }), example: { state: 'retry' } },
  answers: { 204: { description: 'The message is queued.' } },
  refusals: [DELIVERY_MISSING],
  handle: async ({ c, params, form }, { database }: Services) => {
    await form();
    const ids = [params.webhook_id, params.delivery_id].map(parseId) as [number, number];
    if (!(await retryDelivery(database, ...ids))) throw DELIVERY_MISSING(params.delivery_id.slice(0, 100));
    return c.body(null, 204);
  },
});
