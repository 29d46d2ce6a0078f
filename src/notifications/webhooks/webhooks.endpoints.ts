import { z } from 'zod';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import { CHANGE_FILTER_HELP } from '#changes/change.ts';
import type { Config } from '#platform/config/config.ts';
import type { Database } from '#platform/database/kysely.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { createdHeaders, EXAMPLE_URL } from '#platform/http/endpoint/endpoint-schemas.ts';
import { UNKNOWN_FILTER } from '#platform/http/list/index.ts';
import {
  checkedFilter,
  checkedSecret,
  checkedUrl,
  INVALID_FILTER,
  INVALID_SECRET,
  INVALID_URL,
  TOO_MANY_WEBHOOKS,
  WEBHOOK,
  WEBHOOK_MISSING,
  WebhookShape,
} from './webhook.schemas.ts';
import { newSecret } from './webhook-message.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  missingWebhook,
  parseId,
  readWebhooks,
  requireWebhook,
  WEBHOOK_PARAMS,
} from './webhooks.queries.ts';

const EDITABLE = {
  url: z.string().optional().describe('The URL that receives messages.'),
  secret: z
    .string()
    .optional()
    .describe(
      'The key that signs messages: `whsec_` and 24 to 64 bytes in base64. Generated if omitted for a new webhook.',
    ),
  filter: z.string().optional().describe(`The changes to send; empty for all. ${CHANGE_FILTER_HELP}`),
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
  description: 'An extension of Inlet. All webhooks by number.',
  answers: { 200: { description: 'The webhooks.', body: z.array(WebhookShape), example: [WEBHOOK] } },
  handle: async ({ c }, { database }: Services) => versionedJson(c, await readWebhooks(database)),
});

export const newWebhook = defineEndpoint({
  method: 'post',
  path: '/api/webhooks',
  access: ADMINISTRATORS,
  summary: 'Add a webhook',
  description:
    'An extension of Inlet. Changes from now on are sent to the URL, signed as in Standard Webhooks: at least once with the same `webhook-id`, in order for each event, and retried for three days.',
  form: {
    schema: z.object(EDITABLE),
    example: { url: 'https://lms.example.org/hooks/recordings', filter: WEBHOOK.filter },
  },
  answers: {
    201: {
      description: 'The new webhook. A generated secret is shown only here.',
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
    const [webhook] = await readWebhooks(database, id);
    const Location = `${config.publicUrl}/api/webhooks/${id}`;
    const headers = { Location, 'Cache-Control': 'no-store' };
    return versionedJson(c, { ...webhook, ...(!given && { secret }) }, 201, headers);
  },
});

export const readWebhook = defineEndpoint({
  method: 'get',
  path: '/api/webhooks/{webhook_id}',
  access: ADMINISTRATORS,
  summary: 'Read a webhook',
  description: 'An extension of Inlet.',
  params: WEBHOOK_PARAMS,
  answers: { 200: { description: 'The webhook.', body: WebhookShape, example: WEBHOOK } },
  refusals: [WEBHOOK_MISSING],
  handle: async ({ c, params }, { database }: Services) =>
    versionedJson(c, await requireWebhook(database, params.webhook_id)),
});

export const putWebhook = defineEndpoint({
  method: 'put',
  path: '/api/webhooks/{webhook_id}',
  access: ADMINISTRATORS,
  summary: 'Change a webhook',
  description: 'An extension of Inlet. Omitted fields stay unchanged. Changes during inactivity are not sent.',
  params: WEBHOOK_PARAMS,
  form: {
    schema: z.object({
      ...EDITABLE,
      active: z.enum(['true', 'false']).optional().describe('If `false`, the webhook receives no messages.'),
    }),
    example: { active: 'false' },
  },
  answers: {
    200: { description: 'The changed webhook.', body: WebhookShape, example: { ...WEBHOOK, active: false } },
  },
  refusals: [WEBHOOK_MISSING, INVALID_URL, INVALID_SECRET, INVALID_FILTER, UNKNOWN_FILTER],
  handle: async ({ c, params, form }, { config, database }: Services) => {
    const { identifier } = await requireWebhook(database, params.webhook_id);
    const { url, secret, filter, active } = await form();
    await changeWebhook(database, identifier, {
      ...(url !== undefined && { url: checkedUrl(url, config.webhookHosts) }),
      ...(secret !== undefined && { secret: checkedSecret(secret) }),
      ...(filter !== undefined && { filter: checkedFilter(filter) }),
      ...(active !== undefined && { active: active === 'true' }),
    });
    return versionedJson(c, await requireWebhook(database, params.webhook_id));
  },
});

export const removeWebhook = defineEndpoint({
  method: 'delete',
  path: '/api/webhooks/{webhook_id}',
  access: ADMINISTRATORS,
  summary: 'Delete a webhook',
  description: 'An extension of Inlet. Waiting messages are deleted, too.',
  params: WEBHOOK_PARAMS,
  answers: { 204: { description: 'The webhook is deleted.' } },
  refusals: [WEBHOOK_MISSING],
  handle: async ({ c, params }, { database }: Services) => {
    if (!(await deleteWebhook(database, parseId(params.webhook_id)))) throw missingWebhook(params.webhook_id);
    return c.body(null, 204);
  },
});
