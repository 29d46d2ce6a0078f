import { html } from 'hono/html';
import { z } from 'zod';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import { numberIn } from '#notifications/webhooks/lookup.ts';
import { newSecret } from '#notifications/webhooks/message.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  deliveriesOf,
  retryDelivery,
  webhooks,
} from '#notifications/webhooks/queries.ts';
import { tryOut } from '#notifications/webhooks/try-out.ts';
import { checkedFilter, checkedUrl } from '#notifications/webhooks/webhook.schemas.ts';
import type { Config } from '#platform/config/config.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { notFound } from '#platform/http/errors/errors.ts';
import { rootFrom } from '../../sign-in/sign-in-page.ts';
import { doneAt, noticeOf, operatorPage } from '../frame/operator-page.ts';
import { ROWS_STYLE } from '../frame/style.ts';
import { webhooksContent } from './webhooks-page.ts';

const PATH = 'admin/webhooks';
/** Of each webhook; who wants more asks the API. */
const MOST_PARKED = 20;

const STYLE = `${ROWS_STYLE}
.sheet h3 { margin: 1rem 0 .5rem; }
.sheet label + label { margin-top: .6rem; }
`;

interface Services {
  config: Pick<Config, 'webhookHosts'>;
  database: Database;
}

/** Where operators see who is told of changes, and what could not be told. */
export const operatorWebhooks = defineEndpoint({
  method: 'get',
  path: '/admin/webhooks',
  access: ADMINISTRATORS,
  handle: async ({ c }, { database }: Services) => {
    const all = await webhooks(database);
    const parked = await Promise.all(
      all.map(({ identifier, parked }) =>
        parked > 0
          ? deliveriesOf(database, identifier, { state: 'parked', limit: MOST_PARKED, offset: 0 })
          : [],
      ),
    );
    return operatorPage(c, {
      title: 'Webhooks',
      content: webhooksContent(
        all.map((webhook, i) => ({ ...webhook, given: parked[i] ?? [] })),
        rootFrom(c),
      ),
      style: STYLE,
      current: PATH,
      notice: noticeOf(c),
    });
  },
});

/** Shows the secret in its answer, which no address leads to again. */
export const operatorAddWebhook = defineEndpoint({
  method: 'post',
  path: '/admin/webhooks',
  access: ADMINISTRATORS,
  form: {
    schema: z.object({ url: z.string(), filter: z.string().default('') }),
    example: { url: 'https://lms.example.org/hook' },
  },
  handle: async ({ c, form }, { config, database }: Services) => {
    const { url, filter } = await form();
    const secret = newSecret();
    const by = c.var.principal.username;
    await createWebhook(database, {
      url: checkedUrl(url, config.webhookHosts),
      filter: checkedFilter(filter),
      secret,
      by,
    });
    return operatorPage(c, {
      title: 'Webhook added',
      content: html`<p>Its messages are signed with this secret, which is shown this once:</p><pre tabindex="0">${secret}</pre><p><a href="${rootFrom(c)}${PATH}">All webhooks</a></p>`,
      current: PATH,
    });
  },
});

/** The buttons of a webhook. */
export const operatorChangeWebhook = defineEndpoint({
  method: 'post',
  path: '/admin/webhooks/{webhook_id}',
  access: ADMINISTRATORS,
  form: {
    schema: z.object({
      action: z.enum(['test', 'pause', 'resume', 'delete', 'send-again']),
      delivery: z.string().optional(),
    }),
    example: { action: 'test' },
  },
  handle: async ({ c, params, form }, { database }: Services) => {
    const { action, delivery } = await form();
    const id = numberIn(params.webhook_id);
    const [webhook] = await webhooks(database, id);
    if (!webhook) throw notFound();
    switch (action) {
      case 'test': {
        const tried = await tryOut(database, id);
        if (!tried) throw notFound();
        const { state, status, error } = tried;
        const outcome = state === 'delivered' ? `It answered with ${status}.` : error;
        return doneAt(c, PATH, outcome ?? 'No worker has tried it yet.');
      }
      case 'pause':
      case 'resume':
        await changeWebhook(database, id, { active: action === 'resume' });
        return doneAt(c, PATH, action === 'resume' ? 'It is told again.' : 'It is told nothing.');
      case 'delete':
        await deleteWebhook(database, id);
        return doneAt(c, PATH, 'It is deleted.');
      case 'send-again':
        if (!(await retryDelivery(database, id, numberIn(delivery)))) throw notFound();
        return doneAt(c, PATH, 'The message is sent again.');
    }
  },
});
