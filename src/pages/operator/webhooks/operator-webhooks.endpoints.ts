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
import {
  checkedFilter,
  checkedUrl,
  type DeliveryJson,
  type WebhookJson,
} from '#notifications/webhooks/webhook.schemas.ts';
import type { Config } from '#platform/config/config.ts';
import type { Database } from '#platform/database/kysely.ts';
import type { Html } from '#platform/http/answer/page.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { notFound } from '#platform/http/errors/errors.ts';
import { rootFrom } from '../../sign-in/sign-in-page.ts';
import { doneAt, noticeOf, operatorPage } from '../frame/operator-page.ts';
import { ROWS_STYLE } from '../frame/operator-style.ts';

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

/** Shows operators the webhooks and the messages that could not be delivered. */
export const operatorWebhooks = defineEndpoint({
  method: 'get',
  path: '/admin/webhooks',
  access: ADMINISTRATORS,
  handle: async ({ c }, { database }: Services) => {
    const all = await webhooks(database);
    const parked = await Promise.all(
      all.map(({ identifier, parked }) =>
        parked > 0 ? deliveriesOf(database, identifier, { state: 'parked', limit: MOST_PARKED, offset: 0 }) : [],
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

/** A webhook with the messages that were given up. */
interface ShownWebhook extends WebhookJson {
  given: readonly DeliveryJson[];
}

/** The webhooks, and the form that adds one. @param root where the server's paths begin */
function webhooksContent(webhooks: readonly ShownWebhook[], root: string): Html {
  return html`<p class="faint">Programs that are told of what happens, signed and at least once.</p>
${webhooks.map((webhook) => webhookHtml(webhook, root))}
<section aria-labelledby="add"><h2 id="add">Add a webhook</h2>
<form class="sheet" method="post" action="${root}admin/webhooks">
<label>Address<input name="url" type="url" required maxlength="2048" placeholder="https://lms.example.org/hook"></label>
<label>Filter, or nothing for everything<input name="filter" placeholder="kind:workflow.state,state:SUCCEEDED"></label>
<button>Add</button></form></section>`;
}

function webhookHtml(webhook: ShownWebhook, root: string): Html {
  const { identifier, url, filter, active, pending, parked, failures, last_success, last_error, given } = webhook;
  const path = `${root}admin/webhooks/${identifier}`;
  const button = (action: string, name: string, kind: string) =>
    html`<form method="post" action="${path}"><input type="hidden" name="action" value="${action}"><button class="${kind}">${name}</button></form>`;
  return html`<section class="sheet" aria-labelledby="webhook-${identifier}">
<h2 id="webhook-${identifier}"><bdi>${url}</bdi></h2>
<p>${active ? '' : html`<strong>Not active.</strong> `}${filter === '' ? 'Is told of everything' : html`Is told of <code>${filter}</code>`}. ${pending} wait, ${parked} given up${last_success ? `, last told ${last_success.replace('T', ' ').replace('Z', ' UTC')}` : ''}.</p>
${failures > 0 ? html`<p class="alarm">${failures} attempts in a row have failed. ${last_error ?? ''}</p>` : ''}
<div class="actions">${button('test', 'Send a test', 'quiet')}${active ? button('pause', 'Pause', 'quiet') : button('resume', 'Resume', 'quiet')}<details class="confirm" id="delete-${identifier}"><summary>Delete …</summary>${button('delete', 'Delete it, and what waits for it', 'danger')}</details></div>
${given.length === 0 ? '' : parkedRows(given, path)}
</section>`;
}

function parkedRows(given: readonly DeliveryJson[], path: string): Html {
  return html`<h3>Given up</h3>
<ul class="rows">${given.map(
    ({
      identifier,
      message,
      kind,
      attempts,
      error,
    }) => html`<li><div>${kind} <span class="faint">${message}</span></div><div>${error ?? ''}</div><div class="faint">${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}</div>
<form method="post" action="${path}"><input type="hidden" name="action" value="send-again"><input type="hidden" name="delivery" value="${identifier}"><button class="quiet">Send again</button></form></li>`,
  )}</ul>`;
}
