import { html } from 'hono/html';
import { z } from 'zod';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import {
  checkedFilter,
  checkedUrl,
  type DeliveryJson,
  type WebhookJson,
} from '#notifications/webhooks/webhook.schemas.ts';
import { newSecret } from '#notifications/webhooks/webhook-message.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  deliveriesOf,
  parseId,
  readWebhooks,
  retryDelivery,
  sendTestMessage,
} from '#notifications/webhooks/webhooks.queries.ts';
import type { Config } from '#platform/config/config.ts';
import type { Database } from '#platform/database/kysely.ts';
import type { Html } from '#platform/http/answer/html-page.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { notFound } from '#platform/http/errors/errors.ts';
import { rootFrom } from '../../urls/relative-urls.ts';
import { operatorPage, redirectWithNotice } from '../frame/operator-page.ts';
import { ROWS_STYLE } from '../frame/operator-style.ts';

const PATH = 'admin/webhooks';
/** Of each webhook. The API lists all of them. */
const MOST_PARKED = 20;

const STYLE = `${ROWS_STYLE}
.sheet h3 { margin: 1rem 0 .5rem; }
.sheet label { display: block; }
.sheet label + label { margin-top: 1rem; }
`;

interface Services {
  config: Pick<Config, 'webhookHosts'>;
  database: Database;
}

/** Shows operators the webhooks and the messages that could not be delivered. */
export const operatorWebhooks = defineEndpoint({
  method: 'get',
  path: '/admin/webhooks',
  access: ADMINISTRATORS,
  handle: async ({ c }, { database }: Services) => {
    const root = rootFrom(c);
    const parked = { state: 'parked', limit: MOST_PARKED, offset: 0 } as const;
    const shown = (await readWebhooks(database)).map(async (webhook) =>
      webhookHtml(webhook, webhook.parked > 0 ? await deliveriesOf(database, webhook.identifier, parked) : [], root),
    );
    return operatorPage(c, {
      title: 'Webhooks',
      content: webhooksContent(await Promise.all(shown), root),
      style: STYLE,
      current: PATH,
    });
  },
});

/** Adds a webhook and shows its secret, which no later page does. */
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
      content: html`<p>Its messages are signed with this secret. The secret is shown only once:</p><pre tabindex="0">${secret}</pre><p><a href="${rootFrom(c)}${PATH}">All webhooks</a></p>`,
      current: PATH,
    });
  },
});

/** Tests, pauses, resumes or deletes a webhook, or sends a parked message again. */
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
    const id = parseId(params.webhook_id);
    const [webhook] = await readWebhooks(database, id);
    if (!webhook) throw notFound();
    switch (action) {
      case 'test': {
        const test = await sendTestMessage(database, id);
        if (!test) throw notFound();
        const { state, status, error } = test;
        const outcome = state === 'delivered' ? `The receiver answered ${status}.` : error;
        return redirectWithNotice(c, PATH, outcome ?? 'No worker has sent the test yet.');
      }
      case 'pause':
      case 'resume':
        await changeWebhook(database, id, { active: action === 'resume' });
        return redirectWithNotice(c, PATH, action === 'resume' ? 'The webhook is resumed.' : 'The webhook is paused.');
      case 'delete':
        await deleteWebhook(database, id);
        return redirectWithNotice(c, PATH, 'The webhook is deleted.');
      case 'send-again':
        if (!(await retryDelivery(database, id, parseId(delivery)))) throw notFound();
        return redirectWithNotice(c, PATH, 'The message is sent again.');
    }
  },
});

function webhooksContent(webhooks: readonly Html[], root: string): Html {
  return html`<p class="faint">Webhooks notify other programs of changes. Messages are signed and delivered at least once.</p>
${webhooks}
<section aria-labelledby="add"><h2 id="add">Add a webhook</h2>
<form class="sheet" method="post" action="${root}admin/webhooks">
<label>URL<input name="url" type="url" required maxlength="2048" placeholder="https://lms.example.org/hook"></label>
<label>Filter (empty: all changes)<input name="filter" placeholder="kind:workflow.state,state:SUCCEEDED"></label>
<button>Add</button></form></section>`;
}

function webhookHtml(webhook: WebhookJson, parkedMessages: readonly DeliveryJson[], root: string): Html {
  const { identifier, url, filter, active, pending, parked, failures, last_success, last_error } = webhook;
  const path = `${root}admin/webhooks/${identifier}`;
  const button = (action: string, name: string, kind: string) =>
    html`<form method="post" action="${path}"><input type="hidden" name="action" value="${action}"><button class="${kind}">${name}</button></form>`;
  return html`<section class="sheet" aria-labelledby="webhook-${identifier}">
<h2 id="webhook-${identifier}"><bdi>${url}</bdi></h2>
<p>${active ? '' : html`<strong>Paused.</strong> `}${filter === '' ? 'Receives all changes' : html`Receives <code>${filter}</code>`}. ${pending} pending, ${parked} parked${last_success ? `, last delivery ${last_success.replace('T', ' ').replace('Z', ' UTC')}` : ''}.</p>
${failures > 0 ? html`<p class="alarm">${failures === 1 ? 'The last attempt' : `The last ${failures} attempts`} failed. ${last_error ?? ''}</p>` : ''}
<div class="actions">${button('test', 'Send a test', 'quiet')}${active ? button('pause', 'Pause', 'quiet') : button('resume', 'Resume', 'quiet')}<details class="confirm" id="delete-${identifier}"><summary>Delete …</summary>${button('delete', 'Delete the webhook and its messages', 'danger')}</details></div>
${parkedMessages.length === 0 ? '' : parkedRows(parkedMessages, path)}
</section>`;
}

function parkedRows(messages: readonly DeliveryJson[], path: string): Html {
  return html`<h3>Parked messages</h3>
<ul class="rows">${messages.map((each) => parkedRow(each, path))}</ul>`;
}

function parkedRow({ identifier, message, kind, attempts, error }: DeliveryJson, path: string): Html {
  return html`<li><div>${kind} <span class="faint">${message}</span></div><div>${error ?? ''}</div><div class="faint">${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}</div>
<form method="post" action="${path}"><input type="hidden" name="action" value="send-again"><input type="hidden" name="delivery" value="${identifier}"><button class="quiet">Send again</button></form></li>`;
}
