import { z } from 'zod';
import { ADMINISTRATORS } from '../access/roles/api-roles.ts';
import { parseChangeFilter } from '../changes/filter.ts';
import type { Config } from '../config.ts';
import type { Database } from '../database/kysely.ts';
import { defineEndpoint } from '../http/endpoint/endpoint.ts';
import { NO_WHOLE_NUMBER, PAGE } from '../http/endpoint/query.schemas.ts';
import { refusal } from '../http/endpoint/refusal.ts';
import { createdHeaders, EXAMPLE_URL, pathParameter } from '../http/endpoint/schemas.ts';
import { UNKNOWN_FILTER } from '../http/list/index.ts';
import { versionedJson } from '../http/version.ts';
import { newSecret } from './message.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  deliveriesOf,
  retryDelivery,
  webhooks,
} from './queries.ts';
import { tryOut } from './try-out.ts';
import {
  checkedSecret,
  checkedUrl,
  DELIVERY,
  DELIVERY_MISSING,
  DELIVERY_STATES,
  DeliveryShape,
  FILTER_HELP,
  INVALID_SECRET,
  INVALID_URL,
  WEBHOOK,
  WEBHOOK_MISSING,
  WebhookShape,
} from './webhook.schemas.ts';

const DEFAULT_LIMIT = 100;
const params = { webhook_id: pathParameter('Number of the webhook.', '7') };
const EDITABLE = {
  url: z.string().optional().describe('Where messages are sent to.'),
  secret: z
    .string()
    .optional()
    .describe(
      'What they are signed with: `whsec_` and 24 to 64 bytes in base64. Made up when left out at first.',
    ),
  filter: z.string().optional().describe(FILTER_HELP),
};

const UNKNOWN_DELIVERIES = refusal(
  400,
  (filter: string) =>
    `The parameter 'filter' is ${JSON.stringify(filter)}; allowed are ${DELIVERY_STATES.map((state) => `state:${state}`).join(', ')}.`,
  ['state:lost'],
);

interface Services {
  config: Pick<Config, 'publicUrl' | 'webhookHosts'>;
  database: Database;
}

export const listWebhooks = defineEndpoint({
  method: 'get',
  path: '/api/webhooks',
  access: ADMINISTRATORS,
  summary: 'List webhooks',
  description: 'An addition of Inlet. All of them, by their numbers.',
  answers: { 200: { description: 'The webhooks.', body: z.array(WebhookShape), example: [WEBHOOK] } },
  handle: async ({ c }, { database }: Services) => versionedJson(c, await webhooks(database)),
});

