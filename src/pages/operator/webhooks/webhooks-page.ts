import { html } from 'hono/html';
import type { DeliveryJson, WebhookJson } from '#notifications/webhooks/webhook.schemas.ts';
import type { Html } from '#platform/http/answer/page.ts';

/** A webhook with the messages that were given up. */
interface ShownWebhook extends WebhookJson {
  given: readonly DeliveryJson[];
}

/** Who is told of changes. @param root where the server's paths begin */
export function webhooksContent(webhooks: readonly ShownWebhook[], root: string): Html {
  return html`<p class="faint">Programs that are told of what happens, signed and at least once.</p>
${webhooks.map((webhook) => webhookHtml(webhook, root))}
<section aria-labelledby="add"><h2 id="add">Add a webhook</h2>
<form class="sheet" method="post" action="${root}admin/webhooks">
<label>Address<input name="url" type="url" required maxlength="2048" placeholder="https://lms.example.org/hook"></label>
<label>Filter, or nothing for everything<input name="filter" placeholder="kind:workflow.state,state:SUCCEEDED"></label>
<button>Add</button></form></section>`;
}

function webhookHtml(webhook: ShownWebhook, root: string): Html {
  const { identifier, url, filter, active, pending, parked, failures, last_success, last_error, given } =
    webhook;
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
