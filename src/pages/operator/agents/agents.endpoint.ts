import type { Context } from 'hono';
import { html } from 'hono/html';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import type { Html } from '#platform/http/answer/page.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { watchUrl } from '#publications/model.ts';
import type { PublicationAddresses } from '#publications/presentation.ts';
import { rootFrom } from '../../sign-in/sign-in-page.ts';
import { operatorPage } from '../frame/operator-page.ts';
import type { WatchAddress } from './agent-plan.ts';
import { agentPage, allPage } from './agents-pages.ts';
import { AgentsQuery, type AgentsServices, addressOf, REFRESH } from './agents-query.ts';
import { STYLE } from './agents-style.ts';

/** Where operators see what the capture agents do, what went wrong, and what they have to record. */
export const operatorAgents = defineEndpoint({
  method: 'get',
  path: '/admin/agents',
  access: ADMINISTRATORS,
  query: AgentsQuery,
  handle: async ({ c, query }, services: AgentsServices) => {
    const asked = query();
    const setting = { now: new Date(), watchAddress: watchAddressFrom(c, services.addresses) };
    const { agent } = asked;
    const { title, content, style } =
      agent === undefined
        ? await allPage(services, asked, setting)
        : await agentPage(services, { ...asked, agent }, setting);
    const whole = html`${content}
<footer><nav aria-label="Further pages">${agent === undefined ? '' : html`<a href="${addressOf({})}">All capture agents</a>`}${refreshLink(c)}</nav></footer>`;
    return operatorPage(c, {
      title: html`<bdi>${title}</bdi>`,
      name: title,
      content: whole,
      style: STYLE + style,
      current: agent === undefined ? 'admin/agents' : undefined,
      refresh: asked.refresh,
    });
  },
});

/** A page that loads itself anew disturbs whoever reads it with a screen reader or types: it does so when it is asked to. */
function refreshLink(c: Context): Html {
  const { refresh, ...others } = c.req.query();
  return refresh === undefined
    ? html`<a href="${addressOf({ ...others, refresh: REFRESH })}">Refresh this page every ${REFRESH} seconds</a>`
    : html`<a href="${addressOf(others)}">Stop to refresh this page every ${REFRESH} seconds</a>`;
}

/** Relative, so that it works under whatever name and path a proxy shows the page; signed where Inlet signs. */
function watchAddressFrom(c: Context, { publicUrl, signer }: PublicationAddresses): WatchAddress {
  const root = rootFrom(c);
  const validUntil = signer?.defaultEnd() ?? 0;
  return (publicationId) => {
    const address = watchUrl(publicUrl, publicationId);
    const shown = signer ? signer.sign(address, { validUntil }) : address;
    return root + shown.slice(publicUrl.length + 1);
  };
}