export const newWebhook = defineEndpoint({
  method: 'post',
  path: '/api/webhooks',
  access: ADMINISTRATORS,
  summary: 'Add a webhook',
  description:
    'An addition of Inlet. From now on what happens is told at the address, signed by the scheme of Standard Webhooks: at least once under the same `webhook-id`, in order for each event, and for three days.',
  form: {
    schema: z.object(EDITABLE),
    example: { url: 'https://lms.example.org/hooks/recordings', filter: WEBHOOK.filter },
  },
  answers: {
    201: {
      description: 'It has been added. A secret that was made up is shown this once.',
      body: WebhookShape,
      example: { ...WEBHOOK, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
      headers: createdHeaders(`${EXAMPLE_URL}/api/webhooks/7`),
    },
  },
  refusals: [INVALID_URL, INVALID_SECRET, UNKNOWN_FILTER],
  handle: async ({ c, fields }, { config, database }: Services) => {
    const form = await fields();
    const url = checkedUrl(form.get('url') ?? '', config.webhookHosts);
    const given = form.get('secret')?.trim();
    const secret = given ? checkedSecret(given) : newSecret();
    const filter = checkedFilter(form.get('filter') ?? '');
    const by = c.var.principal.username;
    const id = await createWebhook(database, { url, secret, filter, by });
    const [webhook] = await webhooks(database, id);
    const Location = `${config.publicUrl}/api/webhooks/${id}`;
    return versionedJson(c, { ...webhook, ...(!given && { secret }) }, 201, { Location });
  },
});

export const readWebhook = defineEndpoint({
  method: 'get',
  path: '/api/webhooks/{webhook_id}',
  access: ADMINISTRATORS,
  summary: 'Read a webhook',
  description: 'An addition of Inlet.',
  params,
  answers: { 200: { description: 'The webhook.', body: WebhookShape, example: WEBHOOK } },
  refusals: [WEBHOOK_MISSING],
  handle: async ({ c, params }, { database }: Services) =>
    versionedJson(c, await found(database, params.webhook_id)),
});

export const putWebhook = defineEndpoint({
  method: 'put',
  path: '/api/webhooks/{webhook_id}',
  access: ADMINISTRATORS,
  summary: 'Change a webhook',
  description:
    'An addition of Inlet. What is not given stays. While it is not active, nothing is told or kept for it.',
  params,
  form: {
    schema: z.object({
      ...EDITABLE,
      active: z.enum(['true', 'false']).optional().describe('Whether it is told anything.'),
    }),
    example: { active: 'false' },
  },
  answers: {
    200: {
      description: 'The webhook as it is now.',
      body: WebhookShape,
      example: { ...WEBHOOK, active: false },
    },
  },
  refusals: [WEBHOOK_MISSING, INVALID_URL, INVALID_SECRET, UNKNOWN_FILTER],
  handle: async ({ c, params, form }, { config, database }: Services) => {
    const { identifier } = await found(database, params.webhook_id);
    const { url, secret, filter, active } = await form();
    await changeWebhook(database, identifier, {
      ...(url !== undefined && { url: checkedUrl(url, config.webhookHosts) }),
      ...(secret !== undefined && { secret: checkedSecret(secret) }),
      ...(filter !== undefined && { filter: checkedFilter(filter) }),
      ...(active !== undefined && { active: active === 'true' }),
    });
    return versionedJson(c, await found(database, params.webhook_id));
  },
});

export const removeWebhook = defineEndpoint({
  method: 'delete',
  path: '/api/webhooks/{webhook_id}',
  access: ADMINISTRATORS,
  summary: 'Delete a webhook',
  description: 'An addition of Inlet. Messages that wait for it go as well.',
  params,
  answers: { 204: { description: 'It is gone.' } },
  refusals: [WEBHOOK_MISSING],
  handle: async ({ c, params }, { database }: Services) => {
    if (!(await deleteWebhook(database, numberOf(params.webhook_id)))) throw missing(params.webhook_id);
    return c.body(null, 204);
  },
});

export const testWebhook = defineEndpoint({
  method: 'post',
  path: '/api/webhooks/{webhook_id}/test',
  access: ADMINISTRATORS,
  summary: 'Try a webhook',
  description:
    'An addition of Inlet. Sends a message of the kind `webhook.test` once, and answers with what came of it.',
  params,
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
    const { identifier } = await found(database, params.webhook_id);
    return versionedJson(c, await tryOut(database, identifier));
  },
});

export const listDeliveries = defineEndpoint({
  method: 'get',
  path: '/api/webhooks/{webhook_id}/deliveries',
  access: ADMINISTRATORS,
  summary: 'List deliveries',
  description: `An addition of Inlet. Messages for a webhook, the latest first; ${DEFAULT_LIMIT} unless \`limit\` says otherwise.`,
  params,
  query: z.object({
    filter: z
      .string()
      .optional()
      .meta({ description: 'The state of those that are wanted.', example: 'state:parked' }),
    ...PAGE,
  }),
  answers: { 200: { description: 'The deliveries.', body: z.array(DeliveryShape), example: [DELIVERY] } },
  refusals: [WEBHOOK_MISSING, UNKNOWN_DELIVERIES, NO_WHOLE_NUMBER],
  handle: async ({ c, params, query }, { database }: Services) => {
    const { filter = '', limit = DEFAULT_LIMIT, offset = 0 } = query();
    const state = DELIVERY_STATES.find((each) => filter === `state:${each}`);
    if (filter !== '' && !state) throw UNKNOWN_DELIVERIES(filter.slice(0, 100));
    const { identifier } = await found(database, params.webhook_id);
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
  params: { ...params, delivery_id: pathParameter('Number of the delivery.', '4711') },
  form: { schema: z.object({ state: z.literal('retry') }), example: { state: 'retry' } },
  answers: { 204: { description: 'It is on its way.' } },
  refusals: [DELIVERY_MISSING],
  handle: async ({ c, params, form }, { database }: Services) => {
    await form();
    const ids = [params.webhook_id, params.delivery_id].map(numberOf) as [number, number];
    if (!(await retryDelivery(database, ...ids))) throw DELIVERY_MISSING(params.delivery_id.slice(0, 100));
    return c.body(null, 204);
  },
});

async function found(database: Database, id: string) {
  const [webhook] = await webhooks(database, numberOf(id));
  if (!webhook) throw missing(id);
  return webhook;
}

const missing = (id: string) => WEBHOOK_MISSING(id.slice(0, 100));

/** What is no number is that of nothing. */
function numberOf(text: string): number {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0;
}

/** @throws {HttpError} 400 */
function checkedFilter(text: string): string {
  parseChangeFilter(text);
  return text.trim();
}
