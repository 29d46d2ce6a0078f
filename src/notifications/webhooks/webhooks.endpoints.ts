import { z } from 'zod';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import type { Config } from '#platform/config/config.ts';
import type { Database } from '#platform/database/kysely.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { createdHeaders, EXAMPLE_URL } from '#platform/http/endpoint/schemas.ts';
import { UNKNOWN_FILTER } from '#platform/http/list/index.ts';
import { foundWebhook, missingWebhook, numberIn, WEBHOOK_PARAMS } from './lookup.ts';
import { newSecret } from './message.ts';
import { changeWebhook, createWebhook, deleteWebhook, webhooks } from './queries.ts';
import {
  checkedFilter,
  checkedSecret,
  checkedUrl,
  FILTER_HELP,
  INVALID_FILTER,
  INVALID_SECRET,
  INVALID_URL,
  TOO_MANY_WEBHOOKS,
  WEBHOOK,
  WEBHOOK_MISSING,
  WebhookShape,
} from './webhook.schemas.ts';

const EDITABLE = {
  url: z.string().optional().describe('Where messages are sent to.'),
  secret: z
    .string()
    .optional()
    .describe('What they are signed with: `whsec_` and 24 to 64 bytes in base64. Made up when left out at first.'),
  filter: z.string().optional().describe(FILTER_HELP),
};

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
  refusals: [INVALID_URL, INVALID_SECRET, INVALID_FILTER, UNKNOWN_FILTER, TOO_MANY_WEBHOOKS],
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
    return versionedJson(c, { ...webhook, ...(!given && { secret }) }, 201, {
      Location,
      'Cache-Control': 'no-store',
    });
  },
});

export const readWebhook = defineEndpoint({
  method: 'get',
  path: '/api/webhooks/{webhook_id}',
  access: ADMINISTRATORS,
  summary: 'Read a webhook',
  description: 'An addition of Inlet.',
  params: WEBHOOK_PARAMS,
  answers: { 200: { description: 'The webhook.', body: WebhookShape, example: WEBHOOK } },
  refusals: [WEBHOOK_MISSING],
  handle: async ({ c, params }, { database }: Services) =>
    versionedJson(c, await foundWebhook(database, params.webhook_id)),
});

export const putWebhook = defineEndpoint({
  method: 'put',
  path: '/api/webhooks/{webhook_id}',
  access: ADMINISTRATORS,
  summary: 'Change a webhook',
  description: 'An addition of Inlet. What is not given stays. While it is not active, nothing is told or kept for it.',
  params: WEBHOOK_PARAMS,
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
  refusals: [WEBHOOK_MISSING, INVALID_URL, INVALID_SECRET, INVALID_FILTER, UNKNOWN_FILTER],
  handle: async ({ c, params, form }, { config, database }: Services) => {
    const { identifier } = await foundWebhook(database, params.webhook_id);
    const { url, secret, filter, active } = await form();
    await changeWebhook(database, identifier, {
      ...(url !== undefined && { url: checkedUrl(url, config.webhookHosts) }),
      ...(secret !== undefined && { secret: checkedSecret(secret) }),
      ...(filter !== undefined && { filter: checkedFilter(filter) }),
      ...(active !== undefined && { active: active === 'true' }),
    });
    return versionedJson(c, await foundWebhook(database, params.webhook_id));
  },
});

export const removeWebhook = defineEndpoint({
  method: 'delete',
  path: '/api/webhooks/{webhook_id}',
  access: ADMINISTRATORS,
  summary: 'Delete a webhook',
  description: 'An addition of Inlet. Messages that wait for it go as well.',
  params: WEBHOOK_PARAMS,
  answers: { 204: { description: 'It is gone.' } },
  refusals: [WEBHOOK_MISSING],
  handle: async ({ c, params }, { database }: Services) => {
    if (!(await deleteWebhook(database, numberIn(params.webhook_id)))) throw missingWebhook(params.webhook_id);
    return c.body(null, 204);
  },
});
